// Boost.DLL without boost_filesystem: std::filesystem does.
#define BOOST_DLL_USE_STD_FS

#include "host/plugins/library.hpp"

#include <sys/stat.h>

#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sluice::host {

namespace {

/// Keeps every library mapped until the process ends, past all destructors.
void keep(std::unique_ptr<boost::dll::shared_library> library) {
  static auto* const kept = new std::vector<std::unique_ptr<boost::dll::shared_library>>();
  kept->push_back(std::move(library));
}

/// Which file it was that a path led to.
struct FileId {
  dev_t device;
  ino_t inode;
  off_t size;
  std::int64_t changed;  // ns
  bool operator==(const FileId&) const = default;
};

struct Known {
  FileId file;
  std::filesystem::path name;  // by which the linker knows it
};

/// The name by which to load the file that is at `path` now. The linker looks at names first: one
/// that it has seen gives it the library of that time, whatever lies there now. So a file that took
/// the place of another is loaded by a name that is spelt otherwise.
Result<std::filesystem::path> name_for(const std::filesystem::path& path) {
  static auto* const known = new std::map<std::filesystem::path, Known>();
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return path;  // loading says what is wrong
  const FileId file{found.st_dev, found.st_ino, found.st_size,
                    found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
  const auto [it, fresh] = known->try_emplace(path, Known{file, path});
  Known& before = it->second;
  if (fresh || before.file == file) return before.name;
  if (before.file.device == file.device && before.file.inode == file.inode)
    return Error{
        "the file was written over while this process uses it; put a new file in its place (mv, "
        "install, a build) and restart the host"};
  before = {file, before.name.parent_path() / "." / path.filename()};
  return before.name;
}

std::string missing_members(const sluice_plugin_t& plugin) {
  if (!SLUICE_HAS(&plugin, extension)) return "its root struct is too small";
  if (plugin.create == nullptr) return "it has no create function";
  if (plugin.destroy == nullptr) return "it has no destroy function";
  if (plugin.extension == nullptr) return "it has no extension function";
  return {};
}

}  // namespace

Result<const sluice_plugin_t*> load_library(const std::filesystem::path& path) {
  using Mode = boost::dll::load_mode::type;
  const std::string where = path.string();
  const auto name = name_for(path);
  if (!name) return Error{where + ": " + name.error().text};
  try {
    auto library = std::make_unique<boost::dll::shared_library>();
    library->load(*name, Mode::rtld_now | Mode::rtld_local);
    const auto entry =
        library->get<const sluice_plugin_t*(std::uint32_t, std::uint32_t)>(SLUICE_ENTRY_SYMBOL);
    keep(std::move(library));
    const sluice_plugin_t* plugin = entry(SLUICE_ABI_MAJOR, SLUICE_ABI_MINOR);
    if (plugin == nullptr) return Error{where + ": its entry function refuses this host"};
    if (plugin->abi_major != SLUICE_ABI_MAJOR)
      return Error{where + ": its metadata and its code disagree about the ABI"};
    if (const std::string missing = missing_members(*plugin); !missing.empty())
      return Error{where + ": " + missing};
    return plugin;
  } catch (const std::exception& e) {
    return Error{where + ": cannot be loaded: " + e.what()};
  } catch (...) {
    return Error{where + ": cannot be loaded: its start-up code threw"};
  }
}

}  // namespace sluice::host
