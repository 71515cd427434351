// DecisionMetrics: what was decided about workloads, counted and timed under Kueue's names.
//
// One per Engine; the counters behind it outlive it. Belongs to the kernel's thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "core/engine/cohort_views.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/queue_views.hpp"
#include "core/engine/workload_views.hpp"
#include "host/kernel/kernel.hpp"
#include "host/metrics/label_words.hpp"
#include "host/metrics/metrics.hpp"
#include "host/objects/intake.hpp"

namespace sluice::host {

class DecisionMetrics final : public DecisionObserver {
 public:
  /// All must outlive it. A class that is not among `classes` is no label: users name what they
  /// like.
  DecisionMetrics(const Engine& engine, const PriorityClasses& classes, HostMetrics& metrics);

  // What is told of something ends with it: who knows that it is gone says so.
  void forget_cluster_queue(const std::string& name);
  void forget_local_queue(const std::string& ns, const std::string& name);
  /// All of which there are neither objects nor queues any more. O(cohorts).
  void forget_cohorts();
  void forget_workload(const std::string& uid);

  void decided(Time now, const Decision& decision) override;
  void cycled(const CycleReport& cycle) override;
  void pods_ready(Time now, WorkloadId workload) override;

  /// By ClusterQueue: workloads that would have preempted, had others not done so before; of the
  /// last cycle in which there were some.
  const std::map<std::string, std::size_t>& preemption_skips() const { return skips_; }

 private:
  /// What is recorded of a ClusterQueue and of a LocalQueue alike.
  enum class Told : std::uint8_t {
    kReserved,
    kReservedWait,
    kAdmitted,
    kAdmissionWait,
    kChecksWait,
    kReadyWait,
    kReadyAfterAdmission,
    kFinished,
    kExecution,
  };
  static constexpr std::size_t kTold = 9;

  /// Where it goes, for one priority class in one pair of queues. Made at first use; nowhere as
  /// long as there is no such queue.
  struct Series {
    struct Pair {
      std::function<void(double)> cluster_queue, local_queue;
    };
    std::array<Pair, kTold> of;
  };

  /// An eviction whose quota is held until its pods have ended, from its decision on.
  struct Ending {
    Time since = 0;
    std::string cluster_queue, reason;
  };

  struct About;
  About about(WorkloadId id);
  void decided_for_another(Time now, const Decision& decision);
  void reserved(Time now, const About& about);
  void admitted(Time now, const About& about);
  void evicted(Time now, const Decision& decision, const About& about);
  void released(Time now, WorkloadId id);
  void time_eviction(const Ending& of, Time now);
  void preempted(const Decision& decision);
  std::string class_label(const api::Workload& workload) const;
  bool is_there(const About& about) const;        ///< its ClusterQueue
  bool local_is_there(const About& about) const;  ///< its LocalQueue
  void finished(Time now, const About& about);
  void tell(Told what, const About& about, double value);
  Series::Pair make(Told what, const About& about);
  void count(Told what, const About& about) { tell(what, about, 1); }
  void time(Told what, const About& about, Duration time);

  const Engine& engine_;
  const PriorityClasses& classes_;
  HostMetrics& metrics_;
  LabelWords reasons_, causes_;  // of evictions: a status may say any, and so may a plugin
  std::unordered_map<std::string, Time> evicted_at_;   // by UID: the last time
  std::unordered_map<std::string, Time> ready_since_;  // by UID
  std::unordered_map<std::string, Ending> endings_;    // by UID
  std::map<std::string, std::size_t> skips_, skips_of_cycle_;
  std::unordered_map<std::string, Series> series_;  // by ClusterQueue, LocalQueue, class
  std::string series_key_;                          // reused
};

}  // namespace sluice::host
