// PluginFile: one file that claims to be a plugin, judged before any of its code runs.
//
// Finding (folder and name), reading (ELF and metadata) and verifying (ABI, name, pin) of plugin
// files. Nothing here loads a library. Errors are sentences that name the file. Safe on any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/plugins/declarations.hpp"
#include "host/plugins/elf_file.hpp"

namespace sluice::host {

/// What the section `.sluice` says.
struct PluginMetadata {
  std::uint32_t abi_major = 0;
  std::uint32_t abi_minor = 0;
  std::string name;
  std::string version;
};

struct PluginFile {
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::string sha256;  ///< lower-case hex
  std::string bytes;   ///< all of it: what was judged is what is loaded
  ElfFile elf;
  PluginMetadata metadata;
  Declarations declared;
};

/// The section's bytes as a record; the error does not name the file.
Result<PluginMetadata> parse_metadata(std::string_view section);

inline constexpr std::uint64_t kMaxPluginBytes = 256ULL << 20;

/// Reads and checks the file's form, not whether this host can use it. At most 256 MiB.
Result<PluginFile> read_plugin_file(const std::filesystem::path& path);

/// The same of bytes that were read already; `path` is what errors call them.
Result<PluginFile> parse_plugin_file(const std::filesystem::path& path, std::string bytes);

/// Can this host load it under this name? An empty pin means: not pinned.
Result<void> verify_plugin_file(const PluginFile& file, std::string_view name,
                                std::string_view sha256_pin);

/// The folder of a configuration: absolute as it is, relative to the program's prefix (the folder
/// above the one that holds the running program).
std::filesystem::path plugin_directory(std::string_view configured);

/// The names of all NAME.so in a folder, sorted; empty when the folder does not exist.
std::vector<std::string> plugin_names(const std::filesystem::path& directory);

}  // namespace sluice::host
