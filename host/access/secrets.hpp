// Secrets: random tokens, digests of them (digest.hpp) compared and read; reading a file that holds
// some, and the folder for it.
//
// Pure functions but for the last two; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/base/digest.hpp"

namespace sluice::host {

/// False when it is no 64 hexadecimal digits.
bool from_hex(std::string_view text, Digest& out);
/// Takes the same time wherever they differ.
bool same_digest(const Digest& a, const Digest& b);

/// 256 random bits as 64 hexadecimal digits.
Result<std::string> random_token();

std::string to_base64(std::string_view bytes);

/// The content of a file of at most 1 MiB. The error names the path.
Result<std::string> read_small_file(const std::string& path);

/// Makes the folder (and those above it) with mode 0700; one that exists is left as it is.
Result<void> make_private_folder(const std::string& path);

}  // namespace sluice::host
