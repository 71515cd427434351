// Digests: the few bytes by which a longer text is known. SHA-256 wherever we choose; SHA-1 in
// names that others make the same way.
//
// Pure functions, any thread. That the library has these two is taken for granted.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace sluice::host {

/// Of SHA-256.
using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view text);
/// 64 hexadecimal digits of lower case.
std::string to_hex(const Digest& digest);

/// 40 hexadecimal digits of lower case.
std::string sha1_hex(std::string_view text);

}  // namespace sluice::host
