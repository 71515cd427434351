// Decoding of protobuf request bodies: Go clients send the built-in kinds as
// application/vnd.kubernetes.protobuf, and do not try again with JSON.
//
// The messages come from the same data as the schemas (api/schema/data/types.json). What a
// client sends because Go has no absent values ("", 0, false, empty messages where the field is no
// pointer) is left out, as in the JSON of the same object. Pure functions, any thread; the tables
// are made on first use.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <string_view>

#include "host/objects/api_error.hpp"

namespace sluice::host {

struct ProtobufLimits {
  std::size_t bytes = 3 * 1024 * 1024;
  /// Members, list entries and map entries together: a short body cannot unfold into a large value.
  std::size_t values = 250'000;
};

/// The object in `body`, with apiVersion and kind as far as the body names them. 400 when it is
/// malformed, when text in it is not UTF-8, or when it holds a kind that has no protobuf form here;
/// 413 when it is too long. Nesting is bounded by that of the types.
ApiResult<boost::json::object> decode_protobuf(std::string_view body,
                                               const ProtobufLimits& limits = {});

}  // namespace sluice::host
