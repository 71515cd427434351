// Decoding of request bodies: text → JSON value, within limits, with what strict validation has to
// know. And the media types of bodies and patches.
//
// Pure functions, any thread. Unknown fields are not looked for here: that is Scheme::admit().
#pragma once

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/objects/api_error.hpp"
#include "host/objects/write.hpp"

namespace sluice::host {

struct DecodeLimits {
  std::size_t bytes = 3 * 1024 * 1024;
  std::size_t depth = 100;
  /// Entries of all lists and objects: `[],[],…` takes many times its text when it is read.
  std::size_t values = 250'000;
};

struct DecodedBody {
  boost::json::value value;
  /// `duplicate field "spec.x"`: strict validation refuses them, else they are warnings and the
  /// last value counts.
  std::vector<std::string> problems;
};

/// One JSON value and nothing after it. 400 with line and column; 413 when it is too long or has
/// too many values. The value is made in `storage`.
ApiResult<DecodedBody> decode_json(std::string_view text, const DecodeLimits& limits = {},
                                   boost::json::storage_ptr storage = {});

/// One YAML document (JSON is YAML, too). Repeated keys are an error here.
ApiResult<DecodedBody> decode_yaml(std::string_view text, const DecodeLimits& limits = {});

enum class BodyFormat : std::uint8_t { kJson, kYaml, kProtobuf };

/// Of an object. No content type means JSON; others are 415.
ApiResult<BodyFormat> body_format(std::string_view content_type);

/// Of a PATCH. `strategic`: the kind takes strategic merge patches (built-in kinds do, others
/// answer 415).
ApiResult<PatchType> patch_type(std::string_view content_type, bool strategic);

/// The body of a patch of that type: a JSON value, for kApply also YAML.
ApiResult<DecodedBody> decode_patch(std::string_view text, PatchType type,
                                    const DecodeLimits& limits = {});

/// `strict decoding error: a, b`, as a 400, of the problems of a body and its unknown fields.
ApiError strict_decoding_error(const std::vector<std::string>& problems);

}  // namespace sluice::host
