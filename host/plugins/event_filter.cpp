#include "host/plugins/event_filter.hpp"

#include <string_view>

#include "host/plugins/process/words.hpp"
#include "sluice/ext/post_admit.h"

namespace sluice::host {

static_assert(std::size(kEventWords) == SLUICE_EVENT_FINISHED + 1);

EventFilter EventFilter::everything() {
  EventFilter out;
  out.claimed_ = out.others_ = ~std::uint32_t{0};
  return out;
}

Result<EventFilter> EventFilter::parse(const std::vector<std::string>& lines) {
  if (lines.empty()) return everything();
  EventFilter out;
  for (const std::string& line : lines) {
    const std::string_view text = line;
    const std::size_t space = text.find(' ');
    const std::int32_t event = number_of(text.substr(0, space), kEventWords, -1);
    const bool claimed = space != std::string_view::npos;
    if (event < 0 || (claimed && text.substr(space + 1) != "claimed")) {
      std::string events;
      for (const std::string_view word : kEventWords)
        events += (events.empty() ? "" : ", ") + std::string(word);
      return Error{"it wants to be told of \"" + line + "\"; an event is one of " + events +
                   ", and only ` claimed` may stand behind it"};
    }
    const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(event);
    out.claimed_ |= bit;
    if (!claimed) out.others_ |= bit;
  }
  return out;
}

}  // namespace sluice::host
