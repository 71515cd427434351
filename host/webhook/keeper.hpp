// WebhookKeeper: sees to it that a webhook is served and trusted: keeps its keys in a Secret (or
// reads them from files), has them renewed, and, on the replica that decides, puts its authority
// into the configurations and definitions that carry kTrustMark.
//
// It has a thread of its own, on which the hooks are called. What goes wrong is logged once and
// tried again. start() and stop() are for one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/base/lookout.hpp"
#include "host/base/trouble_log.hpp"
#include "host/kube/caller.hpp"
#include "host/webhook/keys.hpp"

namespace sluice::host {

/// The annotation of what gets the authority of this webhook; its value: NAMESPACE/NAME of the
/// Secret.
inline constexpr const char* kTrustMark = "sluice.dev/webhook-ca-of";

struct WebhookKeeping {
  std::string ns;                               ///< of Secret and Service
  std::string name = "sluice-webhook";          ///< of both
  std::string configuration;                    ///< the name of both webhook configurations
  std::vector<std::string> definitions;         ///< CustomResourceDefinitions that convert
  std::vector<std::string> api_services;        ///< that lead to it, where there are any
  std::vector<std::string> names;               ///< by which API servers may call it, beside the
                                                ///< Service's
  std::string cert_file, key_file, trust_file;  ///< empty: keys of its own
};

struct WebhookKeeperHooks {
  std::function<Result<void>(const WebhookKeys&)> use;  ///< to serve with from now on
  std::function<void(const std::string& user)> is;      ///< the API server's name for this process
  std::function<bool()> decides;
  std::function<std::int64_t()> seconds;  ///< since 1970
};

class WebhookKeeper {
 public:
  WebhookKeeper(LinkTarget target, const Kubeconfig& config, WebhookKeeping keeping,
                WebhookKeeperHooks hooks);
  ~WebhookKeeper() { stop(); }

  void start();
  void stop();
  /// Something changed, such as which replica decides. Any thread.
  void look_now() { lookout_.look_now(); }

 private:
  Duration look();
  Duration missing(const Error& what);
  bool know_self();
  Result<std::optional<WebhookKeys>> current_keys();
  Result<std::optional<WebhookKeys>> shared_keys();
  Result<void> spread(const std::string& trust);
  enum class Absent { kWrong, kFine };
  Result<void> spread_to(const std::string& path, const std::string& trust, Absent absent);

  const WebhookKeeping keeping_;
  const WebhookKeeperHooks hooks_;
  ClusterCaller caller_;
  std::optional<WebhookKeys> used_;  // the thread's, as the next two
  TroubleLog trouble_{"webhook"};
  bool known_ = false;
  Lookout lookout_;
};

}  // namespace sluice::host
