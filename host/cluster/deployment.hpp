// Deployment: `sluice observe` or `sluice controller` as pods of the cluster that they look at,
// with a ServiceAccount that may do exactly that.
//
// Pure functions; any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::host {

struct ClusterDeployment {
  std::string name;         ///< of all objects
  std::string command;      ///< of sluice
  int port = 0;             ///< where it answers
  int webhook_port = 0;     ///< where it answers API servers, and says that it is ready; 0: nowhere
  bool advertises = false;  ///< tells API servers the address of its pod
  int replicas = 1;
  std::string ns = "sluice-system";
  std::string image;
  std::string config;                ///< text of the configuration file; empty: the defaults
  std::vector<std::string> options;  ///< more arguments of the command
  std::string kept_folder;           ///< each pod's own, which outlives it; empty: none
  std::int64_t kept_bytes = 0;       ///< what it may hold at least
  boost::json::array cluster_rules;  ///< what it may do anywhere
  boost::json::array own_rules;      ///< and in its namespace; may be empty
};

/// Namespace, ServiceAccount, roles and bindings, ConfigMap if there is a configuration,
/// Deployment (StatefulSet where each pod has a folder to keep), Service: in the order in which
/// they can be created.
std::vector<boost::json::object> deployment_objects(const ClusterDeployment& deployment);

}  // namespace sluice::host
