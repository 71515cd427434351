// WebhookServer: where API servers ask: an HTTPS server with the paths /mutate, /validate and
// /convert, which answers from the objects that a store publishes; and whatever else API servers
// ask there of another handler.
//
//   auto server = WebhookServer::make(config, rules, store, clock, "0.0.0.0:9443");
//   (*server)->use(keys);      // it listens from the first keys on; later ones are for new
//                              // connections
//   (*server)->ready();        // the store holds the cluster: reviews are answered
//   (*server)->stop();
//
// Reviews are answered one at a time on a thread of their own, with plugins of their own;
// conversions on another one, from the start. Every client that reaches the address may ask: an API
// server shows no credentials. Each replica has one, also while another one decides. Public members
// may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/config/config.hpp"
#include "host/machine/rules.hpp"
#include "host/plugins/clock.hpp"
#include "host/store/live_store.hpp"
#include "host/webhook/keys.hpp"

namespace sluice::host {

/// Of the paths that are `served`: `check` may refuse by the head of a request, `handler` answers.
struct AlsoServed {
  std::function<bool(const std::string& path)> served;
  HeadCheck check;
  Handler handler;
};

class WebhookServer {
 public:
  /// All must outlive it; plugins are those of `rules`, in instances of their own.
  static Result<std::unique_ptr<WebhookServer>> make(const Configuration& config,
                                                     const Rules& rules, const LiveStore& store,
                                                     const PluginClock& clock, std::string address);
  ~WebhookServer();  ///< stop()

  Result<void> use(const WebhookKeys& keys);
  /// Answers paths beside its own. Before the first use().
  void serve_also(AlsoServed also);
  /// Asks those who connect from now on for a certificate of these issuers (PEM); what has none
  /// is answered all the same.
  Result<void> know_clients(const std::string& client_ca);
  /// The user whose writes are not reviewed: the controllers'.
  void set_self(const std::string& user);
  void ready();
  void stop();

  /// Where it listens; empty and 0: it does not yet.
  std::string address() const;
  std::uint16_t port() const;

 private:
  struct State;
  explicit WebhookServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
