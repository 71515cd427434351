// TraitsBridge: what all plugins together say about one workload.
//
// Each trait has at most one provider per workload; a second answer becomes Traits::conflict, which
// names both plugins. Shape keys of flavor filters are added to the shape key. Called by one thread
// at a time.
#pragma once

#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/plugins/bridge_order.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

class TraitsBridge final : public hooks::WorkloadTraits {
 public:
  /// `filters`: those with a shape key; `order`: what has keys of workloads, or null.
  TraitsBridge(std::vector<LoadedPlugin*> plugins, std::vector<LoadedPlugin*> filters,
               OrderBridge* order)
      : plugins_(std::move(plugins)), filters_(std::move(filters)), order_(order) {}

  void traits(const hooks::TraitsQuery& query, hooks::TraitsAnswer& out,
              hooks::Fault& fault) override;

 private:
  std::vector<LoadedPlugin*> plugins_;
  std::vector<LoadedPlugin*> filters_;
  OrderBridge* order_;
};

}  // namespace sluice::host
