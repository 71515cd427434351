// A manifest, YAML or JSON: loading either says what is wrong or hands out objects, each of which
// reads and writes as the same text again (1e3 is written 1000), and whose places can be looked up.
#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/manifests/manifests.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  if (size > (1u << 16)) return 0;
  host::ManifestLimits limits;
  limits.max_yaml_nodes = 10'000;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto again = [&](const std::string& written) {
    const auto read = host::load_text(written, "again.json", limits, [&](host::Document&& one) {
      SLUICE_CHECK(api::to_json(one.object) == written, written);
      return Result<void>();
    });
    SLUICE_CHECK(read.ok(), read.error().text);
  };
  int lookups = 0;
  const auto loaded = host::load_text(text, "in", limits, [&](host::Document&& document) {
    if (++lookups <= 3) {
      document.place("spec.podSets[0].name");
      // A list would be unpacked once more, and is no object to compare with.
      const auto* items = api::find_array(document.object, "items");
      if (items == nullptr) again(api::to_json(document.object));
    }
    return Result<void>();
  });
  SLUICE_CHECK(loaded.ok() || !loaded.error().text.empty());
  return 0;
}
