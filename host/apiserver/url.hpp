// The target of a request line, decoded: path and query as handlers see them.
//
// Pure functions on untrusted text; any thread. What they accept has a path that starts with `/`,
// has no empty, `.` or `..` segment and no trailing slash, and holds no control character; all
// texts are UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

struct Target {
  std::string path;                                        ///< `/api/v1/pods`
  std::vector<std::pair<std::string, std::string>> query;  ///< in order; `+` is a space
};

/// Doubled and trailing slashes are dropped; an escaped slash, `.` and `..` are refused.
Result<Target> parse_target(std::string_view raw);

/// `%41` → `A`, and `+` → space where `plus_is_space`. An error for an incomplete escape.
Result<std::string> percent_decode(std::string_view text, bool plus_is_space);

/// Segments of a path that parse_target() made: `/api/v1/pods` → api, v1, pods.
std::vector<std::string_view> path_segments(std::string_view path);

}  // namespace sluice::host
