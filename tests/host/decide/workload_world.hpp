// A cluster with quota for one cpu, and workloads of no job that ask for one each.
// One thread: the test's.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "decided.hpp"
#include "host/objects/parts.hpp"
#include "pretended_cluster.hpp"

namespace sluice::host {

class WorkloadWorld : public ::testing::Test {
 protected:
  WorkloadWorld() {
    clock_.set(1'767'225'600 * kSecond);
    auto rules = Rules::load(config_.plugins, std::vector<std::string>(), clock_);
    SLUICE_CHECK(rules, "no rules");
    rules_ = std::move(*rules);
    cluster_ = std::make_unique<PretendedCluster>(rules_->scheme);
    make("Namespace", R"({"metadata":{"name":"ns"}})");
    make("ResourceFlavor", R"({"metadata":{"name":"f"},"spec":{}})");
    make("ClusterQueue", R"({"metadata":{"name":"cq"},"spec":{"namespaceSelector":{},
      "resourceGroups":[{"coveredResources":["cpu"],
        "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}})");
    make("LocalQueue", R"({"metadata":{"name":"lq","namespace":"ns"},
      "spec":{"clusterQueue":"cq"}})");
  }

  const api::KindInfo& kind(std::string_view name) const {
    return *rules_->scheme.find_by_name(name);
  }
  void make(std::string_view of, const std::string& text) {
    cluster_->create(kind(of), boost::json::parse(text).as_object());
  }
  /// `more`: members of its spec, each with a comma behind it.
  void make_workload(const std::string& name, const std::string& more) {
    make("Workload", R"({"metadata":{"namespace":"ns","name":")" + name + R"("},"spec":{)" + more +
                         R"("queueName":"lq","active":true,"podSets":[{"name":"main","count":1,
        "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x",
        "resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  }
  /// A controller that begins with what is there.
  void lead() {
    decided_.reset();
    decided_ = std::make_unique<Decided>(config_, *rules_, clock_);
    decided_->lead(cluster_->listed(rules_->scheme.kinds()));
    cluster_->told.clear();
  }
  void hear() {
    for (; !cluster_->told.empty(); cluster_->told.pop_front())
      decided_->door.take({cluster_->told.front()});
  }
  const boost::json::object& workload(const std::string& name) {
    return *cluster_->find(kind("Workload"), "ns/" + name);
  }
  const boost::json::object& status(const std::string& name) {
    return part(workload(name), "status");
  }

  Configuration config_;
  VirtualClock clock_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<PretendedCluster> cluster_;
  std::unique_ptr<Decided> decided_;
};

}  // namespace sluice::host
