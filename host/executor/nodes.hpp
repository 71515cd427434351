// Nodes: what the executor has to run on, as Node objects: those of the configuration, or this
// machine.
//
// machine_facts() reads /proc; the rest belongs to the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "host/config/config.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

struct MachineFacts {
  std::string hostname;  ///< lower case
  std::string kernel;    ///< release
  std::string arch;      ///< as Kubernetes names it: amd64, arm64
  std::int64_t cpus = 1;
  std::int64_t memory_kib = 0;
};

MachineFacts machine_facts();

/// The names of the nodes that this configuration means.
std::vector<std::string> node_names(const ExecutorConfig& config, const MachineFacts& machine);

/// The Node objects: labels (kubernetes.io/hostname, arch and os are added), taints, capacity.
std::vector<boost::json::object> make_nodes(const ExecutorConfig& config,
                                            const MachineFacts& machine, Time now);

/// Brings the Node objects into line with the configuration: to be called at the start and after a
/// reload. Nodes that this host made earlier and that are configured no more are removed; labels
/// that users added to the others stay.
ApiResult<void> ensure_nodes(const ExecutorConfig& config, const MachineFacts& machine,
                             ObjectAccess& objects);

}  // namespace sluice::host
