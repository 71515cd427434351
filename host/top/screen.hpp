// Painted lines, keys, and the few sequences of a terminal that both need: what every terminal
// since the VT220 understands. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

struct TerminalSize {
  std::size_t rows = 24, columns = 80;
  bool operator==(const TerminalSize&) const = default;
};

enum class Paint : std::uint8_t { kPlain, kStrong, kFaint, kGood, kWarn, kBad, kBar };

struct ScreenSpan {
  std::string text;
  Paint paint = Paint::kPlain;
  bool operator==(const ScreenSpan&) const = default;
};
using ScreenLine = std::vector<ScreenSpan>;

/// In places of a terminal: characters, not bytes.
std::size_t width_of(std::string_view text);
std::size_t width_of(const ScreenLine& line);

/// At most `columns` wide; with "…" where something was cut off.
std::string cut(std::string_view text, std::size_t columns);
void cut(ScreenLine& line, std::size_t columns);

/// The texts alone, without blanks at the end.
std::string plain(const ScreenLine& line);
/// With what makes a terminal paint it; with `colours` off only strong, faint and the bar remain.
std::string painted(const ScreenLine& line, bool colours);

/// What brings the screen from `before` to `after`: only lines that differ are written.
std::string redraw(const std::vector<ScreenLine>& before, const std::vector<ScreenLine>& after,
                   bool colours);

struct Key {
  enum class What : std::uint8_t { kChar, kUp, kDown, kPageUp, kPageDown, kHome, kEnd };
  What what = What::kChar;
  char character = 0;
  bool operator==(const Key&) const = default;
};

/// The keys in what was typed; what may be the beginning of one stays in `typed`.
std::vector<Key> take_keys(std::string& typed);

}  // namespace sluice::host
