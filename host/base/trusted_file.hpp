// Whether a file says what its owner wrote: files that decide about rights, or that run in this
// process, are looked at before they are believed. Any thread.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace sluice::host {

/// An error when anybody on this machine may write the file, or put another one in its place. A
/// file that does not exist is none of its business.
Result<void> check_writers(const std::string& path);

/// What else is strange about it: it belongs to neither root nor us; with `secret`: others can read
/// it. For the log.
std::optional<std::string> doubt_about(const std::string& path, bool secret);

}  // namespace sluice::host
