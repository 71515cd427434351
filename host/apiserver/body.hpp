// The body of a request as a JSON value, by its content type: JSON, YAML, protobuf.
// Pure functions; any thread.
#pragma once

#include "host/apiserver/exchange.hpp"
#include "host/rest/decode.hpp"

namespace sluice::host {

/// Of an object or of options: JSON, YAML or Kubernetes' protobuf. 400, 413, 415.
/// JSON is made in `storage`.
ApiResult<DecodedBody> decode_body(const Request& request, const DecodeLimits& limits,
                                   boost::json::storage_ptr storage = {});

}  // namespace sluice::host
