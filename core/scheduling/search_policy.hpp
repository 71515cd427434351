// The walk over flavors without a plugin, and with one (semantics 4, "Without the … plugin").
//
// Built in: go on unless the flavor fits, with or without borrowing; better is the better mode,
// then less borrowing; a scan position holds when it was recorded in the cycle before or the
// queue's generation has not grown. NoFit is worst and NoCandidates next to it whatever a plugin
// prefers.
#pragma once

#include "core/hooks/hooks.hpp"

namespace sluice {

bool better_outcome(const hooks::Hooks& hooks, hooks::QueueId queue, hooks::FlavorOutcome a,
                    hooks::FlavorOutcome b, hooks::Fault& fault);
hooks::SearchVerdict search_verdict(const hooks::Hooks& hooks, const hooks::SearchStep& step,
                                    hooks::Fault& fault);
bool keep_position(const hooks::Hooks& hooks, const hooks::PositionAge& age, hooks::Fault& fault);

}  // namespace sluice
