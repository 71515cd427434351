#include "core/scheduling/search_policy.hpp"

namespace sluice {

using hooks::Mode;

bool better_outcome(const hooks::Hooks& hooks, hooks::QueueId queue, hooks::FlavorOutcome a,
                    hooks::FlavorOutcome b, hooks::Fault& fault) {
  const bool both_possible = a.mode > Mode::kNoCandidates && b.mode > Mode::kNoCandidates;
  if (hooks.flavor_search && both_possible)
    if (const auto answer = hooks.flavor_search->better(queue, a, b, fault)) return *answer;
  return a.mode != b.mode ? a.mode > b.mode : a.borrow_level < b.borrow_level;
}

hooks::SearchVerdict search_verdict(const hooks::Hooks& hooks, const hooks::SearchStep& step,
                                    hooks::Fault& fault) {
  if (hooks.flavor_search)
    if (const auto answer = hooks.flavor_search->after_flavor(step, fault)) return *answer;
  return step.current.mode == Mode::kFit ? hooks::SearchVerdict::kStopHere
                                         : hooks::SearchVerdict::kGoOn;
}

bool keep_position(const hooks::Hooks& hooks, const hooks::PositionAge& age, hooks::Fault& fault) {
  if (hooks.flavor_search)
    if (const auto answer = hooks.flavor_search->keep_position(age, fault)) return *answer;
  return age.cycles == 1 || age.queue_generations == 0;
}

}  // namespace sluice
