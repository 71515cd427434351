// Small questions about texts from outside, asked by several readers. None depends on a locale.
// Pure functions, any thread.
#pragma once

#include <string_view>

namespace sluice::host {

/// What JSON and label selectors allow between their words.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace sluice::host
