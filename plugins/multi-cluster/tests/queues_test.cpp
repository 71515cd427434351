// Of which queues the work goes elsewhere: what a job of them says when it is created.
#include "world.hpp"

#include <gtest/gtest.h>

namespace clusters {
namespace {

/// A world with the LocalQueue q of the ClusterQueue cq, which names the check `clusters`.
class QueueWorld : public World {
 public:
  QueueWorld() {
    put_cluster_queue();
    host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
      "metadata":{"name":"q","namespace":"team"},"spec":{"clusterQueue":"cq"}})");
  }
  void put_cluster_queue() {
    host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
      "metadata":{"name":"cq"},"spec":{"admissionChecksStrategy":{"admissionChecks":
      [{"name":"clusters"}]}}})");
  }
  void put_check() {
    host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck",
      "metadata":{"name":"clusters"},"spec":{"controllerName":"kueue.x-k8s.io/multikueue"}})");
  }
  /// What spec.managedBy of a job of that queue becomes.
  std::string managed_by(const std::string& spec = {}) {
    const std::string job = R"({"metadata":{"namespace":"team","name":"x",
      "labels":{"kueue.x-k8s.io/queue-name":"q"}},"spec":{)";
    const auto out = plugin.set_defaults({.operation = sluice::Operation::kCreate,
                                          .api_version = "batch/v1",
                                          .kind = "Job",
                                          .object = job + spec + "}}",
                                          .old = {}});
    return out ? Json::parse(*out).string_or("spec.managedBy", "") : "as it is";
  }
};

TEST(Queues, AJobOfSuchAQueueIsNotForTheControllersHere) {
  QueueWorld world;
  world.put_check();
  EXPECT_EQ(world.managed_by(), "kueue.x-k8s.io/multikueue");  // before it was told of the queues
  EXPECT_EQ(world.managed_by(R"("managedBy":"example.com/mine")"), "as it is");
  std::string out;
  world.host.objects().patch("ClusterQueue", "", "cq", "",
                             Json::parse(R"({"spec":{"admissionChecksStrategy":null}})"), out);
  world.plugin.reconcile({kVersion, "ClusterQueue", "", "cq"});
  EXPECT_EQ(world.managed_by(), "as it is");
}

TEST(Queues, AJobOfAQueueWhoseCheckComesAndGoesIsForWhoeverHasItThen) {
  QueueWorld world;
  world.plugin.reconcile({kVersion, "ClusterQueue", "", "cq"});
  EXPECT_EQ(world.managed_by(), "as it is") << "the queue was there before its check";
  world.put_check();
  world.plugin.check_changed("clusters", kCheck);
  EXPECT_EQ(world.managed_by(), "kueue.x-k8s.io/multikueue");
  world.host.objects().remove("AdmissionCheck", "", "clusters");
  world.plugin.check_changed("clusters", "");
  EXPECT_EQ(world.managed_by(), "as it is");
}

TEST(Queues, AJobOfAQueueThatGoesAndComesIsForWhoeverHasItThen) {
  QueueWorld world;
  world.put_check();
  world.host.objects().remove("ClusterQueue", "", "cq");
  world.plugin.reconcile({kVersion, "ClusterQueue", "", "cq"});
  EXPECT_EQ(world.managed_by(), "as it is");
  world.put_cluster_queue();  // and nobody has told the plugin yet
  EXPECT_EQ(world.managed_by(), "kueue.x-k8s.io/multikueue");
}

}  // namespace
}  // namespace clusters
