// QueueStatusController: the statuses of ClusterQueues, LocalQueues and Cohorts, as the engine sees
// them.
//
// Whatever happens, each status is written at most every 100 ms, and less often where many queues
// change at the same time, 500 of them a second; the last change is always shown. Kernel's thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/cohort_views.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/queue_views.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class QueueStatusController final : public Controller {
 public:
  /// `engine` must outlive it; `fair_sharing`: weighted shares are shown.
  QueueStatusController(const api::Scheme& scheme, const Engine& engine, bool fair_sharing);

  std::string_view name() const override { return "queue-status"; }
  std::vector<std::string> watches() const override;
  /// Keys are ClusterQueues, and one for all Cohorts.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  void loaded(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  WorkKey all_cohorts() const { return {cohorts_, {}}; }
  void place_local_queue(const ObjectChange& change, std::vector<WorkKey>& keys);
  std::vector<std::string> queues_of(const ObjectChange& workload) const;
  Result<void> write_queue(const std::string& name, ObjectAccess& objects);
  Result<void> write_local_queue(const std::string& key, const QueueView* queue,
                                 ObjectAccess& objects);
  Result<void> write_cohorts(ObjectAccess& objects);

  const Engine& engine_;
  bool fair_sharing_;
  const api::KindInfo* workloads_;
  const api::KindInfo* cluster_queues_;
  const api::KindInfo* local_queues_;
  const api::KindInfo* cohorts_;
  const api::KindInfo* checks_;
  std::map<std::string, std::set<std::string>> locals_of_;  // ClusterQueue → LocalQueues
  std::map<std::string, std::string> queue_of_local_;
  std::map<WorkKey, Time> written_;  // when last
  std::map<WorkKey, Time> due_;      // when next, of keys that were named
};

}  // namespace sluice::host
