// When something would start: from what running jobs say, else from what others of their queue
// took, and in words where neither is known.
#include "host/whatif/estimate.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <cmath>
#include <random>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "host/whatif/what_if.hpp"
#include "tests/host/whatif/everybody.hpp"
#include "tests/host/whatif/live_world.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

/// A queue in which one workload runs at a time, from 00:00:00 on.
struct OneAtATime : LiveWorld {
  explicit OneAtATime(Configuration config = {}, bool with_plugins = false)
      : LiveWorld(std::move(config), with_plugins) {
    apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
        "metadata":{"name":"f"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
        "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[
        {"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"q",
        "namespace":"a"},"spec":{"clusterQueue":"cq"}})");
    settle();
  }

  static std::string workload(const std::string& name, const std::string& annotations = "",
                              const std::string& spec = "", const std::string& queue = "q") {
    return fmt::format(
        R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{{"name":"{}",
        "namespace":"a","annotations":{{{}}}}},"spec":{{{}"queueName":"{}","podSets":[{{
        "name":"main","count":1,"template":{{"spec":{{"containers":[{{"name":"c","image":"i",
        "resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}]}}}})",
        name, annotations, spec, queue);
  }
  static std::string runs(const std::string& time) {
    return fmt::format(R"("sluice.dev/runtime":"{}")", time);
  }
  void run_once(const std::string& name, Duration time) {
    apply(workload(name));
    settle();
    pass(time);
    ASSERT_TRUE(machine.kernel().finish("a/" + name, "Succeeded", "so").ok());
    settle();
  }

  json::object ask(const std::string& queue = "q") {
    const WhatIfRequest request{
        {"somebody", "", {}},
        {{"apiVersion", "sluice.dev/v1alpha1"},
         {"kind", "WhatIf"},
         {"spec",
          json::object{{"objects", json::array{json::parse(workload("asked", "", "", queue))}}}}}};
    const auto answer = service.answer(request, Deadline::max());
    SLUICE_CHECK(answer.ok(), answer.ok() ? "" : answer.error().text);
    return part(answer->at("status").at("workloads").at(0).as_object(), "start");
  }
  /// `name: earliest …` of each that waits, by one question.
  std::string told_of(const json::object& waiting, Deadline deadline = Deadline::max()) {
    const WhatIfRequest request{{"somebody", "", {}},
                                {{"apiVersion", "sluice.dev/v1alpha1"},
                                 {"kind", "WhatIf"},
                                 {"spec", json::object{{"waiting", waiting}}}}};
    const auto answer = service.answer(request, deadline);
    if (!answer) return fmt::format("{} {}", answer.error().code, answer.error().text);
    const json::value* workloads = answer->at("status").as_object().if_contains("workloads");
    if (workloads == nullptr) return "nobody";
    std::string out;
    for (const json::value& each : workloads->as_array())
      out += fmt::format("{} {}: {}\n", std::string(each.at("object").at("name").as_string()),
                         std::string(each.at("decision").as_string()),
                         sentence(part(each.as_object(), "start")));
    return out;
  }
  /// `earliest latest percent because`, times as seconds from now.
  std::string told(const std::string& queue = "q") { return sentence(ask(queue)); }
  std::string sentence(const json::object& start) const {
    const auto seconds = [&](const char* field) {
      const auto time = api::find_time(start, field);
      return time ? std::to_string((*time - clock.now()) / kSecond) : "-";
    };
    return fmt::format("{} {} {} {}", seconds("earliest"), seconds("latest"),
                       api::find_int(start, "percent").value_or(0),
                       api::find_text(start, "because"));
  }

  Everybody everybody;
  PastRunTimes kept;
  HostWhatIf service{source(), everybody, [this] { return Result<ForkMoment>(moment()); },
                     [this] { return kept; }};
};

TEST(Estimate, OfJobsThatSayHowLongTheyRun) {
  OneAtATime world;
  world.apply(OneAtATime::workload("first", OneAtATime::runs("90s")));
  world.apply(OneAtATime::workload("second", OneAtATime::runs("10s")));
  world.settle();
  world.pass(30 * kSecond);
  EXPECT_EQ(world.told(), "70 70 100 ");  // 60 are left of the first, and then the second
}

/// Pods that are not ready yet will be: nobody starts because another one's time for that is over.
TEST(Estimate, OfPodsThatHaveToBeReady) {
  Configuration config;
  config.engine.pods_ready_timeout = 20 * kSecond;
  OneAtATime world(config), without;
  for (OneAtATime* each : {&world, &without}) {
    each->apply(OneAtATime::workload("first"));
    each->settle();
  }
  EXPECT_THAT(without.told(), HasSubstr("says no run time"));
  EXPECT_EQ(world.told(), without.told());
}

/// One question, and so one fork a play, for all that wait in a queue: as if each were asked for.
TEST(Estimate, OfAllThatWaitInAQueue) {
  OneAtATime world;
  EXPECT_EQ(world.told_of({{"clusterQueue", "cq"}}), "nobody");
  for (const char* name : {"first", "second", "third", "fourth"})
    world.apply(OneAtATime::workload(name, OneAtATime::runs("60s")));
  world.settle();
  const std::string in_order =
      "second Waits: 60 60 100 \nthird Waits: 120 120 100 \nfourth Waits: 180 180 100 \n";
  EXPECT_EQ(world.told_of({{"clusterQueue", "cq"}}), in_order);
  EXPECT_EQ(world.told_of({{"localQueue", "q"}, {"namespace", "a"}}), in_order);
  EXPECT_EQ(world.told_of(
                {{"workloads", json::array{json::object{{"namespace", "a"}, {"name", "fourth"}},
                                           json::object{{"namespace", "a"}, {"name", "first"}},
                                           json::object{{"namespace", "a"}, {"name", "gone"}}}}}),
            "fourth Waits: 180 180 100 \nfirst Runs: - - 0 \n")
      << "in the order of the question; what is gone is not told of";
  EXPECT_EQ(world.told_of({{"clusterQueue", "none"}}, Deadline::min()),
            "404 clusterqueues.kueue.x-k8s.io \"none\" not found");
}

/// What waits is the workload; its options stand for it.
TEST(Estimate, OfWhatIsTriedInSeveralOptions) {
  OneAtATime world({}, true);
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":
      "raced"},"spec":{"namespaceSelector":{},"concurrentAdmission":{"onSuccess":"RemoveOther"},
      "resourceGroups":[{"coveredResources":["cpu"],"flavors":[
      {"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":
      "raced","namespace":"a"},"spec":{"clusterQueue":"raced"}})");
  for (const char* name : {"first", "second"})
    world.apply(OneAtATime::workload(name, OneAtATime::runs("60s"), "", "raced"));
  world.settle();
  EXPECT_EQ(world.told_of({{"clusterQueue", "raced"}}), "second Waits: 60 60 100 \n");
}

/// A gate keeps it out of the queue, and it waits there all the same.
TEST(Estimate, OfOneThatWaitsBesideItsQueue) {
  OneAtATime world;
  world.apply(OneAtATime::workload("gated", R"("kueue.x-k8s.io/admission-gated-by":"budget")"));
  world.settle();
  for (const json::object& asked : {json::object{{"clusterQueue", "cq"}},
                                    json::object{{"localQueue", "q"}, {"namespace", "a"}}})
    EXPECT_THAT(world.told_of(asked), HasSubstr("gated Waits: "));
}

TEST(Estimate, RefusesWhatAsksForNobodyOrForTooMany) {
  OneAtATime world;
  const std::string one = "400 spec.waiting: exactly one of workloads, clusterQueue, localQueue";
  EXPECT_THAT(world.told_of({}), HasSubstr(one));
  EXPECT_THAT(world.told_of({{"clusterQueue", "cq"}, {"localQueue", "q"}}), HasSubstr(one));
  EXPECT_THAT(world.told_of({{"localQueue", "q"}}), HasSubstr("400 spec.waiting.namespace"));
  EXPECT_THAT(world.told_of({{"workloads", json::array{json::object{{"name", "x"}}}}}),
              HasSubstr("400 spec.waiting.workloads[0]: Required value"));
  json::array many;
  for (int i = 0; i < 101; ++i) many.push_back(json::object{{"namespace", "a"}, {"name", "x"}});
  EXPECT_THAT(world.told_of({{"workloads", many}}),
              HasSubstr("Too many: 101: must have at most 100 items"));
}

TEST(Estimate, OfJobsThatSayNothing) {
  OneAtATime world;
  world.apply(OneAtATime::workload("first"));
  world.settle();
  EXPECT_EQ(world.told(), "0 - 0 unknown: 1 running job says no run time");
}

TEST(Estimate, OfJobsWithALimit) {
  OneAtATime world;
  world.apply(OneAtATime::workload("first", "", R"("maximumExecutionTimeSeconds":60,)"));
  world.settle();
  world.pass(20 * kSecond);
  EXPECT_EQ(world.told(),
            "0 40 100 at the latest when the jobs before it have reached their limits");
}

TEST(Estimate, OfWhatNeverFits) {
  OneAtATime world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":
      "none"},"spec":{"namespaceSelector":{},"resourceGroups":[]}})");
  world.settle();
  WriteRequest move;
  move.verb = WriteVerb::kDelete;
  move.kind = &world.kind("localqueues");
  move.version = "v1beta2";
  move.ns = "a";
  move.name = "q";
  ASSERT_TRUE(world.machine.write(std::move(move)).ok());
  world.settle();
  EXPECT_EQ(world.told(), "- - 0 it does not start, whatever ends: something else has to change");
}

/// 9 of 1 cpu: the end of the one that runs is no hope, though nobody knows when that comes.
TEST(Estimate, OfWhatNeverFitsWhileSomethingRuns) {
  OneAtATime world;
  std::string big = OneAtATime::workload("big");
  big.replace(big.find(R"("cpu":"1")"), 9, R"("cpu":"9")");
  world.apply(OneAtATime::workload("runs"));
  world.apply(big);
  world.apply(OneAtATime::workload("small"));
  world.settle();
  EXPECT_EQ(world.told_of({{"clusterQueue", "cq"}}),
            "big Waits: - - 0 it does not start, whatever ends: something else has to change\n"
            "small Waits: 0 - 0 unknown: 1 running job says no run time\n");
}

/// 2 of 2 cpu: one is held by a job that runs, one by a job whose check nobody in a fork answers.
/// That one may end, too, when it has run.
TEST(Estimate, OfWhatWaitsForOneThatWaitsForItsCheck) {
  OneAtATime world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":
      {"name":"budget"},"spec":{"controllerName":"example.com/budget"},"status":{"conditions":[
      {"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":
      "2026-01-01T00:00:00Z"}]}})");
  for (const auto& [name, checks] :
       {std::pair{"plain", ""}, std::pair{"checked", R"("admissionChecksStrategy":
            {"admissionChecks":[{"name":"budget","onFlavors":[]}]},)"}}) {
    world.apply(fmt::format(
        R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{{"name":"{}"}},
        "spec":{{"namespaceSelector":{{}},"cohortName":"team",{}"resourceGroups":[{{
        "coveredResources":["cpu"],"flavors":[{{"name":"f","resources":[
        {{"name":"cpu","nominalQuota":"1"}}]}}]}}]}}}})",
        name, checks));
    world.apply(fmt::format(
        R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{{"name":"{}",
        "namespace":"a"}},"spec":{{"clusterQueue":"{}"}}}})",
        name, name));
  }
  world.settle();
  std::string both = OneAtATime::workload("both", "", "", "plain");
  both.replace(both.find(R"("cpu":"1")"), 9, R"("cpu":"2")");
  world.apply(OneAtATime::workload("runs", "", "", "plain"));
  world.apply(OneAtATime::workload("reserved", "", "", "checked"));
  world.settle();
  world.apply(both);
  world.settle();
  EXPECT_EQ(world.told_of({{"clusterQueue", "plain"}}),
            "both Waits: - - 0 unknown: 1 running job says no run time\n");
}

TEST(Estimate, OfWhatWaitsForAnAdmissionCheck) {
  OneAtATime world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":
      {"name":"budget"},"spec":{"controllerName":"example.com/budget"},"status":{"conditions":[
      {"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":
      "2026-01-01T00:00:00Z"}]}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":
      "checked"},"spec":{"namespaceSelector":{},"admissionChecksStrategy":{"admissionChecks":[
      {"name":"budget","onFlavors":[]}]},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[
      {"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":
      "checked","namespace":"a"},"spec":{"clusterQueue":"checked"}})");
  world.settle();
  EXPECT_EQ(world.told("checked"),
            "- - 0 when its admission checks are Ready: whoever decides about them says when");
}

TEST(Estimate, OfPastRunsOfTheQueue) {
  OneAtATime world;
  for (int i = 1; i <= 10; ++i) world.run_once(fmt::format("past{}", i), i * 10 * kSecond);
  world.apply(OneAtATime::workload("first"));
  world.settle();
  world.pass(75 * kSecond);             // so it takes 80, 90 or 100
  EXPECT_EQ(world.told(), "5 25 50 ");  // the next of four alike lies between in 2 of 4 cases
}

// The same, when the objects of the past runs are gone.
TEST(Estimate, OfPastRunsThatAreKept) {
  OneAtATime world;
  world.run_once("past", 5 * kSecond);  // which is not all that is known
  for (int i = 1; i <= 10; ++i) world.kept["a/q"].push_back(i * 10 * kSecond);
  world.kept["a/other"].assign(50, kSecond);
  world.apply(OneAtATime::workload("first"));
  world.settle();
  world.pass(75 * kSecond);
  EXPECT_EQ(world.told(), "5 25 50 ");
}

/// The start lies in the interval as often as that says. SLUICE_ESTIMATES=N plays so many.
TEST(Estimate, IsRightAsOftenAsItSays) {
  const int plays = trial::amount("SLUICE_ESTIMATES", 15);
  std::mt19937 random(7);
  std::exponential_distribution<double> minutes(0.5);
  int right = 0;
  double said = 0;
  for (int i = 0; i < plays; ++i) {
    OneAtATime world;
    std::vector<Duration> times;
    for (int n = 0; n < 31; ++n)
      times.push_back(static_cast<Duration>(minutes(random) * 60) * kSecond + kSecond);
    for (int n = 0; n < 30; ++n)
      world.run_once(fmt::format("past{}", n), times[static_cast<std::size_t>(n)]);
    world.apply(OneAtATime::workload("first"));
    world.settle();
    const json::object start = world.ask();
    said += static_cast<double>(*api::find_int(start, "percent")) / 100 / plays;
    const Time truly = world.clock.now() + times.back();
    right +=
        *api::find_time(start, "earliest") <= truly && truly <= *api::find_time(start, "latest");
  }
  RecordProperty("right", right);
  EXPECT_NEAR(said, 0.86, 0.03);  // 19 draws of 30 see 14 of them: 13.25 / 15.25
  // So often, give or take two standard deviations.
  EXPECT_GE(right, plays * said - 2 * std::sqrt(plays * said * (1 - said)))
      << right << " of " << plays;
}

}  // namespace
}  // namespace sluice::host::test
