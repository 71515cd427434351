// Waking: the parked workloads of a tree come back to their heaps, or stay where nothing could come
// of it.
//
// A wake is a decision (semantics 2): it counts as movement, each class of equals takes its turn in
// a cycle, and its reason is as of that wake. Where every class of a tree would be parked again
// with the same reasons, the wake is quiet: the cycles are counted, the amounts in the reasons are
// computed when they are read (parked_reasons.hpp), and no workload is looked at. To know that, it
// keeps per root and fr the least that a class lacks and the most that a class still has, so that a
// release costs what changed, not the number of queues. A tree with anything that it does not
// understand is woken. The engine's thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/engine/structure.hpp"
#include "core/scheduling/nominator.hpp"
#include "core/types/engine_config.hpp"

namespace sluice {

class Waking {
 public:
  Waking(Model& model, Structure& structure, const EngineConfig& config, const hooks::Hooks& hooks)
      : model_(model),
        structure_(structure),
        config_(config),
        hooks_(hooks),
        nominator_(model, config, hooks) {}

  struct Woken {
    bool trees = false;        ///< there were trees to wake
    bool workloads = false;    ///< something parked came back to its heap, or could have
    std::uint64_t cycles = 0;  ///< that those would take which could have
    std::uint64_t quiet = 0;   ///< trees in which nothing had to be looked at
  };
  /// Wakes the trees that are dirty. O(nodes + classes) of those in which something may come of
  /// it, O(what changed in them) of the others. `all`: whatever may come of it.
  /// REQUIRES: the tree is not stale.
  Woken wake(bool all);

 private:
  /// What a queue brings to its tree; made anew after each change in it.
  struct Summary {
    struct Limits {
      FrId fr = kNone;
      std::optional<Amount> lacks;  ///< a class fits from here on: available in the queue
      std::optional<Amount> has;    ///< a class no longer fits below this
    };
    std::size_t classes = 0;
    std::vector<Limits> limits;
    std::vector<std::pair<FrId, Amount>> lacks_at_root, has_at_root;  ///< as they are listed
  };
  using Listed = std::set<std::pair<Amount, QueueId>>;
  struct Tree {
    std::set<QueueId> noted;                     ///< have no summary that holds
    std::map<std::size_t, std::size_t> classes;  ///< how many queues have so many
    std::map<FrId, Listed> lacks, has;           ///< available at the root, never empty
    std::set<QueueId> with_empty;                ///< have parked classes without members
  };
  /// What the outcome of a parked class depends on, beside its comparisons.
  enum class Rests : std::uint8_t { kOnNothing, kOnQueue, kOnMore };

  void sort_notes();
  bool can_be_quiet() const;
  bool is_quiet(NodeId root);
  bool summarize(Tree& tree, QueueId id);
  void withdraw(Tree& tree, QueueId id);
  bool add_class(const QueueRecord& queue, const Grounds& grounds, Summary& out) const;
  bool list_at_root(const QueueRecord& queue, Summary& summary) const;
  bool somebody_may_fit(NodeId root, const Tree& tree) const;
  bool is_as_before(const QueueRecord& queue, WorkloadId first, Grounds& grounds,
                    const PendingReason& why);
  Rests rests(const QueueRecord& queue, const Grounds& grounds) const;
  bool answer_may_flip(const QueueRecord& queue, const Grounds& grounds) const;
  Amount freed_by_own(const QueueRecord& queue, const WorkloadRecord& w, FrId fr) const;
  bool is_flat(QueueId queue) const;
  bool wake_all(NodeId root);

  Model& model_;
  Structure& structure_;
  const EngineConfig& config_;
  const hooks::Hooks& hooks_;
  Nominator nominator_;
  Nomination nomination_;
  std::uint64_t epoch_ = 0;
  std::unordered_map<NodeId, Tree> trees_;
  std::unordered_map<QueueId, Summary> summaries_;
};

}  // namespace sluice
