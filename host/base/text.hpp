// Small questions about texts, most of them from outside, asked by several readers, and phrases
// that several messages use. None depends on a locale. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::host {

/// What JSON and label selectors allow between their words.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The same text for keeping: one that grew while it was written has room for as much again.
inline std::string shrunk_to_fit(std::string text) {
  if (text.capacity() > text.size() + text.size() / 8) text.shrink_to_fit();
  return text;
}

/// What may be named instead of what is not there: `there are: a, b, …`, `most` of them at most, or
/// `there are none`.
std::string there_are(const std::vector<std::string>& names, std::size_t most = 20);

}  // namespace sluice::host
