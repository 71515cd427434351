// {"selector": …, "labels": …}: any selector decodes, and matching gives the same answer twice.
#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "tests/fuzz/json_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::api;
  const auto input = json_input(data, size);
  if (!input) return 0;
  const auto* selector = find_object(*input, "selector");
  if (selector == nullptr) return 0;
  const LabelMap labels = find_labels(*input, "labels");
  const LabelSelector decoded = decode_selector(*selector);
  const bool matched = decoded.matches(labels);
  SLUICE_CHECK(decoded.matches(labels) == matched);
  SLUICE_CHECK(LabelSelector{}.matches(labels));
  return 0;
}
