// The decision table of KEP-582 for one ClusterQueue, and the order in which results are preferred.
//
// Pure functions over plain values, without the SDK's calls: what the tests tabulate. Any thread.
#pragma once

#include <sluice/plugin.hpp>

namespace fungibility {

/// Where the measured behaviour and the letter of the proposal differ (README.md lists the cases).
enum class Letter : std::uint8_t { kMeasured, kProposal };

/// What `spec.flavorFungibility` of a queue comes to.
struct Policy {
  bool stop_when_borrowing = true;     ///< whenCanBorrow: Borrow
  bool stop_when_preempting = false;   ///< whenCanPreempt: Preempt
  bool avoid_borrowing_first = false;  ///< preference: PreemptionOverBorrowing
  bool operator==(const Policy&) const = default;
};

/// The policy that a ClusterQueue's object states. `implicit_preference`: the proposal's switch,
/// for queues that state no preference.
Policy policy_of(const sluice::Json& cluster_queue, bool implicit_preference);

/// After one flavor was tried: go on, or stop?
inline sluice::Search after_flavor(const Policy& policy, Letter letter, sluice::Outcome tried) {
  using sluice::Mode;
  if (tried.mode == Mode::kNoFit || tried.mode == Mode::kNoCandidates) return sluice::Search::kGoOn;
  const bool preempts = tried.mode != Mode::kFit;
  const bool borrows = tried.borrow_level > 0;
  if (preempts && !policy.stop_when_preempting) return sluice::Search::kGoOn;
  // Also where it preempts: with the victims gone it fits by borrowing, and the search would leave
  // it for the next flavor then. They would have been evicted for nothing.
  if (borrows && !policy.stop_when_borrowing) return sluice::Search::kGoOn;
  return letter == Letter::kProposal ? sluice::Search::kStopBest : sluice::Search::kStopHere;
}

/// Is a strictly better than b?
inline bool better(const Policy& policy, sluice::Outcome a, sluice::Outcome b) {
  if (policy.avoid_borrowing_first && a.borrow_level != b.borrow_level)
    return a.borrow_level < b.borrow_level;
  if (a.mode != b.mode) return a.mode > b.mode;
  return a.borrow_level < b.borrow_level;
}

/// Does a recorded scan position still hold?
inline bool keep_position(Letter letter, const sluice::PositionAge& age) {
  if (letter == Letter::kProposal) return age.queue_generations == 0 && age.tree_generations == 0;
  return age.cycles <= 1 || age.queue_generations == 0;
}

}  // namespace fungibility
