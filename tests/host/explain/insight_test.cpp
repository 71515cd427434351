// LiveInsight: questions to the engine of a host, carried out at once.
#include "host/explain/insight.hpp"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "host/explain/text.hpp"
#include "tests/host/controllers/fake_checks.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

/// Runs tasks where they are posted.
class InlineThread final : public KernelThread {
 public:
  explicit InlineThread(ObjectAccess& objects) : objects_(objects) {}
  void post(std::function<void(ObjectAccess&)> task) override { task(objects_); }

 private:
  ObjectAccess& objects_;
};

struct InsightWorld : HostFixture {
  explicit InsightWorld(EngineConfig engine = {}, const std::string& cpu = "1")
      : HostFixture(std::move(engine)) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"f"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
              "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],
              "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":")" +
          cpu + R"("}]}]}]}})");
    for (const char* local : {"one", "two"})
      apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":")" +
            std::string(local) + R"(","namespace":"default"},"spec":{"clusterQueue":"cq"}})");
    for (const auto& [name, local] : {std::pair{"a", "one"}, std::pair{"b", "two"},
                                      std::pair{"c", "one"}, std::pair{"d", "two"}}) {
      apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
            std::string(name) + R"(","namespace":"default"},"spec":{"queueName":")" + local +
            R"(","podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c",
            "image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
      kernel.begin_instant(now += kSecond);
      kernel.run_to_rest();
    }
  }
  /// `name local cluster-position local-position`, or the error.
  std::vector<std::string> pending(const std::string& ns, const std::string& queue,
                                   std::int64_t offset = 0, std::int64_t limit = 100) {
    std::vector<std::string> out;
    insight.pending_workloads(ns, queue, offset, limit, [&](const auto& answer) {
      if (!answer) return out.push_back(std::to_string(answer.error().code));
      for (const auto& item : answer->as_object().at("items").as_array())
        out.push_back(at(item.as_object(), "/metadata/name") + " " +
                      at(item.as_object(), "/localQueueName") + " " +
                      at(item.as_object(), "/positionInClusterQueue") + " " +
                      at(item.as_object(), "/positionInLocalQueue"));
    });
    return out;
  }

  InlineThread thread{objects};
  LiveInsight insight{kernel.engine(), thread};
};

TEST(LiveInsight, PendingWorkloadsInTheirOrder) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  InsightWorld world;  // a runs
  EXPECT_THAT(world.pending("", "cq"), ElementsAre("b two 0 0", "c one 1 0", "d two 2 1"));
  EXPECT_THAT(world.pending("", "cq", 1, 1), ElementsAre("c one 1 0"));
  EXPECT_THAT(world.pending("", "cq", 3), IsEmpty());
  EXPECT_THAT(world.pending("default", "two"), ElementsAre("b two 0 0", "d two 2 1"));
  EXPECT_THAT(world.pending("default", "two", 1), ElementsAre("d two 2 1"));
  EXPECT_THAT(world.pending("", "none"), ElementsAre("404"));
  EXPECT_THAT(world.pending("other", "two"), ElementsAre("404"));
}

TEST(LiveInsight, ItemsNameTheirWorkload) {
  InsightWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
      "metadata":{"name":"urgent","namespace":"default","labels":{"a":"b"},"ownerReferences":[
        {"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"1","controller":true,
         "blockOwnerDeletion":true},
        {"apiVersion":"v1","kind":"Pod","name":"p","uid":"2"}]},
      "spec":{"queueName":"two","priority":7,"podSets":[{"name":"main","count":1,"template":{"spec":
        {"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  boost::json::value seen;
  world.insight.pending_workloads("", "cq", 0, 2, [&](const auto& answer) { seen = *answer; });
  EXPECT_EQ(boost::json::serialize(seen.at("items")),
            R"([{"metadata":{"name":"urgent","namespace":"default",)"
            R"("creationTimestamp":"2026-01-01T00:00:04Z","ownerReferences":[)"
            R"({"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"1"},)"
            R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"2"}]},)"
            R"("priority":7,"localQueueName":"two",)"
            R"("positionInClusterQueue":0,"positionInLocalQueue":0},)"
            R"({"metadata":{"name":"b","namespace":"default",)"
            R"("creationTimestamp":"2026-01-01T00:00:01Z"},"priority":0,"localQueueName":"two",)"
            R"("positionInClusterQueue":1,"positionInLocalQueue":1}])");
}

TEST(LiveInsight, Explains) {
  InsightWorld world;
  std::string seen;
  world.insight.explain("default", "d", {}, [&](const auto& answer) {
    seen = at(answer->as_object(), "/state") + " " +
           at(answer->as_object(), "/queue/positionInClusterQueue");
  });
  EXPECT_EQ(seen, "Pending 3");
  world.insight.explain("default", "none", {}, [&](const auto& answer) {
    seen = std::to_string(answer.error().code) + " " + answer.error().text;
  });
  EXPECT_EQ(seen, R"(404 workloads.kueue.x-k8s.io "none" not found)");
}

/// Whoever answers for a check may have more to say of it than its state.
TEST(LiveInsight, TellsWhatAPluginSaysBesideTheStateOfACheck) {
  InsightWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck",
      "metadata":{"name":"ask"},"spec":{"controllerName":"example.com/fake"},
      "status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"",
        "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":
      {"name":"checked"},"spec":{"namespaceSelector":{},
      "admissionChecksStrategy":{"admissionChecks":[{"name":"ask"}]},"resourceGroups":[
      {"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu",
        "nominalQuota":"1"}]}]}]}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":
      {"name":"checked","namespace":"default"},"spec":{"clusterQueue":"checked"}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":
      {"name":"w","namespace":"default"},"spec":{"queueName":"checked","podSets":[{"name":"main",
      "count":1,"template":{"spec":{"containers":[{"name":"c","image":"i","resources":
      {"requests":{"cpu":"1"}}}]}}}]}})");
  world.kernel.begin_instant(world.now += kSecond);
  world.kernel.run_to_rest();
  FakeChecks checks;
  LiveInsight insight(world.kernel.engine(), world.thread, &checks);
  boost::json::object seen;
  insight.explain("default", "w", {}, [&](const auto& answer) { seen = answer->as_object(); });
  EXPECT_EQ(at(seen, "/checks/0/details/0"), "asked for w ask 1");
  EXPECT_THAT(explanation_text(seen),
              ::testing::HasSubstr("  Checks   ask Pending\n           asked for w ask 1\n"));

  // What is awaited is told anew, and nothing else of the document is worked out again.
  const auto await = [&](bool more_soon) {
    checks.more_soon = more_soon;
    seen["wouldHelp"] = boost::json::array{"as it was"};
    insight.await("default", "w", seen, [&](const auto& answer) { seen = answer->as_object(); });
    return boost::json::serialize(seen.at("checks"));
  };
  const std::string told =
      R"([{"name":"ask","state":"Pending","message":"","details":["asked for w ask 1"])";
  EXPECT_EQ(await(true), told + "}]") << "it was not awaited";
  seen.at("checks").as_array()[0].as_object()["awaited"] = true;
  EXPECT_EQ(await(true), told + R"(,"awaited":true}])");
  EXPECT_EQ(await(false), told + "}]");
  EXPECT_EQ(at(seen, "/wouldHelp/0"), "as it was");

  // Who answers for it fails, and then is in quarantine: nobody has to look at the AdmissionCheck.
  checks.troubled = "its plugin failed, and is asked again: plugin fake, begin: not today";
  insight.explain("default", "w", {}, [&](const auto& answer) { seen = answer->as_object(); });
  EXPECT_EQ(at(seen, "/checks/0/details/1"), checks.troubled);
  EXPECT_EQ(at(seen, "/wouldHelp/0"), "check ask has to become Ready; it is Pending");
  const auto off = world.merge("admissionchecks", "ask",
                               R"({"status":{"conditions":[{"type":"Active","status":"False",
      "reason":"PluginFault","message":"plugin fake is quarantined",
      "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                               "status");
  ASSERT_TRUE(off.ok());
  insight.explain("default", "w", {}, [&](const auto& answer) { seen = answer->as_object(); });
  EXPECT_EQ(at(seen, "/wouldHelp/0"),
            "AdmissionCheck ask is not active (PluginFault): plugin fake is quarantined");
  EXPECT_EQ(at(seen, "/wouldHelp/1"), "check ask has to become Ready; it is Pending");
}

/// C5: each obstacle is named with the way out, in front of everything else.
TEST(LiveInsight, TellsWhatKeepsAQueueFromServing) {
  using ::testing::HasSubstr;
  InsightWorld world;
  const auto help = [&](const std::string& queue) {
    world.apply(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"of-)" +
        queue + R"(","namespace":"default"},"spec":{"queueName":")" + queue +
        R"(","podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[
                {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
    world.kernel.begin_instant(world.now += kSecond);
    world.kernel.run_to_rest();
    std::string out;
    world.insight.explain("default", "of-" + queue, {}, [&](const auto& answer) {
      out = at(answer->as_object(), "/wouldHelp/0");
    });
    return out;
  };
  const auto local = [&](const std::string& name, const std::string& spec) {
    world.apply(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":")" +
        name + R"(","namespace":"default"},"spec":)" + spec + "}");
  };
  EXPECT_EQ(help("none"),
            "LocalQueue none does not exist in namespace default (there are: one, two): it has to "
            "be created, or another to be named");
  local("lost", R"({"clusterQueue":"nowhere"})");
  EXPECT_EQ(help("lost"),
            "ClusterQueue nowhere, which LocalQueue lost names, does not exist: it has to be "
            "created");
  local("held", R"({"clusterQueue":"cq","stopPolicy":"Hold"})");
  EXPECT_EQ(help("held"),
            "LocalQueue held is stopped (Hold): its spec.stopPolicy has to become None");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":
      {"name":"stopped"},"spec":{"stopPolicy":"HoldAndDrain","resourceGroups":[]}})");
  local("drained", R"({"clusterQueue":"stopped"})");
  EXPECT_EQ(help("drained"),
            "ClusterQueue stopped is stopped (HoldAndDrain): its spec.stopPolicy has to become "
            "None");
}

/// While its queue is stopped: 12 of 1 cpu are more than it can have when that goes on, too.
TEST(LiveInsight, TellsOfAStopAndOfWhatNeverFits) {
  InsightWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":
      "still"},"spec":{"namespaceSelector":{},"stopPolicy":"Hold","resourceGroups":[{
      "coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":
      "1"}]}]}]}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":
      "still","namespace":"default"},"spec":{"clusterQueue":"still"}})");
  const auto help = [&](const std::string& name, const std::string& cpu) {
    world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
                name + R"(","namespace":"default"},"spec":{"queueName":"still","podSets":[{"name":
                "main","count":1,"template":{"spec":{"containers":[{"name":"c","image":"i",
                "resources":{"requests":{"cpu":")" +
                cpu + R"("}}}]}}}]}})");
    world.kernel.begin_instant(world.now += kSecond);
    world.kernel.run_to_rest();
    std::string out;
    world.insight.explain("default", name, {},
                          [&](const auto& answer) { out = at(answer->as_object(), "/wouldHelp"); });
    return out;
  };
  const std::string stop =
      R"("ClusterQueue still is stopped (Hold): its spec.stopPolicy has to become None")";
  EXPECT_EQ(help("fits", "1"), "[" + stop + "]");
  EXPECT_EQ(help("never", "12"),
            "[" + stop +
                R"(,"12 cpu of flavor f can never be had: at most 1 cpu of still; its )"
                R"(quota, or what may be borrowed, would have to grow by 11"])");
}

/// What is free says nothing about one that is not looked at for another reason.
TEST(LiveInsight, NamesNoQuotaWhereSomethingElseKeepsIt) {
  InsightWorld world;
  world.apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"other"}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":
      {"name":"chosen"},"spec":{"namespaceSelector":{"matchLabels":{"team":"a"}},"resourceGroups":[
      {"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu",
      "nominalQuota":"9"}]}]}]}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":
      {"name":"lq","namespace":"other"},"spec":{"clusterQueue":"chosen"}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
      "namespace":"other"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,"template":{
      "spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  world.kernel.begin_instant(world.now += kSecond);
  world.kernel.run_to_rest();
  world.insight.explain("other", "w", {}, [&](const auto& answer) {
    const boost::json::object& told = answer->as_object();
    EXPECT_FALSE(told.contains("now"));
    EXPECT_EQ(at(told, "/wouldHelp/0"), "this has to change: " + at(told, "/message"));
  });
}

// a got quota, and nobody else does before its pods are ready.
TEST(LiveInsight, NamesWhoseHavePodsToBeReadyFirst) {
  EngineConfig engine;
  engine.pods_ready_timeout = 300 * kSecond;
  engine.block_admission = true;
  InsightWorld world(engine, "9");
  const auto first = [&](const MayKnow& may_know) {
    std::string out;
    world.insight.explain("default", "b", may_know, [&](const auto& answer) {
      out = at(answer->as_object(), "/wouldHelp/0");
    });
    return out;
  };
  const std::string advice = "the pods of all that are admitted have to be ready first: ";
  EXPECT_EQ(first({}), advice + "default/a");
  EXPECT_EQ(first([](std::string_view) { return false; }), advice + "1 more");
}

/// The condition says that the job failed; which pod, and how, says the one that failed last.
TEST(LiveInsight, TellsHowThePodsOfAFailedJobEnded) {
  InsightWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{
      "name":"job-train","namespace":"default","ownerReferences":[{"apiVersion":"batch/v1",
      "kind":"Job","name":"train","uid":"u","controller":true}]},"spec":{"queueName":"one",
      "podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[
      {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  const auto pod = [&](const std::string& name, const std::string& owner, int code,
                       const std::string& finished) {
    world.apply(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                R"(","namespace":"default","ownerReferences":[{"apiVersion":"batch/v1","kind":
                "Job","name":"j","uid":")" +
                owner + R"(","controller":true}]},"spec":{"containers":[{"name":"c","image":"i"}]},
                "status":{"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":
                {"exitCode":)" +
                std::to_string(code) + R"(,"finishedAt":")" + finished + R"(","message":"cannot )" +
                "run " + name + R"("}}}]}})");
  };
  pod("train-a", "u", 127, "2026-01-01T00:00:04Z");
  pod("train-b", "u", 1, "2026-01-01T00:00:03Z");
  pod("train-c", "u", 0, "2026-01-01T00:00:05Z");
  pod("other", "v", 2, "2026-01-01T00:00:06Z");
  const auto told = [&](const char* field) {
    std::string out;
    world.insight.explain("default", "job-train", {},
                          [&](const auto& answer) { out = at(answer->as_object(), field); });
    return out;
  };
  EXPECT_EQ(told("/pods"), "(absent)");
  ASSERT_TRUE(world.kernel.finish("default/job-train", "Failed", "the limit is reached").ok());
  EXPECT_EQ(told("/message"), "the limit is reached");
  EXPECT_EQ(told("/pods"), "pod train-a ended with exit status 127: cannot run train-a");
}

/// C5: behind a deactivation stands what the pods failed of; its Events outlive them.
TEST(LiveInsight, C5_TellsWhatKeptThePodsFromRunning) {
  using ::testing::HasSubstr;
  InsightWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{
      "name":"job-train","namespace":"default","ownerReferences":[{"apiVersion":"batch/v1",
      "kind":"Job","name":"train","uid":"u","controller":true}]},"spec":{"queueName":"one",
      "active":false,"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[
      {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  const auto event = [&](const std::string& pod, const std::string& type, const std::string& at,
                         const std::string& message, const std::string& reason = "Failed",
                         const std::string& uid = "gone") {
    world.apply(R"({"apiVersion":"v1","kind":"Event","metadata":{"name":")" + pod + "." + at[18] +
                R"(","namespace":"default"},"involvedObject":{"kind":"Pod","namespace":"default",
                "name":")" +
                pod + R"(","uid":")" + uid + R"("},"type":")" + type + R"(","reason":")" + reason +
                R"(","lastTimestamp":")" + at + R"(","message":")" + message + R"("})");
  };
  event("train-b", "Warning", "2026-01-01T00:00:03Z", "container c names no command");
  event("train-a", "Warning", "2026-01-01T00:00:02Z", "an earlier one");
  event("train-c", "Normal", "2026-01-01T00:00:04Z", "Started container c");
  event("other-a", "Warning", "2026-01-01T00:00:05Z", "of another job");
  event("train-b", "Warning", "2026-01-01T00:00:06Z", "limits are not held", "NotSupported");
  // The pods of a job whose name begins alike are not its own, and one that runs did start.
  world.apply(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train-x","namespace":
      "default"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c",
      "image":"i"}]}}}})");
  event("train-x-a", "Warning", "2026-01-01T00:00:07Z", "of train-x");
  world.apply(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-d","namespace":"default"},
      "spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}})");
  event("train-d", "Warning", "2026-01-01T00:00:08Z", "no room yet", "FailedScheduling",
        at(world.get("pods", "default/train-d"), "/metadata/uid"));
  const auto first = [&](const std::string& workload) {
    std::string out;
    world.insight.explain("default", workload, {}, [&](const auto& answer) {
      out = at(answer->as_object(), "/wouldHelp/0");
    });
    return out;
  };
  EXPECT_EQ(first("job-train"),
            "pod train-b did not start (2026-01-01T00:00:03Z): container c names no command");
  EXPECT_THAT(first("a"), HasSubstr("absent"));  // it runs, and has no job
}

}  // namespace
}  // namespace sluice::host::test
