// UTF-8: is a text from outside one that JSON may hold?
//
// Pure functions, any thread. A NUL counts as wrong, too: it is part of no name and no message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// The offset of the first byte that is no UTF-8 or a NUL; npos when all is well. O(length).
std::size_t find_bad_utf8(std::string_view text);

/// The text with U+FFFD in place of each such byte: for messages that quote what a client sent.
std::string clean_utf8(std::string_view text);

/// The beginning of the text, up to the end of a character: `most` bytes at most. O(1).
/// REQUIRES: valid UTF-8; of other texts a part of a character may be left.
std::string_view cut_utf8(std::string_view text, std::size_t most);

/// As one line that may be shown anywhere: U+FFFD in place of each byte that is no UTF-8 and of
/// each control character, line breaks and what turns the direction of the text included; cut at a
/// character after `most` bytes, with "…".
std::string one_line(std::string_view text, std::size_t most);

/// Does it hold a control character: of ASCII, U+0080 to U+009F, U+2028, U+2029, or one that turns
/// the direction of the text, such as U+202E? REQUIRES: valid UTF-8.
bool has_control_characters(std::string_view text);

}  // namespace sluice
