#include "host/top/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice::host {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

/// The byte at which the character of this number begins.
std::size_t byte_of(std::string_view text, std::size_t character) {
  std::size_t at = 0;
  for (std::size_t passed = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && passed++ == character) return at;
  return at;
}

std::string_view sequence_of(Paint paint, bool colours) {
  switch (paint) {
    case Paint::kStrong:
      return "\x1b[1m";
    case Paint::kFaint:
      return "\x1b[2m";
    case Paint::kBar:
      return "\x1b[7m";
    case Paint::kGood:
      return colours ? "\x1b[32m" : "";
    case Paint::kWarn:
      return colours ? "\x1b[33m" : "";
    case Paint::kBad:
      return colours ? "\x1b[31m" : "";
    case Paint::kPlain:
      break;
  }
  return "";
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::size_t width_of(const ScreenLine& line) {
  std::size_t out = 0;
  for (const ScreenSpan& span : line) out += width_of(span.text);
  return out;
}

std::string cut(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  return std::string(text.substr(0, byte_of(text, columns - 1))) + "…";
}

void cut(ScreenLine& line, std::size_t columns) {
  std::size_t left = columns;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool more = i + 1 < line.size() && width_of(line[i].text) == left &&
                      std::any_of(line.begin() + static_cast<std::ptrdiff_t>(i) + 1, line.end(),
                                  [](const ScreenSpan& span) { return !span.text.empty(); });
    line[i].text = cut(more ? line[i].text + " " : line[i].text, left);
    left -= width_of(line[i].text);
    if (left == 0) return line.resize(i + 1);
  }
}

std::string plain(const ScreenLine& line) {
  std::string out;
  for (const ScreenSpan& span : line) out += span.text;
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

std::string painted(const ScreenLine& line, bool colours) {
  std::string out;
  for (const ScreenSpan& span : line) {
    const std::string_view paint = sequence_of(span.paint, colours);
    out += paint;
    out += span.text;
    if (!paint.empty()) out += "\x1b[0m";
  }
  return out;
}

std::string redraw(const std::vector<ScreenLine>& before, const std::vector<ScreenLine>& after,
                   bool colours) {
  std::string out;
  for (std::size_t i = 0; i < after.size(); ++i)
    if (i >= before.size() || before[i] != after[i])
      out += fmt::format("\x1b[{};1H{}\x1b[K", i + 1, painted(after[i], colours));
  return out;
}

std::vector<Key> take_keys(std::string& typed) {
  using What = Key::What;
  constexpr std::pair<std::string_view, What> kSequences[] = {
      {"\x1b[A", What::kUp},   {"\x1bOA", What::kUp},      {"\x1b[B", What::kDown},
      {"\x1bOB", What::kDown}, {"\x1b[5~", What::kPageUp}, {"\x1b[6~", What::kPageDown},
      {"\x1b[H", What::kHome}, {"\x1bOH", What::kHome},    {"\x1b[1~", What::kHome},
      {"\x1b[F", What::kEnd},  {"\x1bOF", What::kEnd},     {"\x1b[4~", What::kEnd}};
  std::vector<Key> out;
  std::string_view rest = typed;
  while (!rest.empty()) {
    if (rest[0] != '\x1b') {
      out.push_back({What::kChar, rest[0]});
      rest.remove_prefix(1);
      continue;
    }
    std::size_t taken = 0;
    bool begun = false;
    for (const auto& [sequence, what] : kSequences) {
      begun |= sequence.starts_with(rest);
      if (!rest.starts_with(sequence)) continue;
      out.push_back({what, 0});
      taken = sequence.size();
    }
    if (taken == 0 && begun) break;
    // A sequence that means nothing here ends with its first letter or tilde.
    if (taken == 0) {
      taken = 1;
      if (rest.size() > 1 && (rest[1] == '[' || rest[1] == 'O'))
        for (taken = 2; taken < rest.size(); ++taken)
          if (rest[taken] >= '@') break;
      taken = std::min(taken + (taken > 1 ? 1U : 0U), rest.size());
    }
    rest.remove_prefix(taken);
  }
  typed.assign(rest);
  return out;
}

}  // namespace sluice::host
