// ControllerBridge: one plugin that provides controller/1.
//
// Called by one thread at a time; what a reconcile wrote takes effect when it succeeded.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/plugins/loaded_plugin.hpp"
#include "host/plugins/remote_port.hpp"

namespace sluice::host {

/// A kind that a plugin watches, and which of its objects (ext/controller.h).
struct WatchedKind {
  std::string api_version, kind;
  bool claimed = false;   ///< only workloads that the plugin claims
  bool by_owner = false;  ///< named by their controlling owner, where that is watched
  std::string has;        ///< only objects that have this field; empty: all
  std::string labels;     ///< only objects that this selector of labels matches; empty: all
  bool operator==(const WatchedKind&) const = default;
};

class ControllerBridge {
 public:
  /// Asks the plugin for its kinds.
  static Result<ControllerBridge> make(LoadedPlugin& plugin);

  const std::string& plugin() const { return plugin_->name(); }
  const std::vector<WatchedKind>& kinds() const { return kinds_; }

  /// How long the next reconcile should wait, so that others have their turn; 0: not at all.
  Duration pause() const { return plugin_->pause(); }

  /// It has a process of its own, which is not there.
  bool away() const { return plugin_->away(); }

  /// Whether the plugin was started again since the last call: it has to be told of everything.
  bool take_restarted() { return watch_.take_restarted(); }

  /// What of other places it has to look at since the last time.
  std::vector<RemoteChange> take_remote_changes() {
    return plugin_->host_side().elsewhere().take_changes();
  }

  /// When the object is to be looked at again, from now (0: at once); kNever: when something
  /// changes. An error has the plugin's name in it.
  using Looked = Result<Duration>;
  /// Of an object of this place (no remote), of another one, or, without a kind, of that place.
  /// nullopt: `later` is called with the answer.
  std::optional<Looked> reconcile(RemoteChange what, std::function<void(Looked)> later);

 private:
  explicit ControllerBridge(LoadedPlugin& plugin) : plugin_(&plugin), watch_(plugin) {}

  LoadedPlugin* plugin_;
  RestartWatch watch_;
  std::vector<WatchedKind> kinds_;
};

}  // namespace sluice::host
