// run_manifests(): `sluice manifests`: what an API server of Kubernetes has to be given, as YAML
// for `kubectl apply -f -`. The same input gives the same text.
//
// For the main thread, once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

struct ManifestsOptions {
  std::string config_file;                          ///< empty: the defaults
  std::optional<std::vector<std::string>> plugins;  ///< instead of those of the configuration
  /// Groups of the kinds that are defined.
  std::vector<std::string> groups = {"kueue.x-k8s.io", "sluice.dev"};
  std::vector<std::string> job_kinds;  ///< files and folders with pages of kinds of jobs
  std::vector<std::string> only;       ///< kinds of objects; empty: all
  bool observe = false;           ///< what runs `sluice observe` there, and not the definitions
  bool definitions_only = false;  ///< not what runs `sluice controller`
  bool webhooks = true;           ///< of the controller, and that it converts
  std::string webhook_url;        ///< https://HOST:PORT of a controller that runs elsewhere
  std::string image;              ///< empty: sluice:VERSION
  std::string ns = "sluice-system";
};

/// The exit status.
Result<int> run_manifests(const ManifestsOptions& options);

}  // namespace sluice::host
