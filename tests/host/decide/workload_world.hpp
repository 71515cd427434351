// A cluster with quota for one cpu, and workloads of no job that ask for one each.
// One thread: the test's.
#pragma once

#include <string>

#include "cluster_world.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

class WorkloadWorld : public ClusterWorld {
 protected:
  WorkloadWorld() {
    make("ResourceFlavor", R"({"metadata":{"name":"f"},"spec":{}})");
    make("ClusterQueue", R"({"metadata":{"name":"cq"},"spec":{"namespaceSelector":{},
      "resourceGroups":[{"coveredResources":["cpu"],
        "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}})");
    make("LocalQueue", R"({"metadata":{"name":"lq","namespace":"ns"},
      "spec":{"clusterQueue":"cq"}})");
  }

  /// `more`: members of its spec, each with a comma behind it.
  void make_workload(const std::string& name, const std::string& more) {
    make("Workload", R"({"metadata":{"namespace":"ns","name":")" + name + R"("},"spec":{)" + more +
                         R"("queueName":"lq","active":true,"podSets":[{"name":"main","count":1,
        "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x",
        "resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  }
  const boost::json::object& workload(const std::string& name) {
    return *cluster_->find(kind("Workload"), "ns/" + name);
  }
  const boost::json::object& status(const std::string& name) {
    return part(workload(name), "status");
  }
};

}  // namespace sluice::host
