// What a plugin's library declares, and the lines of its signature file: any text is taken or
// refused, and no text that nobody signed is a signature.
#include <string_view>

#include "core/base/check.hpp"
#include "host/plugins/signature.hpp"
#include "host/plugins/text_gate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::host;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto declared = parse_declarations(text);
  SLUICE_CHECK(declared.ok() || !declared.error().text.empty());
  if (declared)
    for (const std::string& point : declared->provides)
      SLUICE_CHECK(name_problem(point) == nullptr, "a point that cannot be shown");
  if (declared)
    for (const ObjectRight& right : declared->may)
      SLUICE_CHECK(parse_declarations("may " + right.text()).ok(),
                   "a right that is none when said");
  const std::string lines = signatures_for(text, std::string(64, 'a'));
  SLUICE_CHECK(signatures_for(lines, std::string(64, 'a')) == lines, "lines that change");
  PluginFile file;
  file.metadata.name = "fuzz";
  file.sha256 = std::string(64, 'a');
  const auto signer = signer_of(file, text, {});
  SLUICE_CHECK(!signer.ok() && !signer.error().text.empty());
  return 0;
}
