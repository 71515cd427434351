// OrderBridge: the one plugin that says in which order ClusterQueues take what waits in them.
//
// What it does not answer properly is an Ordering with a fault, whatever the failure policy: then
// the built-in order holds. Called by one thread at a time.
#pragma once

#include "core/hooks/hooks.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

class OrderBridge final : public hooks::QueueOrder {
 public:
  explicit OrderBridge(LoadedPlugin& provider) : provider_(provider) {}

  void local_queue(const hooks::OrderQuery& query, hooks::Ordering& out) override;
  bool orders_workloads() const override;
  /// The key of one workload. REQUIRES: orders_workloads().
  void workload(const api::Workload& workload, hooks::Ordering& out);

 private:
  LoadedPlugin& provider_;
};

}  // namespace sluice::host
