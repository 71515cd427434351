// Whether a file can be trusted: files that decide about rights, or that run in this process, are
// checked before they are used. Any thread.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace sluice::host {

/// An error when other users of this machine may write the file, or put another one in its place. A
/// file that does not exist is no error.
Result<void> check_writers(const std::string& path);

/// What else is strange about it: it belongs to neither root nor us; with `secret`: others can read
/// it. For the log.
std::optional<std::string> doubt_about(const std::string& path, bool secret);

}  // namespace sluice::host
