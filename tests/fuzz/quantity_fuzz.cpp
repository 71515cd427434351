// Whatever parses prints as something that parses to the same value.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"
#include "core/types/quantity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sluice::api::Quantity;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = Quantity::parse(text);
  if (!parsed) return 0;
  const auto again = Quantity::parse(parsed->text());
  SLUICE_CHECK(again.ok(), parsed->text());
  SLUICE_CHECK(*again == *parsed, parsed->text());
  // Rounding is away from zero: milli is never closer to zero than the whole units below it.
  const Quantity sum = *parsed + *parsed;
  SLUICE_CHECK(parsed->negative() ? sum <= *parsed : sum >= *parsed, sum.text());
  (void)parsed->milli();
  (void)parsed->units();
  return 0;
}
