#include "explanations.hpp"

#include <algorithm>

#include "cases.hpp"
#include "forecast.hpp"
#include "telling.hpp"

namespace clusters {

std::int64_t Explanations::now_ms() const { return context_.now() / kMillisecond; }

Explanations::Known Explanations::of(const std::string& cluster, const std::string& ns,
                                     const std::string& name) {
  const std::int64_t now = now_ms();
  const auto silent = silent_until_ms_.find(cluster);
  if (silent != silent_until_ms_.end() && silent->second > now) return {};
  const Key key(cluster, ns, name);
  if (!kept_.contains(key)) make_room();
  Kept& kept = kept_[key];
  const bool fresh = kept.told_ms != 0 && now - kept.told_ms < kFresh;
  const bool under_way = kept.awaited && now - kept.asked_ms < kPatience;
  if (!fresh && !under_way) {
    const sluice::ObjectRef ref{std::string(kWhatIfVersion), std::string(kExplanationKind), ns,
                                name};
    kept.awaited = static_cast<bool>(context_.remotes().ask_of(cluster, ref));
    kept.asked_ms = now;
  }
  const bool holds = kept.told_ms != 0 && now - kept.told_ms < kHolds;
  return {holds ? kept.lines : std::vector<std::string>(), kept.awaited};
}

void Explanations::hear(const sluice::ObjectRef& answer) {
  const auto told = context_.remotes().answer(answer.remote, answer);
  const auto kept = kept_.find({answer.remote, answer.ns, answer.name});
  if (!told || told->waiting || kept == kept_.end()) return;
  kept->second.awaited = false;
  kept->second.told_ms = now_ms();
  kept->second.lines.clear();
  if (told->answer)
    kept->second.lines = explained_by(answer.remote, *told->answer);
  else if (told->code != 0)
    silent_until_ms_[answer.remote] = now_ms() + kSilent;
}

void Explanations::make_room() {
  if (kept_.size() < kMost) return;
  kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& one, const auto& other) {
    return one.second.asked_ms < other.second.asked_ms;
  }));
}

}  // namespace clusters
