// The plugin in a host of tests: what it writes here and at other places, turn by turn.
#include "world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clusters {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(World, AJobGoesToTheClusterThatReservesAndComesBackAsStatus) {
  World world;
  world.begin();
  EXPECT_THAT(world.there("a"), IsEmpty());  // nothing leaves before the call is durable
  world.settle();
  EXPECT_THAT(world.there("a"), ElementsAre("Workload w"));
  EXPECT_THAT(world.there("b"), ElementsAre("Workload w"));

  world.reserve("b");
  EXPECT_EQ(world.workload().string_or("status.clusterName", ""), "b");
  EXPECT_EQ(world.host.state_of("team/w", "clusters"), "Pending");
  world.settle();
  EXPECT_THAT(world.there("a"), IsEmpty());
  EXPECT_THAT(world.there("b"), ElementsAre("Job j", "Workload w"));
  EXPECT_EQ(world.host.state_of("team/w", "clusters"), "Ready");

  world.show_reported();
  std::string out;
  world.host.objects().patch("Job", "team", "j", "", Json::parse(R"({"spec":{"suspend":false}})"),
                             out);
  world.at("b", "Job", R"({"status":{"active":1}})", "j");
  EXPECT_EQ(world.host.objects().find("Job", "team", "j")->int_or("status.active", 0), 1);

  world.at("b", "Job", R"({"status":{"active":null,"succeeded":1,
    "conditions":[{"type":"Complete","status":"True"}]}})",
           "j");
  world.at("b", "Workload", R"({"status":{"conditions":[{"type":"QuotaReserved","status":"True"},
    {"type":"Finished","status":"True","reason":"Succeeded","message":"all is done"}]}})");
  const Json finished = world.workload().find("status.conditions")->items()[1];
  EXPECT_EQ(finished.string_or("reason", "") + ": " + finished.string_or("message", ""),
            "Succeeded: all is done");
  EXPECT_EQ(world.host.objects().find("Job", "team", "j")->int_or("status.succeeded", 0), 1);

  world.plugin.reconcile({kVersion, "Workload", "team", "w"});
  world.settle();
  world.plugin.reconcile({kVersion, "Workload", "team", "w", "b"});
  world.settle();
  EXPECT_THAT(world.there("b"), IsEmpty());
}

TEST(World, AnOptionOfAWorkloadIsRejectedWithWhatToDo) {
  World world;
  Json option = world.workload();
  Json& owner = option["metadata"]["ownerReferences"];
  owner = Json::parse(R"([{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","name":"parent",
    "uid":"uid-parent","controller":true}])");
  world.host.objects().put(std::move(option));
  world.begin();
  ASSERT_FALSE(world.host.reports().empty());
  EXPECT_EQ(world.host.reports().back().state, "Rejected");
  EXPECT_EQ(world.host.reports().back().message,
            "Options of concurrent admission are not sent to other clusters: use a queue without "
            "concurrentAdmission, or one without this check");
  world.settle();
  EXPECT_THAT(world.there("a"), IsEmpty());
}

TEST(World, ItIsSentWhenItsOtherChecksAreReady) {
  World world;
  const auto other_check = [&](const char* state) {
    Json workload = world.workload();
    Json one = Json::object();
    one["name"] = "approval";
    one["state"] = state;
    Json& states = workload["status"]["admissionChecks"];
    states = Json::parse(R"([{"name":"clusters","state":"Pending"}])");
    states.push_back(one);
    world.host.objects().put(std::move(workload));
  };
  other_check("Pending");
  world.begin();
  world.settle();
  EXPECT_THAT(world.there("a"), IsEmpty());
  EXPECT_EQ(world.host.reports().back().message,
            "The workload is sent to a cluster when its other checks are Ready: approval");
  other_check("Ready");
  world.plugin.reconcile({kVersion, "Workload", "team", "w"});
  world.settle();
  EXPECT_THAT(world.there("a"), ElementsAre("Workload w"));
}

TEST(World, WhatRunsThereIsWhatWasGrantedHere) {
  World world;
  Json job = *world.host.objects().find("Job", "team", "j");
  job["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "2";
  job["spec"]["parallelism"] = 5;
  world.host.objects().put(std::move(job));
  Json workload = world.workload();
  workload["spec"]["podSets"] = Json::parse(R"([{"name":"main","count":5,"minCount":2}])");
  workload["status"]["admission"] =
      Json::parse(R"({"podSetAssignments":[{"name":"main","count":3}]})");
  world.host.objects().put(std::move(workload));
  world.begin();
  world.settle();
  const auto& there = world.place("a").objects;
  EXPECT_EQ(there.find("Workload", "team", "w")->find("spec.podSets")->dump(),
            R"([{"name":"main","count":3}])");
  world.reserve("a");
  world.settle();
  const Json* made = there.find("Job", "team", "j");
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->int_or("spec.parallelism", 0), 3);
  EXPECT_EQ(made->find("metadata.annotations")->member("kueue.x-k8s.io/job-min-parallelism"),
            nullptr);
}

TEST(World, AnExplanationTellsWhatEachClusterSays) {
  World world;
  const auto told = [&] {
    return world.plugin
        .explain_check(FakeWorkload("team", "w"),
                       {.check = "clusters", .check_json = kCheck, .attempt = 1})
        .lines;
  };
  world.begin();
  EXPECT_THAT(told(),
              ElementsAre("It is on its way to cluster a", "It is on its way to cluster b"));
  world.settle();
  world.at("a", "Workload", R"({"status":{"conditions":[{"type":"QuotaReserved","status":"False",
    "reason":"Pending","message":"2 more needed"}]}})");
  EXPECT_THAT(told(), ElementsAre("It waits in cluster a, Pending: 2 more needed",
                                  "It waits in cluster b, where its turn has not come yet"));
  world.reserve("b");
  world.settle();
  const std::size_t sent = world.host.remotes().sent().size();
  EXPECT_THAT(told(), ElementsAre("It has its quota in cluster b, and is not admitted yet"));
  EXPECT_EQ(world.host.remotes().sent().size(), sent);  // it only looked
}

TEST(World, AJobWhoseNameIsTakenForTooLongGoesToAnotherCluster) {
  World world;  // a cluster that is lost has a minute, and so has one that refuses
  const auto look = [&] { world.plugin.reconcile({kVersion, "Workload", "team", "w"}); };
  const std::pair<std::int64_t, std::string> taken(409, "jobs.batch \"j\" already exists");
  world.begin();
  world.settle();
  world.reserve("b");
  for (int tries = 1; tries <= 2; ++tries) {
    world.place("b").refusals = {taken};
    world.settle();
    int jobs = 0;
    for (const auto& write : world.host.remotes().sent()) jobs += write.ref.kind == "Job" ? 1 : 0;
    EXPECT_EQ(jobs, tries) << "it rests after each";
    EXPECT_EQ(world.host.state_of("team/w", "clusters"), "Pending");
    world.plugin.advance(30s);
    look();
  }
  world.place("b").refusals.clear();
  EXPECT_EQ(world.host.state_of("team/w", "clusters"), "Retry");
  world.cancel(1);
  world.begin(2);
  world.settle();
  for (int turn = 0; turn < 3; ++turn) {
    look();
    world.settle();
  }
  EXPECT_THAT(world.there("b"), IsEmpty());
  EXPECT_THAT(world.there("a"), ElementsAre("Workload w"));
  world.plugin.advance(61s);  // it has been left alone for as long
  look();
  world.settle();
  EXPECT_THAT(world.there("b"), ElementsAre("Workload w"));
}

TEST(World, HowLongAClusterRefusesIsCountedOnByAManagerThatStartsAnew) {
  constexpr const char* kConfig = R"({"workerLostTimeoutSeconds":60})";
  World world(kConfig);
  const auto refuse = [&] { world.place("b").refusals = {{409, "it exists already"}}; };
  world.begin();
  world.settle();
  world.reserve("b");
  refuse();
  world.settle();
  EXPECT_EQ(world.refused(), "b refuses the job since " + sluice::time_text(world.host.now()));
  world.plugin.advance(40s);

  TestedPlugin again(world.host, kConfig);
  const auto begin = [&](std::uint64_t attempt) {
    FakeWorkload workload("team", "w");
    again.begin_check(workload, {.check = "clusters", .check_json = kCheck, .attempt = attempt});
  };
  again.check_changed("clusters", kCheck);
  for (const char* name : {"a", "b"}) again.reconcile({kVersion, "MultiKueueCluster", "", name});
  begin(1);
  EXPECT_EQ(world.host.state_of("team/w", "clusters"), "Pending") << "40 s of 60";
  again.advance(20s);
  refuse();
  again.reconcile({kVersion, "Workload", "team", "w"});
  EXPECT_EQ(world.host.state_of("team/w", "clusters"), "Retry");

  // So is how long it is left alone then.
  again.cancel_check(FakeWorkload("team", "w"), {.check = "clusters", .attempt = 1});
  const std::string alone =
      "b is left alone until " + sluice::time_text(world.host.now() + 60'000'000'000);
  EXPECT_EQ(world.refused(), alone);
  TestedPlugin third(world.host, kConfig);
  third.check_changed("clusters", kCheck);
  for (const char* name : {"a", "b"}) third.reconcile({kVersion, "MultiKueueCluster", "", name});
  third.begin_check(FakeWorkload("team", "w"),
                    {.check = "clusters", .check_json = kCheck, .attempt = 2});
  const auto look = [&] {
    while (!world.host.remotes().waiting().empty())
      for (const ObjectRef& ref : world.host.remotes().deliver()) third.reconcile(ref);
    third.reconcile({kVersion, "Workload", "team", "w"});
  };
  world.place("b").refusals.clear();
  for (int turn = 0; turn < 4; ++turn) look();
  EXPECT_THAT(world.there("b"), IsEmpty());
  EXPECT_THAT(world.there("a"), ElementsAre("Workload w"));
  third.advance(61s);
  for (int turn = 0; turn < 2; ++turn) look();
  EXPECT_THAT(world.there("b"), ElementsAre("Workload w"));
  EXPECT_EQ(world.refused(), "") << "nobody is left alone any more";
}

constexpr const char* kExplained = R"({"state":"Pending",
  "queue":{"positionInClusterQueue":2,"pendingInClusterQueue":5,"ahead":["other-team/secret"]},
  "podSets":[{"name":"main","resources":[{"resource":"cpu","requested":"3","flavors":[
    {"flavor":"f","available":"1","maximum":"4","missing":"2",
     "holders":[{"workload":"other-team/secret"}]}]}]}],
  "wouldHelp":["other-team/secret would have to finish"]})";

/// Asked when somebody asks, told in a later turn; so is whoever asked, by being asked again.
TEST(World, AnExplanationHasWhatTheClusterItselfExplains) {
  World world;
  const auto told = [&] {
    return world.plugin.explain_check(FakeWorkload("team", "w"),
                                      {.check = "clusters", .check_json = kCheck, .attempt = 1});
  };
  world.place("a").tells = [](const ObjectRef& object) {
    EXPECT_EQ(object.api_version + " " + object.kind + " " + object.ns + "/" + object.name,
              "sluice.dev/v1alpha1 Explanation team/w");
    return sluice::RemoteAnswer{false, 200, {}, Json::parse(kExplained)};
  };
  world.begin();
  world.settle();
  EXPECT_EQ(world.host.remotes().asked().size(), 0U);  // before anybody wants to know
  sluice::CheckWords said = told();
  EXPECT_TRUE(said.more_soon);
  EXPECT_THAT(said.lines, ElementsAre("It waits in cluster a, where its turn has not come yet",
                                      "It waits in cluster b, where its turn has not come yet"));
  EXPECT_TRUE(told().more_soon);
  EXPECT_EQ(world.host.remotes().asked().size(), 2U);  // each once
  world.answer();
  said = told();
  EXPECT_FALSE(said.more_soon);
  EXPECT_THAT(said.lines,
              ElementsAre("It waits in cluster a, where its turn has not come yet",
                          "In cluster a it is 2 of 5 that wait in its ClusterQueue",
                          "In cluster a, cpu for pod set main: 3 asked; flavor f has 1 free of at "
                          "most 4, 2 missing",
                          "It waits in cluster b, where its turn has not come yet"));
  // b answers no such questions: it is left alone for a minute.
  world.plugin.advance(2s);
  EXPECT_TRUE(told().more_soon);
  EXPECT_EQ(world.host.remotes().asked().size(), 3U);
  world.answer();
  world.plugin.advance(60s);
  told();
  EXPECT_EQ(world.host.remotes().asked().size(), 5U);
}

TEST(World, ACopyThatDoesNotWaitIsNotAskedAbout) {
  World world;
  world.begin();
  world.settle();
  world.reserve("b");
  world.settle();
  const sluice::CheckWords said = world.plugin.explain_check(
      FakeWorkload("team", "w"), {.check = "clusters", .check_json = kCheck, .attempt = 1});
  EXPECT_FALSE(said.more_soon);
  EXPECT_EQ(world.host.remotes().asked().size(), 0U);
}

TEST(World, AnExplanationDoesNotNameClustersThatTheWorkloadDoesNot) {
  World world(R"({"dispatcher":"Incremental","step":1})");
  world.begin();
  EXPECT_THAT(world.plugin.explain_check(FakeWorkload("team", "w"), {.check = "clusters"}).lines,
              ElementsAre("It is on its way to cluster a", "1 other cluster is not asked yet"));
}

TEST(World, MarksOnWorkloadsOfNoCheckOfOursAreSomebodyElses) {
  World world;
  world.host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
    "metadata":{"name":"other","namespace":"team","uid":"uid-o"},"spec":{},
    "status":{"clusterName":"c","admissionChecks":[{"name":"another","state":"Pending"}]}})");
  world.plugin.reconcile({kVersion, "Workload", "team", "other"});
  const Json other = *world.host.objects().find("Workload", "team", "other");
  EXPECT_EQ(other.string_or("status.clusterName", ""), "c");
}

TEST(World, AfterARestartNothingIsWithdrawnBeforeTheAttemptIsKnown) {
  World world;
  world.begin();
  world.settle();
  world.reserve("b");
  world.settle();
  world.show_reported();
  const std::size_t sent = world.host.remotes().sent().size();
  TestedPlugin again(world.host, R"({"workerLostTimeoutSeconds":60})");
  again.check_changed("clusters", kCheck);
  again.reconcile({kVersion, "Workload", "team", "w"});
  for (const char* name : {"a", "b"}) again.reconcile({kVersion, "MultiKueueCluster", "", name});
  FakeWorkload workload("team", "w");
  again.begin_check(workload, {.check = "clusters", .check_json = kCheck, .attempt = 1});
  EXPECT_THAT(world.host.remotes().waiting(), IsEmpty());
  EXPECT_EQ(world.host.remotes().sent().size(), sent);
  EXPECT_EQ(world.host.state_of("team/w", "clusters"), "Ready");
}

TEST(World, AClusterThatIsLostKeepsItsWorkForAWhile) {
  World world;
  world.begin();
  world.settle();
  world.reserve("b");
  world.settle();
  world.show_reported();
  world.place("b").state = {false, world.host.now(), true, "Connection", "it is cut", 0, 0};
  EXPECT_EQ(world.plugin.reconcile({"", "", "", "", "b"}).after_ms, 60'000);
  EXPECT_EQ(world.condition("b").string_or("message", ""), "it is cut");
  EXPECT_EQ(world.host.state_of("team/w", "clusters"), "Ready");
  world.host.set_now(world.host.now() + 60'000'000'000);
  world.plugin.reconcile({"", "", "", "", "b"});
  EXPECT_EQ(world.host.state_of("team/w", "clusters"), "Retry");
}

TEST(World, WhatComesBackLateIsCollected) {
  World world;
  world.begin();
  world.settle();
  world.reserve("b");
  world.settle();
  std::string out;
  world.host.objects().remove("Job", "team", "j");  // and with it the workload
  world.cancel();
  world.plugin.reconcile({"batch/v1", "Job", "team", "j", "b"});
  world.settle();
  world.plugin.reconcile({kVersion, "Workload", "team", "w", "b"});
  world.settle();
  EXPECT_THAT(world.there("b"), IsEmpty());
}

TEST(World, WhatIsLeftAtAClusterThatComesBackIsCollectedWhosesoeverItWas) {
  World world;
  world.begin();
  world.settle();
  world.reserve("a");
  world.settle();
  world.place("b").state.connected = false;
  std::string out;
  world.place("b").objects.create(world.workload(), out);  // as it was before it was lost
  world.host.objects().remove("Job", "team", "j");         // and with it the workload
  world.cancel();
  world.place("b").objects.put(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"i",
    "namespace":"team","labels":{"kueue.x-k8s.io/prebuilt-workload-name":"v"}}})");
  world.place("b").state.connected = true;
  world.plugin.reconcile({"", "", "", "", "b"});
  world.settle();
  EXPECT_THAT(world.there("b"), IsEmpty());
}

TEST(World, WhatAClusterRefusesIsNotSentAgainAtOnce) {
  World world;
  world.place("a").refusals = {{403, "no"}};
  world.begin();
  world.settle();  // a refuses, b does not
  EXPECT_EQ(world.host.remotes().sent().size(), 2U);
  world.host.set_now(world.host.now() + 4'000'000'000);
  EXPECT_EQ(world.plugin.reconcile({kVersion, "Workload", "team", "w", "a"}).after_ms, 1'000);
  EXPECT_THAT(world.host.remotes().waiting(), IsEmpty());
  world.host.set_now(world.host.now() + 1'000'000'000);
  world.plugin.reconcile({kVersion, "Workload", "team", "w", "a"});
  world.settle();
  EXPECT_THAT(world.there("a"), ElementsAre("Workload w"));
}

TEST(World, ThatItsJobIsRefusedIsHeardThoughNobodySawThatJob) {
  // Another manager's job of the same name is at b, which we do not follow.
  World world;
  world.begin();
  world.settle();
  world.reserve("b");
  world.place("b").refusals = {{409, "jobs.batch \"j\" already exists"}};
  world.settle();
  EXPECT_EQ(world.host.reports().back().state, "Pending");
  EXPECT_EQ(world.host.reports().back().message,
            "The job cannot be made at \"b\": jobs.batch \"j\" already exists");
}

TEST(World, OfANextAttemptNothingIsMadeWhileTheLastOneIsLeft) {
  World world;
  world.begin();
  world.settle();
  world.reserve("b");
  world.settle();
  world.place("b").state.connected = false;
  world.place("b").state.since = world.host.now();
  world.put_workload("Pending", R"("clusterName":"b",)");
  world.cancel(1);
  world.begin(2);
  world.settle();
  EXPECT_THAT(world.there("a"), IsEmpty());  // its job may still run at b

  world.place("b").state.connected = true;
  world.plugin.reconcile({"", "", "", "", "b"});
  world.settle();
  world.plugin.reconcile({kVersion, "Workload", "team", "w", "b"});
  world.settle();
  EXPECT_THAT(world.there("a"), ElementsAre("Workload w"));
  EXPECT_THAT(world.there("b"), ElementsAre("Workload w"));
  EXPECT_EQ(world.place("b")
                .objects.find("Workload", "team", "w")
                ->find("metadata.annotations")
                ->member("kueue.x-k8s.io/multikueue-origin-attempt")
                ->as_string(),
            "2");
}

TEST(World, WhatBecameOfAWriteIsHeardAlsoWhenTheJobWasSeenToGoBefore) {
  World world;
  world.begin();
  world.settle();
  world.reserve("b");
  world.settle();
  world.put_workload("Pending", R"("clusterName":"b",)");
  world.cancel(1);
  world.begin(2);
  ASSERT_EQ(world.host.remotes().waiting().front().verb, "erase");
  const auto gone = [&](const char* version, const char* kind, const char* name) {
    std::string out;
    world.place("b").objects.remove_if(kind, "team", name, "", out);
    world.plugin.reconcile({version, kind, "team", name, "b"});
  };
  gone(kVersion, "Workload", "w");
  gone("batch/v1", "Job", "j");
  EXPECT_THAT(world.there("b"), IsEmpty());
  EXPECT_EQ(world.workload().string_or("status.clusterName", ""), "b");
  world.settle();  // and now the cluster answers: nothing is left there
  EXPECT_EQ(world.workload().string_or("status.clusterName", ""), "");
}

TEST(World, OfAJobThatChangesItsSizeItsEndThereIsHeardWhateverWasSeenToGoFirst) {
  World world;
  const std::string elastic = R"({"metadata":{"annotations":{"kueue.x-k8s.io/elastic-job":"true"},)"
                              R"("labels":{"kueue.x-k8s.io/job-uid":"uid-j"}}})";
  std::string out;
  for (const auto& [kind, name] : {std::pair("Job", "j"), std::pair("Workload", "w")})
    world.host.objects().patch(kind, "team", name, "", Json::parse(elastic), out);
  world.begin();
  world.settle();
  world.reserve("b");
  world.settle();
  ASSERT_THAT(world.there("b"), ElementsAre("Job j", "Workload w"));
  world.host.objects().patch("Workload", "team", "w", "status",
                             Json::parse(R"({"status":{"clusterName":"b"}})"), out);
  world.cancel(1);
  world.begin(2);
  // The job there is withdrawn, the answer still under way; its workload is seen to go before it.
  ASSERT_EQ(world.host.remotes().waiting().front().verb, "erase");
  const auto gone = [&](const char* version, const char* kind, const char* name) {
    world.place("b").objects.remove_if(kind, "team", name, "", out);
    world.plugin.reconcile({version, kind, "team", name, "b"});
  };
  gone(kVersion, "Workload", "w");
  gone("batch/v1", "Job", "j");
  world.settle();
  EXPECT_EQ(world.workload().string_or("status.clusterName", ""), "");
}

TEST(World, WhoCannotGoElsewhereIsRejectedWithASentence) {
  struct Case {
    const char* job;       // changed so
    const char* workload;  // the same
    const char* message;
  };
  const Case cases[] = {
      {R"({"spec":{"managedBy":null}})", "{}",
       "The owner is not managed by Kueue: Expecting spec.managedBy to be "
       "\"kueue.x-k8s.io/multikueue\" not \"\""},
      {"{}",
       R"({"metadata":{"annotations":{"kueue.x-k8s.io/elastic-job":"true"},"ownerReferences":[
         {"apiVersion":"ray.io/v1","kind":"RayCluster","name":"j","uid":"u","controller":true}]}})",
       "Of elastic jobs (annotation kueue.x-k8s.io/elastic-job) a batch/v1 Job may go to another "
       "cluster, not a RayCluster: take the annotation away, or use a queue without this check"}};
  for (const Case& each : cases) {
    World world(R"({"kinds":["batch/v1 Job","ray.io/v1 RayCluster"]})");
    world.host.objects().put(R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{
      "name":"j","namespace":"team"},"spec":{"managedBy":"kueue.x-k8s.io/multikueue"}})");
    std::string out;
    world.host.objects().patch("Job", "team", "j", "", Json::parse(each.job), out);
    world.host.objects().patch("Workload", "team", "w", "", Json::parse(each.workload), out);
    world.begin();
    ASSERT_EQ(world.host.reports().size(), 1U);
    EXPECT_EQ(world.host.reports()[0].state, "Rejected");
    EXPECT_EQ(world.host.reports()[0].message, each.message);
    EXPECT_THAT(world.host.remotes().waiting(), IsEmpty());
  }
}

constexpr const char* kEstimate =
    R"({"workerLostTimeoutSeconds":60,"dispatcher":"Estimate","roundSeconds":10})";

/// The place answers that it would start w so.
void foresee(World& world, const std::string& place, const std::string& decision) {
  world.place(place).answers = [decision](const Json& question) {
    EXPECT_EQ(question.find("spec.objects")->items()[0].string_or("metadata.name", ""), "w");
    return sluice::RemoteAnswer{
        false, 201, "",
        Json::parse(R"({"status":{"time":"2026-01-01T00:00:00Z","workloads":[
          {"object":{"namespace":"team","name":"w"},"decision":)" +
                    decision + "}]}}")};
  };
}

TEST(World, AskedFirstTheClusterThatStartsItGetsTheOnlyCopy) {
  World world(kEstimate);
  foresee(world, "a", R"("Waits")");
  foresee(world, "b", R"("Starts")");
  world.begin();
  EXPECT_EQ(world.host.remotes().asked().size(), 2U);
  EXPECT_THAT(world.host.remotes().waiting(), IsEmpty());
  world.answer();
  world.settle();
  EXPECT_THAT(world.there("a"), IsEmpty());
  EXPECT_THAT(world.there("b"), ElementsAre("Workload w"));
}

TEST(World, WhenNobodyStartsItNowItIsAskedWhen) {
  World world(kEstimate);
  foresee(world, "a", R"("Waits","start":{"latest":"2026-01-01T00:00:20Z"})");
  foresee(world, "b", R"("Waits","start":{"latest":"2026-01-01T00:00:30Z"})");
  world.begin();
  world.answer();
  EXPECT_THAT(world.host.remotes().waiting(), IsEmpty());
  EXPECT_FALSE(world.host.remotes().asked()[0].second.bool_or("spec.estimate", true));
  EXPECT_TRUE(world.host.remotes().asked()[2].second.bool_or("spec.estimate", false));
  world.answer();
  world.settle();
  EXPECT_THAT(world.there("a"), ElementsAre("Workload w"));
  EXPECT_THAT(world.there("b"), IsEmpty());
  world.host.set_now(world.host.now() + 10'000'000'000);
  world.plugin.reconcile({kVersion, "Workload", "team", "w"});  // it had its turn
  world.settle();
  EXPECT_THAT(world.there("b"), ElementsAre("Workload w"));
}

TEST(World, ClustersThatAnswerNoQuestionsGetItAllAtOnceAndAreNotAskedAgainSoon) {
  World world(kEstimate);
  world.begin();
  world.answer();
  world.settle();
  for (const char* name : {"a", "b"}) EXPECT_THAT(world.there(name), ElementsAre("Workload w"));
  EXPECT_EQ(world.host.remotes().asked().size(), 2U);
  world.cancel(1);
  world.begin(2);
  EXPECT_EQ(world.host.remotes().asked().size(), 2U);
}

TEST(World, ASecretThatChangesConnectsAnew) {
  World world;
  EXPECT_EQ(world.condition("a").string_or("reason", ""), "Active");
  std::string out;
  const std::string before = *world.place("a").spec;
  world.host.objects().patch("Secret", "kueue-system", "a", "",
                             Json::parse(R"({"data":{"kubeconfig":"ZGVm"}})"), out);
  world.plugin.reconcile({"v1", "Secret", "kueue-system", "a"});
  EXPECT_NE(*world.place("a").spec, before);
  world.host.objects().remove("Secret", "kueue-system", "a");
  world.plugin.reconcile({"v1", "Secret", "kueue-system", "a"});
  EXPECT_EQ(world.condition("a").string_or("reason", "") + ": " +
                world.condition("a").string_or("message", ""),
            "BadKubeConfig: load client config failed: there is no secret \"kueue-system/a\"");
  const auto said = world.plugin.check_changed("clusters", kCheck);
  EXPECT_EQ(said.reason, "SomeActiveClusters");
}

}  // namespace
}  // namespace clusters
