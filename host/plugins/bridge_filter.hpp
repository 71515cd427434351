// FilterBridge and VetoBridge: the unions over all plugins that filter flavors or veto preemptions.
//
// A plugin's answers of one call count as a whole or, when it faults, not at all; with failure
// policy closed the fault is handed to the engine (and a faulting veto is a veto). May be called
// from many threads at once.
#pragma once

#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

class FilterBridge final : public hooks::FlavorFilter {
 public:
  explicit FilterBridge(std::vector<LoadedPlugin*> plugins) : plugins_(std::move(plugins)) {}
  void filter(const hooks::FilterQuery& query, hooks::FilterAnswer& answer,
              hooks::Fault& fault) const override;

 private:
  std::vector<LoadedPlugin*> plugins_;
};

class VetoBridge final : public hooks::PreemptionVeto {
 public:
  explicit VetoBridge(std::vector<LoadedPlugin*> plugins) : plugins_(std::move(plugins)) {}
  void veto(const hooks::VetoQuery& query, hooks::VetoAnswer& answer,
            hooks::Fault& fault) const override;

 private:
  std::vector<LoadedPlugin*> plugins_;
};

}  // namespace sluice::host
