#include "host/history/run.hpp"

#include <algorithm>

namespace sluice::host {

std::string_view to_text(Outcome outcome) {
  constexpr std::string_view kOutcomeTexts[kOutcomes] = {
      "", "Finished", "Failed", "Evicted", "ReservationLost", "Deleted", "Superseded"};
  return kOutcomeTexts[static_cast<std::size_t>(outcome)];
}

void hold(Run& run, const std::vector<HeldAmount>& amounts, Millis now) {
  const auto same = [](const HeldAmount& a, const HeldAmount& b) {
    return a.flavor == b.flavor && a.resource == b.resource;
  };
  const Millis at = std::max(now, run.since);
  for (HeldAmount& each : run.holds) {
    each.spent += each.now * (at - run.since);
    each.now = 0;
  }
  run.since = at;
  for (const HeldAmount& wanted : amounts) {
    const auto known = std::find_if(run.holds.begin(), run.holds.end(),
                                    [&](const HeldAmount& each) { return same(each, wanted); });
    HeldAmount& into = known != run.holds.end()
                           ? *known
                           : run.holds.emplace_back(HeldAmount{wanted.flavor, wanted.resource});
    into.now = wanted.now;
    into.most = std::max(into.most, wanted.now);
  }
  std::sort(run.holds.begin(), run.holds.end(), [](const HeldAmount& a, const HeldAmount& b) {
    return a.flavor != b.flavor ? a.flavor < b.flavor : a.resource < b.resource;
  });
}

}  // namespace sluice::host
