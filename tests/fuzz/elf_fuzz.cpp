// A file that claims to be a plugin: judging it never crashes and never reads outside of
// it, and its names can be shown.
#include "core/base/check.hpp"
#include "core/base/utf8.hpp"
#include "host/plugins/plugin_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto file = host::ElfFile::parse(bytes);
  if (!file.ok()) {
    SLUICE_CHECK(!file.error().text.empty());
    return 0;
  }
  const auto judge = [](const std::string& name) {
    SLUICE_CHECK(find_bad_utf8(name) == name.npos && !has_control_characters(name));
  };
  for (const auto& each : file->sections()) judge(each.name);
  for (const auto& each : file->exports()) judge(each);
  for (const auto& each : file->needed()) judge(each);
  const auto* section = file->section(".sluice");
  if (section == nullptr || !section->in_file) return 0;
  const auto metadata = host::parse_metadata(bytes.substr(section->offset, section->size));
  SLUICE_CHECK(metadata.ok() ? !metadata->name.empty() : !metadata.error().text.empty());
  const auto whole = host::parse_plugin_file("x.so", std::string(bytes));
  SLUICE_CHECK(whole.ok() ? whole->metadata.name == metadata->name : !whole.error().text.empty());
  return 0;
}
