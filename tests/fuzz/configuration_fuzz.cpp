// The configuration of a host: it is refused with its place, or all its numbers are in range.
#include "core/base/check.hpp"
#include "host/config/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  using namespace sluice::host;
  if (size > (1U << 14)) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto config = parse_configuration(text, "c.yaml");
  if (!config) {
    SLUICE_CHECK(config.error().text.find("c.yaml") != std::string::npos, config.error().text);
    return 0;
  }
  const ServerLimits& limits = config->server.limits;
  SLUICE_CHECK(limits.depth >= 8 && limits.depth <= 1'000);
  SLUICE_CHECK(limits.connections > 0 && limits.watchers > 0 && limits.body_bytes > 0);
  SLUICE_CHECK(limits.header_time >= kSecond && limits.stall_time >= kSecond);
  return 0;
}
