// Small questions about texts from outside. Pure functions, any thread; none depends on a locale.
#pragma once

#include <string_view>

namespace sluice::host {

/// What JSON and label selectors allow between their words.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace sluice::host
