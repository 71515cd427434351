#include "host/plugins/bridge_search.hpp"

namespace sluice::host {

namespace {

using hooks::Mode;
using hooks::SearchVerdict;

static_assert(static_cast<int>(Mode::kNoFit) == SLUICE_MODE_NO_FIT);
static_assert(static_cast<int>(Mode::kNoCandidates) == SLUICE_MODE_NO_CANDIDATES);
static_assert(static_cast<int>(Mode::kPreempt) == SLUICE_MODE_PREEMPT);
static_assert(static_cast<int>(Mode::kReclaim) == SLUICE_MODE_RECLAIM);
static_assert(static_cast<int>(Mode::kFit) == SLUICE_MODE_FIT);
static_assert(static_cast<int>(SearchVerdict::kGoOn) == SLUICE_SEARCH_GO_ON);
static_assert(static_cast<int>(SearchVerdict::kStopHere) == SLUICE_SEARCH_STOP_HERE);
static_assert(static_cast<int>(SearchVerdict::kStopBest) == SLUICE_SEARCH_STOP_BEST);

sluice_outcome_t raw(hooks::FlavorOutcome outcome) {
  return {static_cast<std::int32_t>(outcome.mode), outcome.borrow_level};
}

Nonsense unless_flag(std::int32_t value) {
  Nonsense nonsense;
  if (value != 0 && value != 1) nonsense.note("it is neither 0 nor 1");
  return nonsense;
}

Nonsense unless_verdict(std::int32_t verdict) {
  Nonsense nonsense;
  if (verdict < SLUICE_SEARCH_GO_ON || verdict > SLUICE_SEARCH_STOP_BEST)
    nonsense.note("there is no such verdict");
  return nonsense;
}

}  // namespace

void WatchBridge::queue_changed(hooks::QueueId id, const api::ClusterQueue& queue) {
  const sluice_queue_t raw_queue{sizeof(sluice_queue_t), id, abi_of(queue.meta.name),
                                 abi_of(queue.json)};
  for (LoadedPlugin* plugin : watchers_) {
    hooks::Fault fault;  // counted and logged; the queue keeps what the plugin knew before
    plugin->call(Hook::kQueueChanged, fault, [&] {
      return plugin->extensions().queue_watch->queue_changed(plugin->self(), &raw_queue);
    });
  }
}

std::optional<SearchVerdict> SearchBridge::after_flavor(const hooks::SearchStep& step,
                                                        hooks::Fault& fault) const {
  const sluice_search_step_t raw_step{
      sizeof(sluice_search_step_t), step.queue, raw(step.current), raw(step.best),
      step.has_best ? 1 : 0,        0};
  std::int32_t verdict = -1;
  const Answer answer = provider_.call(Hook::kAfterFlavor, fault, [&] {
    const std::int32_t code =
        provider_.extensions().search->after_flavor(provider_.self(), &raw_step, &verdict);
    return provider_.judged(code, unless_verdict(verdict));
  });
  if (answer == Answer::kOk) return static_cast<SearchVerdict>(verdict);
  return std::nullopt;
}

std::optional<bool> SearchBridge::better(hooks::QueueId queue, hooks::FlavorOutcome a,
                                         hooks::FlavorOutcome b, hooks::Fault& fault) const {
  const sluice_search_pair_t pair{sizeof(sluice_search_pair_t), queue, raw(a), raw(b)};
  std::int32_t out = -1;
  const Answer answer = provider_.call(Hook::kBetter, fault, [&] {
    const std::int32_t code = provider_.extensions().search->better(provider_.self(), &pair, &out);
    return provider_.judged(code, unless_flag(out));
  });
  if (answer == Answer::kOk) return out == 1;
  return std::nullopt;
}

std::optional<bool> SearchBridge::keep_position(const hooks::PositionAge& age,
                                                hooks::Fault& fault) const {
  const sluice_position_age_t raw_age{sizeof(sluice_position_age_t), age.queue, age.cycles,
                                      age.queue_generations, age.tree_generations};
  std::int32_t out = -1;
  const Answer answer = provider_.call(Hook::kKeepPosition, fault, [&] {
    const std::int32_t code =
        provider_.extensions().search->keep_position(provider_.self(), &raw_age, &out);
    return provider_.judged(code, unless_flag(out));
  });
  if (answer == Answer::kOk) return out == 1;
  return std::nullopt;
}

}  // namespace sluice::host
