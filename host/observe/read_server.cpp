#include "host/observe/read_server.hpp"

#include <utility>

#include "host/access/startup.hpp"
#include "host/serve/signals.hpp"

namespace sluice::host {
namespace {

/// What is sent by POST and stores nothing.
bool asks_what_if(const Request& request) {
  return request.method == "POST" && request.path == "/apis/sluice.dev/v1alpha1/whatifs";
}

}  // namespace

ReadServer::ReadServer(const api::Scheme& scheme, const std::vector<FollowedKind>& kinds,
                       const PluginClock& clock)
    : scheme_(scheme),
      clock_(clock),
      readers_(scheme, kinds),
      authenticator_(readers_),
      api_(authenticator_) {}

Result<void> ReadServer::open(ServerConfig server, const std::string& address,
                              const std::string& kubeconfig) {
  server.address = address;
  server.kubeconfig = kubeconfig;
  if (auto safe = check_exposure(server); !safe) return safe.error();
  auto keys = keys_.prepare(server, seconds());
  if (!keys) return keys.error();
  ListenerOptions options;
  options.address = server.address;
  options.tls = TlsOptions{keys->certificate, keys->key, keys->client_ca};
  options.read_only = true;
  options.but = asks_what_if;
  const MeteredApi api = telemetry_.api();
  auto listener = Listener::open(options, api.handler, api.check);
  if (!listener) return listener.error().context("--address");
  auto token = publish_kubeconfig(server.kubeconfig, "", (*listener)->address(), *keys);
  if (!token) return token.error();
  if (auto known = authenticator_.load(*token, server.token_file); !known) return known.error();
  keys_.set(server, std::move(*keys));
  listener_ = std::move(*listener);
  address_ = listener_->address();
  telemetry_.watch(*listener_);
  keys_.start([this] { return seconds(); },
              [this, kubeconfig, token = *token](const ServerKeys& next) {
                auto renewed = listener_->reload_tls({next.certificate, next.key, next.client_ca});
                return renewed ? update_kubeconfig(kubeconfig, address_, next, token) : renewed;
              });
  return {};
}

void ReadServer::attach(LiveStore& store, Insight& insight, WhatIf& what_if, History* history) {
  ApiBackend backend;
  backend.scheme = &scheme_;
  backend.store = &store;
  backend.writes = &writes_;
  backend.authorizer = &readers_;
  backend.insight = &insight;
  backend.what_if = &what_if;
  backend.history = history;
  api_.attach(backend);
}

void ReadServer::stop() {
  keys_.stop();
  telemetry_.leave();
  api_.detach();
  if (listener_) listener_->stop(kRequestsEnd / kMillisecond);
  telemetry_.stop(0);
  listener_.reset();
}

}  // namespace sluice::host
