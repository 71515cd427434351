#include "host/apiserver/body.hpp"

#include <utility>

#include "host/rest/protobuf.hpp"

namespace sluice::host {

ApiResult<DecodedBody> decode_body(const Request& request, const DecodeLimits& limits,
                                   boost::json::storage_ptr storage) {
  auto format = body_format(request.content_type);
  if (!format) return format.error();
  switch (*format) {
    case BodyFormat::kJson:
      return decode_json(request.body, limits, std::move(storage));
    case BodyFormat::kYaml:
      return decode_yaml(request.body, limits);
    case BodyFormat::kProtobuf:
      break;
  }
  auto object = decode_protobuf(request.body, {.bytes = limits.bytes});
  if (!object) return object.error();
  DecodedBody out;
  out.value = std::move(*object);
  return out;
}

}  // namespace sluice::host
