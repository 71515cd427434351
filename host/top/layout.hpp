// What `sluice top` puts on the screen: from what is known and how large the terminal is to lines
// of painted text, and from a key to what is looked at next. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "host/top/model.hpp"
#include "host/top/screen.hpp"

namespace sluice::host {

enum class TopPane : std::uint8_t { kBoth, kQueues, kWorkloads };

/// Where the user is looking.
struct TopLook {
  TopQuery query;
  TopPane pane = TopPane::kBoth;
  std::size_t down = 0;  ///< lines that were scrolled past in the pane that scrolls
};

struct TopFrame {
  TerminalSize size;
  Time now = 0;
  std::string server;  ///< the server that was asked
  std::string note;    ///< what a person should know first; empty: all is well
};

/// Exactly as many lines as the terminal has, none wider than it.
std::vector<ScreenLine> top_lines(const TopView& view, const TopLook& look, const TopFrame& frame);

/// Everything, one line after the other, without paint: for pipes and files.
std::string top_text(const TopView& view, Time now);

/// What the key does; false: it is enough. `view` and `size`: what is shown now.
bool press(TopLook& look, const Key& key, const TopView& view, TerminalSize size);

/// What to ask of the model for a screen of this size.
TopQuery query_for(const TopLook& look, TerminalSize size);

/// The word of a sort for --sort, and the other way round; REQUIRES: it is one of sort_words().
std::string_view word_of(TopSort sort);
TopSort sort_of(std::string_view word);
std::vector<std::string> sort_words();

}  // namespace sluice::host
