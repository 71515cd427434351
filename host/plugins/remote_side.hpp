// RemoteSide: other places as the calls of one plugin see them: the port to them while there is
// one, and what the call that runs wants written there, which leaves when the call succeeded.
//
// Belongs to the control thread, as its HostSide's calls do.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/plugins/remote_port.hpp"

namespace sluice::host {

class RemoteSide {
 public:
  explicit RemoteSide(std::string plugin) : plugin_(std::move(plugin)) {}

  /// nullptr: nothing of other places is reached.
  void connect(RemoteObjectsPort* port) { port_ = port; }
  RemoteObjectsPort* port() const { return port_; }

  /// What the plugin has to look at since the last time.
  std::vector<RemoteChange> take_changes() {
    return port_ ? port_->take_changes(plugin_) : std::vector<RemoteChange>();
  }

  /// Of the call that runs, checked.
  std::vector<RemoteWrite>& writes() { return writes_; }
  /// The call ends: they are on their way, or dropped.
  void end_call(bool keep) {
    std::vector<RemoteWrite> writes = std::exchange(writes_, {});
    if (keep && port_ && !writes.empty()) port_->submit(plugin_, std::move(writes));
  }

 private:
  const std::string plugin_;
  RemoteObjectsPort* port_ = nullptr;
  std::vector<RemoteWrite> writes_;
};

}  // namespace sluice::host
