#include "host/plugins/crash_note.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/sanitizers.hpp"
#include "host/base/fd.hpp"
#include "host/plugins/call_board.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace {

constexpr char kMagic[8] = {'S', 'L', 'D', 'I', 'E', 'D', '0', '1'};
constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

/// What the file holds. Fixed arrays: a signal handler fills them.
struct Note {
  char magic[8];
  std::uint32_t written;
  std::uint32_t reserved;
  char plugin[64];
  char sha256[72];
  char how[360];
};

struct Library {
  std::atomic<std::uintptr_t> begin{0};
  std::uintptr_t end = 0;
  char plugin[64] = {};
  char sha256[72] = {};
};

constinit Note no_file{};
constinit std::atomic<Note*> note{&no_file};
constinit std::array<Library, 256> libraries;
constinit std::atomic<std::size_t> library_count{0};
constinit std::atomic_flag dying = ATOMIC_FLAG_INIT;
constinit std::atomic<pid_t> noted_process{0};  ///< a plugin's own fork() is not the host

// ---- in the handler: no allocation, no lock

/// Appends, as far as there is room; always ends with a NUL.
template <std::size_t N>
class Fixed {
 public:
  explicit Fixed(char (&out)[N]) : out_(out) { out_[0] = '\0'; }
  Fixed& operator<<(std::string_view text) {
    const std::size_t count = std::min(text.size(), N - 1 - size_);
    std::memcpy(out_ + size_, text.data(), count);
    size_ += count;
    out_[size_] = '\0';
    return *this;
  }
  Fixed& operator<<(int number) {
    char digits[12];
    int n = 0;
    do digits[n++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0 && n < 12);
    while (n > 0) *this << std::string_view(&digits[--n], 1);
    return *this;
  }
  std::string_view text() const { return {out_, size_}; }

 private:
  char (&out_)[N];
  std::size_t size_ = 0;
};

const Library* library_at(std::uintptr_t address) {
  const std::size_t count = std::min(library_count.load(), libraries.size());
  for (std::size_t i = count; i-- > 0;)
    if (const std::uintptr_t begin = libraries[i].begin;
        begin != 0 && address >= begin && address < libraries[i].end)
      return &libraries[i];
  return nullptr;
}

const Library* library_of(std::string_view plugin) {
  const std::size_t count = std::min(library_count.load(), libraries.size());
  for (std::size_t i = count; i-- > 0;)
    if (libraries[i].begin != 0 && plugin == libraries[i].plugin) return &libraries[i];
  return nullptr;
}

/// The plugin whose code a thread that is not the host's runs, or is called from: the first address
/// on its stack that lies in a plugin's library. (A thread of the host has such words on its stack
/// from calls that are long over.) Memory is read by the kernel, which answers where a load would
/// die.
const Library* library_on_stack(std::uintptr_t pc, std::uintptr_t stack) {
  if (const Library* here = library_at(pc)) return here;
  std::uintptr_t words[512];
  for (int piece = 0; piece < 16; ++piece, stack += sizeof(words)) {
    const iovec into{words, sizeof(words)};
    const iovec from{reinterpret_cast<void*>(stack), sizeof(words)};
    const ssize_t got = process_vm_readv(getpid(), &into, 1, &from, 1, 0);
    for (ssize_t i = 0; i < got / static_cast<ssize_t>(sizeof(words[0])); ++i)
      if (const Library* found = library_at(words[i])) return found;
    if (got != static_cast<ssize_t>(sizeof(words))) return nullptr;
  }
  return nullptr;
}

void tell(std::string_view plugin, std::string_view how) {
  char line[512];
  Fixed text(line);
  text << "sluice: the process dies inside plugin " << plugin << ": " << how << "\n";
  const auto written = ::write(STDERR_FILENO, text.text().data(), text.text().size());
  static_cast<void>(written);
}

void describe(const CallBoard::Frame& frame, Fixed<360>& how) {
  how << hook_name(frame.hook);
  if (frame.about.name.empty()) return;
  how << " of ";
  if (!frame.about.ns.empty()) how << frame.about.ns << "/";
  how << frame.about.name;
}

void write_note(const CallBoard::Frame* frame, const Library* library, int signal) {
  Note& out = *note.load();
  Fixed plugin(out.plugin);
  Fixed sha256(out.sha256);
  Fixed how(out.how);
  if (frame != nullptr) {
    plugin << frame->plugin;
    library = library_of(frame->plugin);
    describe(*frame, how);
  } else {
    plugin << std::string_view(library->plugin);
    how << "a thread of its own";
  }
  if (library != nullptr) sha256 << std::string_view(library->sha256);
  if (signal == 0) {
    how << ", it ended the process";
  } else {
    const char* description = sigdescr_np(signal);
    how << ", signal " << signal << " (" << (description != nullptr ? description : "?") << ")";
  }
  std::atomic_ref<std::uint32_t>(out.written).store(1);
  tell(plugin.text(), how.text());
}

/// The signal's own action follows when it returns: SA_RESETHAND.
void on_fatal_signal(int signal, siginfo_t*, void* context) {
  if (::getpid() != noted_process || dying.test_and_set()) return;
  const int saved = errno;
  const CallBoard::Frame* frame = CallBoard::mine();
  const Library* library = nullptr;
  const bool is_plugins = frame == nullptr && !CallBoard::calls_plugins();
#if defined(__x86_64__)
  if (is_plugins) {
    const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    library = library_on_stack(static_cast<std::uintptr_t>(registers[REG_RIP]),
                               static_cast<std::uintptr_t>(registers[REG_RSP]));
  }
#elif defined(__aarch64__)
  if (is_plugins) {
    const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
    library = library_on_stack(machine.pc, machine.sp);
  }
#endif
  if (frame != nullptr || library != nullptr) write_note(frame, library, signal);
  errno = saved;
}

// ---- outside of it

/// What a plugin says it ended with counts for nothing: 0 would be a stop that somebody wanted, and
/// nobody would start the host again. Nor does anything else run, as other threads are still at it.
void on_exit() {
  if (::getpid() != noted_process || CallBoard::mine() == nullptr || dying.test_and_set()) return;
  write_note(CallBoard::mine(), nullptr, 0);
  ::_exit(EXIT_FAILURE);
}

constexpr bool kTakesSignals = !SLUICE_ASAN && !SLUICE_TSAN;  // sanitizers take them

void install_handlers() {
  struct sigaction action {};
  action.sa_sigaction = &on_fatal_signal;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
  sigemptyset(&action.sa_mask);
  if (kTakesSignals)
    for (const int signal : kFatal) sigaction(signal, &action, nullptr);
  static const int registered = std::atexit(&on_exit);
  static_cast<void>(registered);
}

/// What the file holds of the process before.
std::optional<PluginDeath> read_note(const Note& from) {
  if (std::memcmp(from.magic, kMagic, sizeof(kMagic)) != 0 || from.written != 1) return {};
  const auto text = [](const auto& array) {
    return shown_text(std::string_view(array, ::strnlen(array, sizeof(array))));
  };
  return PluginDeath{text(from.plugin), text(from.sha256), text(from.how)};
}

Result<Note*> map_file(const std::filesystem::path& file) {
  const auto failed = [&](const char* what) {
    return Error{fmt::format("{}: {}: {}", file.string(), what, std::strerror(errno))};
  };
  const Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return failed("cannot be opened");
  // Its blocks are there from now on: a full disk is no place to die in.
  if (const int error = ::posix_fallocate(fd.get(), 0, sizeof(Note)); error != 0) {
    errno = error;
    return failed("there is no room for it");
  }
  void* at = ::mmap(nullptr, sizeof(Note), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return failed("cannot be mapped");
  return static_cast<Note*>(at);
}

}  // namespace

Result<std::optional<PluginDeath>> start_crash_notes(const std::filesystem::path& file) {
  noted_process = ::getpid();
  install_handlers();
  if (file.empty()) return std::optional<PluginDeath>();
  auto mapped = map_file(file);
  if (!mapped) return mapped.error();
  std::optional<PluginDeath> before = read_note(**mapped);
  std::memset(*mapped, 0, sizeof(Note));
  std::memcpy((*mapped)->magic, kMagic, sizeof(kMagic));
  note = *mapped;
  return before;
}

void note_library(std::string_view plugin, std::string_view sha256, const void* symbol) {
  struct Search {
    std::uintptr_t symbol, begin, end;
  } search{reinterpret_cast<std::uintptr_t>(symbol), 0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        Search& wanted = *static_cast<Search*>(data);
        std::uintptr_t begin = ~std::uintptr_t{0};
        std::uintptr_t end = 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& segment = object->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          begin = std::min<std::uintptr_t>(begin, object->dlpi_addr + segment.p_vaddr);
          end =
              std::max<std::uintptr_t>(end, object->dlpi_addr + segment.p_vaddr + segment.p_memsz);
        }
        if (wanted.symbol < begin || wanted.symbol >= end) return 0;
        wanted.begin = begin;
        wanted.end = end;
        return 1;
      },
      &search);
  if (search.begin == 0 || library_at(search.symbol) != nullptr) return;
  const std::size_t i = library_count.fetch_add(1);
  if (i >= libraries.size()) return;
  Fixed(libraries[i].plugin) << plugin;
  Fixed(libraries[i].sha256) << sha256;
  libraries[i].end = search.end;
  libraries[i].begin = search.begin;
}

}  // namespace sluice::host
