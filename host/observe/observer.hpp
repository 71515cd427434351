// run_observer(): `sluice observe`: follows a cluster on which another controller decides, changes
// nothing there, and answers for it: once, as a comparison or a dump, or as an API server until
// SIGTERM or SIGINT.
//
// For the main thread, once.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/base/log.hpp"

namespace sluice::host {

struct ObserveOptions {
  std::string kubeconfig;   ///< empty: $KUBECONFIG, a pod's ServiceAccount, ~/.kube/config
  std::string context;      ///< empty: the current one
  std::string config_file;  ///< empty: the defaults
  std::optional<std::vector<std::string>> plugins;  ///< instead of those of the configuration
  bool compare = false;
  /// The comparison as it is to be printed. REQUIRES: set where `compare` is.
  std::function<std::string(const boost::json::object&)> tell;
  std::string dump;                  ///< file for the cluster's objects; empty: none
  Duration patience = 60 * kSecond;  ///< until the cluster was listed
  std::string address = "127.0.0.1:6480";
  std::string own_kubeconfig = "sluice-observe.kubeconfig";  ///< written, for clients
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
};

/// The comparison found something that Sluice would decide otherwise.
inline constexpr int kDifferStatus = 3;

/// The exit status; an error when the cluster cannot be followed.
Result<int> run_observer(const ObserveOptions& options);

}  // namespace sluice::host
