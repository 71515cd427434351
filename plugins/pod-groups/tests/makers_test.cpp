// What is made of Deployments and StatefulSets that name a queue.
#include <gtest/gtest.h>
#include <sluice/testing.hpp>
#include <string>
#include <vector>

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

TEST(Makers, PodsOfAStatefulSetWaitTogether) {
  const Json made = passed_on("StatefulSet", maker("StatefulSet", kQueued, 3));
  EXPECT_EQ(made.find("labels")->member("kueue.x-k8s.io/pod-group-name")->as_string().substr(0, 16),
            "statefulset-web-");
  EXPECT_EQ(made.find("annotations")->dump(), R"({"kueue.x-k8s.io/pod-group-total-count":"3",)"
                                              R"("kueue.x-k8s.io/pod-group-fast-admission":"true",)"
                                              R"("kueue.x-k8s.io/pod-group-serving":"true"})");
}

// Another name would be another template, and all pods would be made anew.
TEST(Makers, AGroupKeepsTheNameThatItHas) {
  std::string old = maker("StatefulSet", kQueued, 3);
  const std::string app = R"("app":"web")";
  old.replace(old.find(app), app.size(), app + R"(,"kueue.x-k8s.io/pod-group-name":"by-kueue")");
  FakeHost host;
  const auto changed =
      TestedPlugin(host).set_defaults({sluice::Operation::kUpdate, "apps/v1", "StatefulSet",
                                       maker("StatefulSet", kQueued, 3), old});
  ASSERT_TRUE(changed);
  EXPECT_NE(changed->find(R"("kueue.x-k8s.io/pod-group-name":"by-kueue")"), std::string::npos);
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
