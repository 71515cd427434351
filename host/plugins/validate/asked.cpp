#include "host/plugins/validate/asked.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>

#include "core/base/check.hpp"
#include "core/base/sanitizers.hpp"
#include "core/base/text.hpp"
#include "host/plugins/text_gate.hpp"
#include "host/plugins/validate/subject.hpp"

namespace sluice::host {

namespace {

constexpr std::size_t kHookBytes = 64;
constexpr std::size_t kInputBytes = 4096;  // beyond that the input is cut

struct Note {
  std::atomic<bool> stands;
  std::uint64_t step;
  std::array<char, kHookBytes> hook;
  std::array<char, kInputBytes> input;
};

/// What both processes see.
struct Notes {
  std::atomic<std::uint64_t> steps;
  std::atomic<std::int32_t> taken;  ///< notes that threads have
  std::atomic<std::int32_t> died;   ///< the note of the thread that died
  std::array<Note, 8> all;
};
constexpr std::int32_t kNobody = -1;
constexpr std::int32_t kOwnThread = -2;  ///< a thread that never called: the plugin made it

Notes& notes() {
  static Notes* const shared = [] {
    void* page =
        ::mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    SLUICE_CHECK(page != MAP_FAILED, "no memory for the notes of a test");
    return new (page) Notes;
  }();
  return *shared;
}

thread_local std::int32_t mine = kNobody;

Note* my_note() {
  if (mine == kNobody) mine = notes().taken.fetch_add(1);
  const auto index = static_cast<std::size_t>(mine);
  return index < notes().all.size() ? &notes().all[index] : nullptr;
}

template <std::size_t kSize>
void put(std::array<char, kSize>& into, std::string_view text) {
  std::size_t size = std::min(text.size(), kSize - 1);
  const auto goes_on = [&](std::size_t at) {  // inside a character
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (size > 0 && goes_on(size)) --size;
  std::memcpy(into.data(), text.data(), size);
  into[size] = '\0';
}

/// Function → the test that it took down.
std::map<std::string, std::string, std::less<>>& given_up() {
  static std::map<std::string, std::string, std::less<>> all;
  return all;
}

void note_my_death() { notes().died.store(mine == kNobody ? kOwnThread : mine); }

void on_fatal_signal(int signal) {
  note_my_death();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

Asking::Asking(std::string_view hook, std::string_view input, Again again)
    : exceptions_(std::uncaught_exceptions()) {
  const auto it = again == Again::kNo ? given_up().find(hook) : given_up().end();
  if (it != given_up().end())
    throw TestSkipped(std::string(hook) + " is not called again: see " + it->second);
  Note* note = my_note();
  if (note == nullptr || (exceptions_ > 0 && note->stands)) return;
  put(note->hook, hook);
  put(note->input, input);
  note->step = notes().steps.fetch_add(1) + 1;
  note->stands.store(true);
  stands_ = true;
}

Asking::~Asking() {
  if (!stands_ || std::uncaught_exceptions() > exceptions_) return;
  if (Note* note = my_note()) note->stands.store(false);
}

std::string shown_bytes(std::string_view bytes) {
  if (!bytes.empty() && document_problem(bytes) == nullptr) return std::string(bytes);
  std::string out = "\"";
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte >= 0x20 && byte < 0x7F && byte != '\\') {
      out += each;
    } else {
      append_hex(byte, out += "\\x");
    }
  }
  return out + "\"";
}

void clear_notes() {
  notes().steps.store(0);
  notes().taken.store(0);
  notes().died.store(kNobody);
  for (Note& note : notes().all) note.stands.store(false);
}

void note_deaths() {
  mine = kNobody;
  std::atexit(&note_my_death);
  if constexpr (SLUICE_ASAN || SLUICE_TSAN) return;  // they take the signals
  // A stack that is used up leaves no room for a handler.
  static std::array<std::byte, 64 * 1024> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = &on_fatal_signal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS})
    ::sigaction(signal, &action, nullptr);
}

AskedCall last_call() {
  const Notes& shared = notes();
  const auto call = [](const Note& note) {
    return AskedCall{note.hook.data(), note.input.data(), note.step};
  };
  if (shared.died.load() == kOwnThread) return {"a thread of the plugin's own", "", shared.steps};
  const auto died = static_cast<std::size_t>(shared.died.load());
  if (died < shared.all.size() && shared.all[died].stands) return call(shared.all[died]);
  for (const Note& note : shared.all)
    if (note.stands) return call(note);
  return {"", "", 0};
}

void give_up(const AskedCall& call, std::string_view test) {
  if (!call.hook.empty()) given_up().emplace(call.hook, test);
}

void give_up_nothing() { given_up().clear(); }

}  // namespace sluice::host
