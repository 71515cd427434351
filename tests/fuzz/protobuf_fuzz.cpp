// A protobuf request body: it is refused with 400, or it becomes an object that can be written and
// parsed again.
#include <boost/json.hpp>

#include "core/base/check.hpp"
#include "host/rest/protobuf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::host;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto decoded = decode_protobuf(body, {.bytes = 1 << 20, .values = 20'000});
  if (!decoded.ok()) {
    SLUICE_CHECK(decoded.error().code == 400 || decoded.error().code == 413, decoded.error().text);
    return 0;
  }
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = 64;
  const std::string text = boost::json::serialize(*decoded);
  const auto again = boost::json::parse(text, error, {}, options);
  SLUICE_CHECK(!error && again.is_object(), text);
  return 0;
}
