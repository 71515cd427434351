// SearchBridge and WatchBridge: the engine's flavor search, answered by the one plugin that
// provides it, and the plugins that watch queues.
//
// When the provider faults it has no answer, and with a closed failure policy the fault is handed
// on; what holds without an answer stands in core alone. Cycle hooks may be called from many
// threads.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

class SearchBridge final : public hooks::FlavorSearch {
 public:
  /// `provider` outlives the bridge.
  explicit SearchBridge(LoadedPlugin& provider) : provider_(provider) {}

  std::optional<hooks::SearchVerdict> after_flavor(const hooks::SearchStep& step,
                                                   hooks::Fault& fault) const override;
  std::optional<bool> better(hooks::QueueId queue, hooks::FlavorOutcome a, hooks::FlavorOutcome b,
                             hooks::Fault& fault) const override;
  std::optional<bool> keep_position(const hooks::PositionAge& age,
                                    hooks::Fault& fault) const override;

 private:
  LoadedPlugin& provider_;
};

class WatchBridge final : public hooks::QueueWatch {
 public:
  /// The watchers outlive the bridge.
  explicit WatchBridge(std::vector<LoadedPlugin*> watchers) : watchers_(std::move(watchers)) {}

  void queue_changed(hooks::QueueId id, const api::ClusterQueue& queue) override;

 private:
  std::vector<LoadedPlugin*> watchers_;
};

}  // namespace sluice::host
