// run_controller(): `sluice controller`: decides for a cluster, whose API server is the store: as
// one of several replicas, of which the holder of a Lease acts and the others follow.
//
// For the main thread, once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/base/log.hpp"
#include "host/decide/lease_holder.hpp"

namespace sluice::host {

/// How it answers API servers before they store objects.
struct WebhookOptions {
  std::string address;             ///< HOST:PORT; empty: it does not
  std::string advertised_ip;       ///< by which API servers reach it; empty: they are not told
  std::vector<std::string> names;  ///< by which it is called, beside the Service's
  std::string cert_file, key_file, trust_file;  ///< empty: a certificate of its own
};

struct ControllerOptions {
  std::string kubeconfig;   ///< empty: $KUBECONFIG, a pod's ServiceAccount, ~/.kube/config
  std::string context;      ///< empty: the current one
  std::string config_file;  ///< empty: the defaults
  std::optional<std::vector<std::string>> plugins;  ///< instead of those of the configuration
  LeaseOptions lease;
  WebhookOptions webhook;
  std::string address = "127.0.0.1:6481";
  std::string own_kubeconfig = "sluice-controller.kubeconfig";  ///< written, for clients
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
};

/// The exit status; an error when the cluster cannot be followed, or another replica leads.
Result<int> run_controller(const ControllerOptions& options);

}  // namespace sluice::host
