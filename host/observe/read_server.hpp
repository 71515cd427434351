// ReadServer: the API of a process that follows a cluster: as a host's, for reading only, and for
// asking what would be. Changes are made in the cluster itself.
//
// open() and stop() are for one thread; requests may come from any, and are answered 503 until
// attach().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/access/host_authenticator.hpp"
#include "host/access/key_renewal.hpp"
#include "host/apiserver/api_server.hpp"
#include "host/apiserver/listener.hpp"
#include "host/config/config.hpp"
#include "host/observe/read_only.hpp"
#include "host/plugins/clock.hpp"
#include "host/serve/telemetry.hpp"

namespace sluice::host {

class ReadServer {
 public:
  /// What is shown: `kinds`. All must outlive it.
  ReadServer(const api::Scheme& scheme, const std::vector<FollowedKind>& kinds,
             const PluginClock& clock);
  ~ReadServer() { stop(); }

  /// Answers at `address` and writes a kubeconfig with a token of this run. What else a server is
  /// configured with is that of `server`.
  Result<void> open(ServerConfig server, const std::string& address, const std::string& kubeconfig);
  /// All must outlive it, or stop(). `history`: nullptr where none is kept.
  void attach(LiveStore& store, Insight& insight, WhatIf& what_if, History* history);
  /// Decides which users may ask what would be.
  const Authorizer& askers() const { return askers_; }
  void stop();

  const std::string& address() const { return address_; }
  ApiServer& api() { return api_; }
  /// What it shows at /metrics to users that may read it.
  Telemetry& telemetry() { return telemetry_; }

 private:
  std::int64_t seconds() const { return clock_.now() / kSecond; }

  const api::Scheme& scheme_;
  const PluginClock& clock_;
  const ReadersOnly readers_;
  const AnybodyAsks askers_{readers_};
  NoWrites writes_;
  HostAuthenticator authenticator_;
  ApiServer api_;
  Telemetry telemetry_{api_};
  KeyRenewal keys_{""};
  std::unique_ptr<Listener> listener_;
  std::string address_;
};

}  // namespace sluice::host
