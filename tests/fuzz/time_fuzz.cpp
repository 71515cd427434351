// Times that parse print as something that parses to the same instant; durations never crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"
#include "core/base/time.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = sluice::parse_time(text)) {
    const auto again = sluice::parse_time(sluice::format_time(*time));
    SLUICE_CHECK(again == time, sluice::format_time(*time));
  }
  if (const auto duration = sluice::parse_duration(text)) SLUICE_CHECK(*duration >= 0, *duration);
  return 0;
}
