// Boost.DLL without boost_filesystem: std::filesystem does.
#define BOOST_DLL_USE_STD_FS

#include "host/plugins/library.hpp"

#include <boost/dll/shared_library.hpp>
#include <exception>
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
  try {
    auto library = std::make_unique<boost::dll::shared_library>();
    library->load(path, Mode::rtld_now | Mode::rtld_local);
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
