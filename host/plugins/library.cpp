#include "host/plugins/library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <string>

#include "host/base/fd.hpp"
#include "host/plugins/call_board.hpp"
#include "host/plugins/crash_note.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

Result<int> sealed_copy(const PluginFile& file) {
  const auto failed = [](const char* what) {
    return Error{std::string("no private copy of it: ") + what + ": " + std::strerror(errno)};
  };
  const std::string name = "sluice-plugin-" + file.metadata.name;
  Fd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return failed("memfd_create");
  for (std::size_t done = 0; done < file.bytes.size();) {
    const ssize_t n = ::write(fd.get(), file.bytes.data() + done, file.bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed("write");
    done += static_cast<std::size_t>(n);
  }
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return failed("seals");
  return fd.release();
}

namespace {

/// The path of a copy that stays open for good: the linker knows a library by its name, and a name
/// that came to lead to another file would give it the old library. The path has the process's
/// number in it, so that a debugger finds the file, too.
Result<std::string> private_copy(const PluginFile& file) {
  const auto fd = sealed_copy(file);
  if (!fd) return fd.error();
  return fmt::format("/proc/{}/fd/{}", ::getpid(), *fd);
}

std::string missing_members(const sluice_plugin_t& plugin) {
  if (!SLUICE_HAS(&plugin, extension)) return "its root struct is too small";
  if (plugin.create == nullptr) return "it has no create function";
  if (plugin.destroy == nullptr) return "it has no destroy function";
  if (plugin.extension == nullptr) return "it has no extension function";
  return {};
}

/// What the linker says of the copy, with the name of the file.
std::string linker_error(const std::string& copy, const std::string& where) {
  const char* text = ::dlerror();
  std::string out = shown_text(std::string_view(text == nullptr ? "no reason given" : text));
  if (const auto at = out.find(copy); at != out.npos) out.replace(at, copy.size(), where);
  return out;
}

Result<const sluice_plugin_t*> open(const PluginFile& file) {
  const std::string where = file.path.string();
  const auto copy = private_copy(file);
  if (!copy) return Error{where + ": " + copy.error().text};
  const CallBoard::Scope seen(file.metadata.name, Hook::kOpen);
  void* library = ::dlopen(copy->c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return Error{where + ": cannot be loaded: " + linker_error(*copy, where)};
  void* symbol = ::dlsym(library, SLUICE_ENTRY_SYMBOL);
  if (symbol == nullptr) return Error{where + ": it does not export " SLUICE_ENTRY_SYMBOL};
  note_library(file.metadata.name, file.sha256, symbol);
  const auto entry =
      reinterpret_cast<const sluice_plugin_t* (*)(std::uint32_t, std::uint32_t)>(symbol);
  const sluice_plugin_t* plugin = entry(SLUICE_ABI_MAJOR, SLUICE_ABI_MINOR);
  if (plugin == nullptr) return Error{where + ": its entry function refuses this host"};
  if (plugin->abi_major != SLUICE_ABI_MAJOR)
    return Error{where + ": its metadata and its code disagree about the ABI"};
  if (const std::string missing = missing_members(*plugin); !missing.empty())
    return Error{where + ": " + missing};
  return plugin;
}

}  // namespace

Result<const sluice_plugin_t*> load_library(const PluginFile& file) {
  static auto* const known = new std::map<std::string, const sluice_plugin_t*>();  // by SHA-256
  if (const auto found = known->find(file.sha256); found != known->end()) return found->second;
  try {
    auto opened = open(file);
    if (opened) known->emplace(file.sha256, *opened);
    return opened;
  } catch (...) {
    return Error{file.path.string() + ": cannot be loaded: its start-up code threw"};
  }
}

}  // namespace sluice::host
