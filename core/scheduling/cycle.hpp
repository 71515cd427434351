// Cycle: one head per active queue, nominated, put in order, and processed (semantics 3).
//
// Before the heads come the rechecks (recheck.hpp). run() decides and leaves the model as it was;
// the engine then commits what the rechecks and entries say, in their order. Nomination is parallel
// over roots; everything else happens on the caller's thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/model/removal.hpp"
#include "core/scheduling/entry.hpp"
#include "core/scheduling/recheck.hpp"

namespace sluice {

/// Runs body(0) … body(n-1), in parallel when it pays; results must not depend on the order.
using ParallelFor =
    std::function<void(std::size_t n, const std::function<void(std::size_t)>& body)>;

class Cycle {
 public:
  Cycle(Model& model, const EngineConfig& config, const hooks::Hooks& hooks,
        const ParallelFor& parallel_for)
      : model_(model), config_(config), hooks_(hooks), parallel_for_(parallel_for) {}

  /// `heads` carry id, queue and key, `rechecks` id, key and what for, in order; out come
  /// nomination and status. The answer is the order in which the heads were processed.
  std::vector<std::size_t> run(std::span<Entry> heads, std::span<Recheck> rechecks);

 private:
  void nominate(std::span<Entry> heads);
  void process(Entry& entry);
  void look_again(Recheck& recheck);
  RecheckStatus judge(Recheck& recheck) const;
  bool starts_at_once(const Entry& entry) const;
  bool holds_preemptions_back(const Entry& entry) const;
  bool fits_what_runs(const OrderKey& key, QueueId queue, std::span<const FrAmount> usage,
                      std::span<const Victim> victims) const;
  void remove_waiting_behind(const OrderKey& key, QueueId queue, Removal& gone) const;
  void admit_in_this_cycle(WorkloadId id);
  void set_aside(const Entry& entry);
  bool overlaps(const Entry& entry) const;
  bool lost_to_group(WorkloadId candidate) const;
  bool fits_now(const Entry& entry) const;
  void add_victim(WorkloadId id);
  bool run_on(std::span<const Victim> victims);
  std::span<const WorkloadId> victims_under(QueueId queue) const;
  void take(const Entry& entry);
  void add_for_this_cycle(QueueId queue, std::vector<FrAmount> usage);

  struct Taken {
    QueueId queue;
    std::vector<FrAmount> usage;
  };

  Model& model_;
  const EngineConfig& config_;
  const hooks::Hooks& hooks_;
  const ParallelFor& parallel_for_;
  std::vector<Taken> taken_;                ///< undone at the end of run()
  std::vector<Taken> held_;                 ///< those of them that wait for what runs on
  std::unordered_set<WorkloadId> planned_;  ///< victims that run on after this cycle
  bool late_ = false;                       ///< some of them because they end later
  std::unordered_map<NodeId, std::vector<WorkloadId>> victims_of_root_;
  std::unordered_set<WorkloadId> victims_;  ///< those of all roots
  std::unique_ptr<Removal> replaced_;       ///< ended by entries that reserved
  std::vector<WorkloadId> ended_;           ///< the same, also those that wait
  std::vector<WorkloadId> reserved_;        ///< entries of exclusive groups
};

}  // namespace sluice
