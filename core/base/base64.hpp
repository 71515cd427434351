// Base64 with the standard alphabet and padding, as JSON carries bytes. A pure function, any
// thread.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

std::string base64_text(std::string_view bytes);
/// The bytes of such a text, up to the first character that is none of the alphabet.
std::string base64_bytes(std::string_view text);

}  // namespace sluice
