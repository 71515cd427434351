// DecisionMetrics: what was decided about workloads, counted and timed under Kueue's names.
//
// One per Engine; the counters behind it outlive it. Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "core/engine/cohort_views.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/queue_views.hpp"
#include "host/kernel/kernel.hpp"
#include "host/metrics/metrics.hpp"

namespace sluice::host {

class DecisionMetrics final : public DecisionObserver {
 public:
  /// Both must outlive it.
  DecisionMetrics(const Engine& engine, HostMetrics& metrics)
      : engine_(engine), metrics_(metrics) {}

  void decided(Time now, const Decision& decision) override;
  void cycled(const CycleReport& cycle) override;
  void pods_ready(Time now, WorkloadId workload) override;

  /// By ClusterQueue: who would have preempted in the last cycle, had others not done so before.
  const std::map<std::string, std::size_t>& preemption_skips() const { return skips_; }

 private:
  struct About;
  About about(WorkloadId id) const;
  void decided_for_another(Time now, const Decision& decision);
  void reserved(Time now, const About& about);
  void admitted(Time now, const About& about);
  void evicted(Time now, const Decision& decision, const About& about);
  void finished(Time now, const About& about);
  void both(const std::string& name, const std::string& help, const About& about);
  void both_times(const std::string& name, const std::string& help, const About& about,
                  Duration time, int buckets, int local_buckets);

  const Engine& engine_;
  HostMetrics& metrics_;
  std::unordered_map<std::string, Time> evicted_at_;   // by UID: the last time
  std::unordered_map<std::string, Time> ready_since_;  // by UID
  std::map<std::string, std::size_t> skips_, skips_of_cycle_;
};

}  // namespace sluice::host
