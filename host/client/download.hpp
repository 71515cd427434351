// Downloads: the bytes behind a URL, for commands that take files from elsewhere.
//
// Pure requests, each by a connection of its own; any thread. The error names the URL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::host {

/// Does the text say that it is a URL, rather than the name of a file?
bool is_url(std::string_view text);

/// Asks once, by http or https as the URL says. What is longer than `limit` bytes, ends before its
/// time or is elsewhere (a redirect: who redirects is trusted with the choice of the file) is an
/// error. Certificates are those that the system trusts.
Result<std::string> download(const std::string& url, std::uint64_t limit);

}  // namespace sluice::host
