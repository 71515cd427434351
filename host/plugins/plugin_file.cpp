#include "host/plugins/plugin_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

#include "host/base/digest.hpp"
#include "host/plugins/text_gate.hpp"
#include "sluice/metadata.h"

namespace sluice::host {

namespace fs = std::filesystem;

namespace {

Result<std::string> read_bytes(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return Error{"there is no such file"};
  if (error) return Error{"cannot be read: " + error.message()};
  if (status.type() != fs::file_type::regular) return Error{"it is not a regular file"};
  const auto size = fs::file_size(path, error);
  if (error) return Error{"cannot be read: " + error.message()};
  if (size > kMaxPluginBytes)
    return Error{"it has " + std::to_string(size) + " bytes; at most " +
                 std::to_string(kMaxPluginBytes) + " are allowed"};
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{std::string("cannot be read: ") + std::strerror(errno)};
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

/// A text in a fixed array: everything up to the NUL, which must be there.
template <std::size_t N>
Result<std::string> fixed_text(const char (&array)[N], const char* what) {
  const void* end = std::memchr(array, '\0', N);
  if (end == nullptr) return Error{std::string("its metadata is damaged: ") + what + " has no end"};
  return std::string(array);
}

bool is_plugin_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

bool is_version(std::string_view version) {
  return !version.empty() && std::all_of(version.begin(), version.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '+';
  });
}

}  // namespace

Result<PluginMetadata> parse_metadata(std::string_view section) {
  sluice_metadata_t raw;
  if (section.size() < sizeof(raw))
    return Error{"its metadata is damaged: section .sluice has " + std::to_string(section.size()) +
                 " bytes, a record has " + std::to_string(sizeof(raw))};
  std::memcpy(&raw, section.data(), sizeof(raw));
  if (std::memcmp(raw.magic, SLUICE_METADATA_MAGIC, sizeof(raw.magic)) != 0 ||
      raw.size < sizeof(raw))
    return Error{"its metadata is damaged: section .sluice does not start with a record"};
  PluginMetadata metadata{raw.abi_major, raw.abi_minor, {}, {}};
  auto name = fixed_text(raw.name, "the name");
  if (!name.ok()) return name.error();
  if (!is_plugin_name(*name))
    return Error{"its metadata is damaged: the name may hold only a-z, 0-9 and `-`"};
  metadata.name = *name;
  auto version = fixed_text(raw.version, "the version");
  if (!version.ok()) return version.error();
  if (!is_version(*version))
    return Error{"its metadata is damaged: it has the version \"" + shown_text(*version) +
                 "\"; allowed: digits, letters, `.`, `-` and `+`, as in 1.2.3-rc.1"};
  metadata.version = *version;
  return metadata;
}

Result<PluginFile> parse_plugin_file(const fs::path& path, std::string bytes) {
  auto elf = ElfFile::parse(bytes);
  if (!elf.ok()) return elf.error().context(path.string());
  const auto* section = elf->section(SLUICE_METADATA_SECTION);
  if (section == nullptr || !section->in_file)
    return Error{path.string() +
                 ": it is a shared library but not a Sluice plugin: it has no section .sluice"};
  const auto text = [&](const ElfFile::Section& of) {
    return std::string_view(bytes).substr(of.offset, of.size);
  };
  auto metadata = parse_metadata(text(*section));
  if (!metadata.ok()) return metadata.error().context(path.string());
  Declarations declared{.any_object = true, .provides = {}, .may = {}};
  if (const auto* lines = elf->section(SLUICE_DECLARES_SECTION); lines != nullptr) {
    auto parsed = parse_declarations(lines->in_file ? text(*lines) : std::string_view());
    if (!parsed) return parsed.error().context(path.string());
    declared = std::move(*parsed);
  }
  std::string digest = to_hex(sha256(bytes));
  const std::uint64_t size = bytes.size();
  return PluginFile{path,
                    size,
                    std::move(digest),
                    std::move(bytes),
                    std::move(*elf),
                    std::move(*metadata),
                    std::move(declared)};
}

Result<PluginFile> read_plugin_file(const fs::path& path) {
  auto bytes = read_bytes(path);
  if (!bytes.ok()) return bytes.error().context(path.string());
  return parse_plugin_file(path, std::move(*bytes));
}

Result<void> verify_plugin_file(const PluginFile& file, std::string_view name,
                                std::string_view sha256_pin) {
  const std::string where = file.path.string();
  if (!sha256_pin.empty() && sha256_pin != file.sha256)
    return Error{where + ": its SHA-256 is " + file.sha256 + ", but the configuration pins " +
                 std::string(sha256_pin)};
  if (file.metadata.abi_major != SLUICE_ABI_MAJOR)
    return Error{where + ": it is built for plugin ABI " + std::to_string(file.metadata.abi_major) +
                 ", this host speaks ABI " + std::to_string(SLUICE_ABI_MAJOR) +
                 "; build it again with this host's SDK"};
  if (file.metadata.name != name)
    return Error{where + ": it names itself " + file.metadata.name +
                 "; a plugin's file must be called NAME.so and be listed under its name"};
  if (file.elf.searches_beside_itself())
    return Error{where +
                 ": it looks for libraries beside itself (RUNPATH $ORIGIN), but the host loads a "
                 "private copy of it; link them statically, or install them for the system"};
  const auto& exports = file.elf.exports();
  if (!std::binary_search(exports.begin(), exports.end(), SLUICE_ENTRY_SYMBOL))
    return Error{where + ": it does not export " SLUICE_ENTRY_SYMBOL};
  return {};
}

fs::path plugin_directory(std::string_view configured) {
  fs::path path(configured);
  if (path.is_absolute()) return path;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return path;
  return program.parent_path().parent_path() / path;
}

std::vector<std::string> plugin_names(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".so") names.push_back(it->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace sluice::host
