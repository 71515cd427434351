// Endless: sees that a simulation goes on for ever, and says what keeps it going.
//
// A workload whose pods are never ready is evicted, waits, is admitted and evicted again: under a
// virtual clock there is always a next instant. It is progress when an event of a Timeline happens
// or a workload comes, ends, is deactivated or goes. A workload that is evicted more often than
// limits of requeues allow without any progress goes round, and the simulation is endless when
// nothing is left that would bring progress: no event, and no end of a job but of those that go
// round themselves. So are very many instants without progress, whatever their reason, and very
// many at one and the same time. Where no workload is open any more, timers that go on are an end.
// Belongs to the simulation's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/workload_state.hpp"

namespace sluice::host {

class Endless {
 public:
  /// How often it has to be seen: backoffs have reached their longest wait by then.
  static constexpr std::uint32_t kRounds = 20;
  /// The same for instants, of whatever kind.
  static constexpr std::uint64_t kInstants = 1'000'000;

  /// `limit`: after so many requeues a workload is deactivated, which is progress.
  explicit Endless(std::optional<std::int32_t> limit)
      : rounds_(kRounds + static_cast<std::uint32_t>(limit.value_or(0))) {}

  /// Instants at one time: plugins that want to be called again at once, for ever.
  static constexpr std::uint64_t kAtOneTime = 100'000;
  /// Instants in which nothing happens, when all workloads have ended: only timers are left.
  static constexpr std::uint64_t kIdle = 1'000;

  void progressed(Duration at);
  void evicted(WorkloadId id, const std::string& reason);
  void instant_passed(Duration at);
  bool stands_still() const { return at_one_time_ >= kAtOneTime; }
  bool idles() const { return instants_ >= kIdle; }

  /// Cheap: whether it is worth asking what would still bring progress.
  bool suspected() const { return fresh_ || instants_ >= kInstants; }
  /// After suspected(), when progress is still to come: asks again after as many rounds.
  void cleared();
  /// The workload was evicted again and again since the last progress.
  bool goes_round(WorkloadId id) const {
    return id < counts_.size() && counts_[id].epoch == epoch_ && counts_[id].evictions >= rounds_;
  }

  /// The workload that keeps it going: the first that went round. nullopt: only instants pass.
  std::optional<WorkloadId> first() const { return first_; }
  std::size_t others() const { return going_round_ > 0 ? going_round_ - 1 : 0; }
  const std::string& reason() const { return reason_; }
  Duration last_progress() const { return last_progress_; }
  std::uint32_t rounds() const { return rounds_; }

 private:
  struct Count {
    std::uint64_t epoch = 0;  ///< of another one, it counts as 0
    std::uint32_t evictions = 0;
  };

  const std::uint32_t rounds_;
  std::uint64_t epoch_ = 1;    // grows with each progress
  std::vector<Count> counts_;  // per workload
  std::optional<WorkloadId> first_;
  std::string reason_;  // of the eviction of first_
  std::size_t going_round_ = 0;
  std::uint64_t instants_ = 0;     // since the last progress
  std::uint64_t at_one_time_ = 0;  // at the time of the last one
  Duration last_instant_ = -1;
  bool fresh_ = false;  // one more round since cleared()
  Duration last_progress_ = 0;
};

}  // namespace sluice::host
