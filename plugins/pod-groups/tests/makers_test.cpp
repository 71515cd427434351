// What is made of Deployments and StatefulSets that name a queue.
#include <gtest/gtest.h>
#include <sluice/testing.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../facts.hpp"

namespace pods {
namespace {

using sluice::Json;
using namespace sluice::testing;

const std::string kQueued = R"("kueue.x-k8s.io/queue-name":"q")";

std::string maker(const std::string& kind, const std::string& labels, int replicas,
                  const std::string& status = "{}") {
  return R"({"apiVersion":"apps/v1","kind":")" + kind +
         R"(","metadata":{"name":"web","namespace":"team","labels":{)" + labels +
         R"(}},"spec":{"replicas":)" + std::to_string(replicas) +
         R"(,"template":{"metadata":{"labels":{"app":"web"}},"spec":{}}},"status":)" + status + "}";
}

/// The metadata of the template that comes of it; null: it stays as it is.
Json passed_on(const std::string& kind, const std::string& object) {
  FakeHost host;
  const auto changed =
      TestedPlugin(host).set_defaults({sluice::Operation::kCreate, "apps/v1", kind, object, ""});
  return changed ? *Json::parse(*changed).find("spec.template.metadata") : Json();
}

std::vector<std::string> refused(const std::string& kind, const std::string& old,
                                 const std::string& object) {
  FakeHost host;
  std::vector<std::string> out;
  for (const FieldError& each :
       TestedPlugin(host).validate({sluice::Operation::kUpdate, "apps/v1", kind, object, old}))
    out.push_back(each.path + ": " + each.detail);
  return out;
}

TEST(Makers, PodsOfADeploymentWaitEachByItself) {
  const Json made = passed_on(
      "Deployment", maker("Deployment", kQueued + R"(,"kueue.x-k8s.io/priority-class":"high")", 3));
  EXPECT_EQ(made.dump(), R"({"labels":{"app":"web","kueue.x-k8s.io/queue-name":"q",)"
                         R"("kueue.x-k8s.io/priority-class":"high"}})");
}

// The object itself tells them where: another queue, or number, is no other template.
TEST(Makers, PodsOfAStatefulSetAreHeldByIt) {
  const std::string held =
      R"({"labels":{"app":"web"},"annotations":{"kueue.x-k8s.io/pod-suspending-parent":)"
      R"("statefulset"}})";
  for (const int replicas : {0, 3})
    EXPECT_EQ(passed_on("StatefulSet", maker("StatefulSet", kQueued, replicas)).dump(), held);
}

// Another name would be another template, and all pods would be made anew.
TEST(Makers, ATemplateThatTellsItsPodsKeepsThat) {
  std::string old = maker("StatefulSet", kQueued, 3);
  const std::string app = R"("app":"web")";
  old.replace(old.find(app), app.size(),
              app + "," + kQueued + R"(,"kueue.x-k8s.io/pod-group-name":"by-kueue")");
  FakeHost host;
  const auto changed =
      TestedPlugin(host).set_defaults({sluice::Operation::kUpdate, "apps/v1", "StatefulSet",
                                       maker("StatefulSet", kQueued, 3), old});
  ASSERT_TRUE(changed);
  EXPECT_NE(changed->find(R"("kueue.x-k8s.io/pod-group-name":"by-kueue")"), std::string::npos);
  EXPECT_EQ(changed->find("pod-suspending-parent"), std::string::npos);
}

TEST(Makers, WhatNamesNoQueueIsLeftAlone) {
  EXPECT_TRUE(passed_on("Deployment", maker("Deployment", "", 3)).is_null());
}

TEST(Makers, AStatefulSetGoesToNothingBeforeItGrows) {
  const auto set = [](int replicas, const std::string& status = "{}") {
    return maker("StatefulSet", kQueued, replicas, status);
  };
  EXPECT_TRUE(refused("StatefulSet", set(3), set(3)).empty());
  EXPECT_TRUE(refused("StatefulSet", set(3), set(0)).empty());
  EXPECT_TRUE(refused("StatefulSet", set(0), set(5)).empty());
  EXPECT_EQ(refused("StatefulSet", set(3), set(5)),
            std::vector<std::string>{"spec.replicas: the pods of a StatefulSet that waits in a "
                                     "queue have their quota together: scale it to 0 first"});
  EXPECT_EQ(refused("StatefulSet", set(0, R"({"replicas":1})"), set(5)),
            std::vector<std::string>{"spec.replicas: pods of its last run are there still"});
  EXPECT_TRUE(
      refused("Deployment", maker("Deployment", kQueued, 3), maker("Deployment", kQueued, 5))
          .empty());
}

TEST(Makers, AStatefulSetStaysInAQueue) {
  const std::string path = "metadata.labels[kueue.x-k8s.io/queue-name]: ";
  const std::string other = R"("kueue.x-k8s.io/queue-name":"r")", ready = R"({"readyReplicas":1})";
  const auto changed = [](const std::string& labels, const std::string& status) {
    return refused("StatefulSet", maker("StatefulSet", kQueued, 3, status),
                   maker("StatefulSet", labels, 3, status));
  };
  EXPECT_TRUE(changed(other, "{}").empty());
  EXPECT_EQ(changed(other, ready),
            std::vector<std::string>{path + "field is immutable while pods are ready"});
  EXPECT_EQ(changed("", "{}"),
            std::vector<std::string>{path + "must name a queue: its pods wait there"});
}

// ---- LeaderWorkerSets

const char* kLws = "leaderworkerset.x-k8s.io/v1";

std::string replicas_with(const std::string& leader, int size, const std::string& cpu = "2") {
  return R"({"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet",)"
         R"("metadata":{"name":"llm","namespace":"team","labels":{)" +
         kQueued + R"(}},"spec":{"replicas":2,"leaderWorkerTemplate":{)" + leader + R"("size":)" +
         std::to_string(size) +
         R"(,"workerTemplate":{"spec":{"containers":[{"name":"c","resources":)"
         R"({"limits":{"cpu":)" +
         cpu + "}}}]}}}}}";
}
const std::string kLeader =
    R"("leaderTemplate":{"spec":{"containers":[{"name":"l","command":["run"]}]}},)";

Json made_of(const std::string& object) {
  FakeHost host;
  const auto changed = TestedPlugin(host).set_defaults(
      {sluice::Operation::kCreate, kLws, "LeaderWorkerSet", object, ""});
  return changed ? *Json::parse(*changed).find("spec.leaderWorkerTemplate") : Json();
}

TEST(Makers, PodsOfAReplicaSayOfWhichPodSetTheyAreAndWhatAllOfThemAreLike) {
  const Json made = made_of(replicas_with(kLeader, 3));
  const std::string sets =
      R"([{"name":"leader","count":1,"template":{"spec":{"containers":[{"name":"l"}]}}},)"
      R"({"name":"worker","count":2,"template":{"spec":{"containers":[{"name":"c",)"
      R"("resources":{"limits":{"cpu":2},"requests":{"cpu":2}}}]}}}])";
  for (const auto& [path, role] :
       {std::pair("leaderTemplate", "leader"), {"workerTemplate", "worker"}}) {
    const Json* annotations = made.find(std::string(path) + ".metadata.annotations");
    ASSERT_NE(annotations, nullptr) << path;
    EXPECT_EQ(annotations->member("kueue.x-k8s.io/pod-group-named-set")->as_string(), role);
    EXPECT_EQ(annotations->member("kueue.x-k8s.io/pod-group-named-sets")->as_string(), sets);
    EXPECT_EQ(annotations->member("kueue.x-k8s.io/pod-group-total-count")->as_string(), "3");
  }
}

/// A Scale does not reach the templates: what its replicas are like they say from the beginning,
/// and anew when that is another while there are none.
TEST(Makers, ReplicasThatAreYetToComeAreGroupsToo) {
  const auto without = [](std::string object) {
    const std::string two = R"("replicas":2)";
    return object.replace(object.find(two), two.size(), R"("replicas":0)");
  };
  for (const int size : {3, 4}) {
    const Json made = made_of(without(replicas_with("", size)));
    const Json* annotations = made.find("workerTemplate.metadata.annotations");
    ASSERT_NE(annotations, nullptr);
    EXPECT_EQ(annotations->member("kueue.x-k8s.io/pod-group-total-count")->as_string(),
              std::to_string(size));
    EXPECT_EQ(annotations->member("kueue.x-k8s.io/pod-group-part-of")->as_string(),
              "LeaderWorkerSet");
  }
}

TEST(Makers, WithoutALeaderOfItsOwnAReplicaIsOnePodSet) {
  const Json made = made_of(replicas_with("", 4));
  const Json* annotations = made.find("workerTemplate.metadata.annotations");
  EXPECT_EQ(annotations->member("kueue.x-k8s.io/pod-group-named-set")->as_string(), "main");
  EXPECT_EQ(annotations->member("kueue.x-k8s.io/pod-group-named-sets"), nullptr);
  EXPECT_EQ(annotations->member("kueue.x-k8s.io/pod-group-part-of")->as_string(),
            "LeaderWorkerSet");
}

// The leader is called by its replica, and may have no label of it yet; workers have one.
TEST(Makers, APodIsOfTheGroupOfItsReplica) {
  FakeHost host;
  const auto group = [&](const std::string& name, const std::string& labels) {
    const auto held = TestedPlugin(host).set_defaults(
        {sluice::Operation::kCreate, "v1", "Pod",
         R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
             R"(","namespace":"team","labels":{)" + kQueued +
             R"(,"leaderworkerset.sigs.k8s.io/name":"llm")" + labels +
             R"(},"annotations":{"kueue.x-k8s.io/pod-group-part-of":"LeaderWorkerSet",)"
             R"("kueue.x-k8s.io/pod-group-named-set":"main"}},"spec":{"containers":[]}})",
         ""});
    return held ? sluice::label_of(Json::parse(*held), "kueue.x-k8s.io/pod-group-name") : "";
  };
  const std::string first = group("llm-1", "");
  EXPECT_TRUE(first.starts_with("leaderworkerset-llm-1-")) << first;
  EXPECT_EQ(group("llm-1-7", R"(,"leaderworkerset.sigs.k8s.io/group-index":"1")"), first);
  EXPECT_NE(group("llm-2", ""), first);
}

TEST(Makers, AReplicaKeepsWhatItAsksFor) {
  const auto change = [](const std::string& old, const std::string& object) {
    FakeHost host;
    std::vector<std::string> out;
    for (const FieldError& each : TestedPlugin(host).validate(
             {sluice::Operation::kUpdate, kLws, "LeaderWorkerSet", object, old}))
      out.push_back(each.path);
    return out;
  };
  EXPECT_TRUE(change(replicas_with("", 3), replicas_with("", 3, R"("2000m")")).empty());
  EXPECT_EQ(change(replicas_with("", 3), replicas_with("", 4)),
            std::vector<std::string>{"spec.leaderWorkerTemplate.size"});
  EXPECT_EQ(change(replicas_with("", 3), replicas_with("", 3, "4")),
            std::vector<std::string>{"spec.leaderWorkerTemplate.workerTemplate"});
  EXPECT_EQ(change(replicas_with("", 3), replicas_with(kLeader, 3)),
            std::vector<std::string>{"spec.leaderWorkerTemplate.leaderTemplate"});
}

TEST(Makers, TheQueueStaysWhilePodsAreReady) {
  const std::string ready = R"({"readyReplicas":1})";
  EXPECT_EQ(refused("Deployment", maker("Deployment", kQueued, 1, ready),
                    maker("Deployment", "", 1, ready))
                .size(),
            1U);
  EXPECT_TRUE(
      refused("Deployment", maker("Deployment", kQueued, 1), maker("Deployment", "", 1)).empty());
}

}  // namespace
}  // namespace pods
