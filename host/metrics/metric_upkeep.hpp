// MetricUpkeep: what is counted and timed of a queue, a cohort or a workload goes when that is
// deleted, as Kueue's does: or a host whose namespaces come and go would tell of more and more.
//
// Kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.hpp"
#include "host/metrics/decision_metrics.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class MetricUpkeep final : public Controller {
 public:
  /// All must outlive it.
  MetricUpkeep(const api::Scheme& scheme, const Engine& engine, DecisionMetrics& decisions);

  std::string_view name() const override { return "metric-upkeep"; }
  std::vector<std::string> watches() const override;
  /// Keys are queues that were deleted, and one for all cohorts.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  void loaded(const ObjectChange&, std::vector<WorkKey>&) override {}
  bool loads_apart() const override { return true; }
  bool follows(const StoredObject&) const override { return false; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  const Engine& engine_;
  DecisionMetrics& decisions_;
  const api::KindInfo* workloads_;
  const api::KindInfo* queues_;
  const api::KindInfo* local_queues_;
  const api::KindInfo* cohorts_;
};

}  // namespace sluice::host
