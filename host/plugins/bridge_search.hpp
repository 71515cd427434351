// SearchBridge: the engine's flavor search, answered by the one plugin that provides it.
//
// Also where plugins that watch queues hear of them. Without a provider, or when the provider's
// failure policy is open and it faults, the built-in policy answers: go on unless Fit, prefer by
// mode, then by less borrowing. Cycle hooks may be called from many threads.
#pragma once

#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

class SearchBridge final : public hooks::FlavorSearch {
 public:
  /// `provider` may be null. All outlive the bridge.
  SearchBridge(LoadedPlugin* provider, std::vector<LoadedPlugin*> watchers)
      : provider_(provider), watchers_(std::move(watchers)) {}

  void queue_changed(hooks::QueueId id, const api::ClusterQueue& queue) override;
  hooks::SearchVerdict after_flavor(const hooks::SearchStep& step,
                                    hooks::Fault& fault) const override;
  bool better(hooks::QueueId queue, hooks::FlavorOutcome a, hooks::FlavorOutcome b,
              hooks::Fault& fault) const override;
  bool keep_position(const hooks::PositionAge& age, hooks::Fault& fault) const override;

 private:
  LoadedPlugin* provider_;
  std::vector<LoadedPlugin*> watchers_;
};

}  // namespace sluice::host
