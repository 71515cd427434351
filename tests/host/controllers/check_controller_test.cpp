// How the host asks plugins for admission checks, and what becomes of their answers: idempotent per
// workload, check and attempt; answers that come late, twice, or for no workload change nothing.
#include "host/controllers/checks/check_controller.hpp"

#include "tests/host/controllers/fake_checks.hpp"
#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct CheckWorld : HostFixture {
  CheckWorld() {
    start();
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"f"}})");
    check("fake", "example.com/fake");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
              "metadata":{"name":"lq","namespace":"default"},"spec":{"clusterQueue":"cq"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
              "spec":{"namespaceSelector":{},"admissionChecksStrategy":{"admissionChecks":[
              {"name":"fake"}]},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[
              {"name":"f","resources":[{"name":"cpu","nominalQuota":"4"}]}]}]}})");
    plugins.take();
  }
  /// A controller that knows nothing yet, as after a restart or a reload.
  void start() {
    loop.emplace(objects, own_index);
    controller.emplace(scheme, kernel.engine(), plugins);
    loop->add(*controller);
    kernel.listen(&*loop);
    kernel.begin_instant(now);
    for (const api::KindInfo* each : scheme.kinds())
      for (const StoredObject* stored : store.list(*each))
        loop->changed({each, stored->key, stored, nullptr});
    kernel.run_to_rest();
  }
  void apply(const std::string& text) {
    ObjectAccess& access = objects;
    const auto done = access.create(boost::json::parse(text).get_object());
    ASSERT_TRUE(done.ok()) << done.error().text;
    kernel.run_to_rest();
  }
  void check(const std::string& name, const std::string& controller_name) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":")" +
          name + R"("},"spec":{"controllerName":")" + controller_name + R"("}})");
  }
  /// What the queue asks for, and how many CPUs it has.
  void queue(const std::string& checks, int cpus) {
    const json::value strategy = json::parse(
        R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[)" + checks +
        R"(]},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[
        {"name":"cpu","nominalQuota":")" +
        std::to_string(cpus) + R"("}]}]}]}})");
    json::object now_it_is = get("clusterqueues", "cq");
    now_it_is["spec"].get_object()["admissionChecksStrategy"] =
        strategy.at("spec").at("admissionChecksStrategy");
    now_it_is["spec"].get_object()["resourceGroups"] = strategy.at("spec").at("resourceGroups");
    ObjectAccess& access = objects;
    ASSERT_TRUE(access.update(std::move(now_it_is)));
    kernel.run_to_rest();
  }
  void slow(Duration rest) {
    plugins.now = &now;
    plugins.rest = rest;
  }
  void workload(const std::string& name) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
          name +
          R"(","namespace":"default"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,
          "template":{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{
          "cpu":"2"}}}]}}}]}})");
  }
  void say(CheckReport report) {
    plugins.reports.push_back(std::move(report));
    kernel.run_to_rest();
  }
  void pass(Duration time) {
    now += time;
    kernel.begin_instant(now);
    kernel.run_to_rest();
  }
  WorkloadState state(const std::string& name) {
    return kernel.engine().state(*kernel.engine().find("default/" + name));
  }
  std::string message_of(const std::string& name) {
    return at(get("workloads", "default/" + name), "/status/admissionChecks/0/message");
  }
  /// How often the workload was written since the last look.
  int writes_of(const std::string& name) {
    const std::string version =
        at(get("workloads", "default/" + name), "/metadata/resourceVersion");
    return std::exchange(versions[name], version) == version ? 0 : 1;
  }
  std::string at_check(std::string_view pointer) {
    return at(kernel.current(*scheme.find_by_name("admissionchecks"), "fake"),
              std::string(pointer));
  }

  std::map<std::string, std::string> versions;
  ObjectIndex own_index;
  FakeChecks plugins;
  std::optional<ControllerLoop> loop;
  std::optional<CheckController> controller;
};

TEST(CheckController, BeginsAtReservationAndAdmitsOnReady) {
  CheckWorld world;
  world.workload("a");
  EXPECT_THAT(world.plugins.take(), ElementsAre("begin a fake 1"));
  EXPECT_THAT(world.plugins.last.workload_json, HasSubstr(R"("QuotaReserved")"));
  EXPECT_THAT(world.plugins.last.check_json, HasSubstr("example.com/fake"));
  EXPECT_EQ(world.state("a"), WorkloadState::kQuotaReserved);
  world.say(world.plugins.report("Ready"));
  EXPECT_EQ(world.state("a"), WorkloadState::kAdmitted);
  EXPECT_THAT(world.plugins.take(), IsEmpty());  // it goes on watching
}

TEST(CheckController, CancelsWhenTheReservationEnds) {
  struct Case {
    const char* what;
    std::function<void(CheckWorld&)> end;
    const char* why;
  };
  const Case cases[] = {
      {"deleted", [](CheckWorld& w) { EXPECT_TRUE(w.remove("workloads", "a").ok()); },
       "cancel a fake 1 Deleted"},
      {"finished", [](CheckWorld& w) { EXPECT_TRUE(w.kernel.finish("default/a", "Done", "")); },
       "cancel a fake 1 Finished"},
      {"retried", [](CheckWorld& w) { w.say(w.plugins.report("Retry")); },
       "cancel a fake 1 AdmissionCheck"},
      {"rejected", [](CheckWorld& w) { w.say(w.plugins.report("Rejected")); },
       "cancel a fake 1 DeactivatedDueToAdmissionCheck"},
  };
  for (const Case& each : cases) {
    CheckWorld world;
    world.workload("a");
    world.plugins.take();
    each.end(world);
    world.kernel.run_to_rest();
    const auto told = world.plugins.take();
    ASSERT_FALSE(told.empty()) << each.what;
    EXPECT_EQ(told.front(), each.why) << each.what;
  }
}

TEST(CheckController, ARetryBeginsTheNextAttempt) {
  CheckWorld world;
  world.workload("a");
  CheckReport retry = world.plugins.report("Retry");
  retry.requeue_after_seconds = 30;
  world.plugins.take();
  world.say(retry);
  EXPECT_THAT(world.plugins.take(), ElementsAre("cancel a fake 1 AdmissionCheck"));
  world.pass(30 * kSecond);
  EXPECT_THAT(world.plugins.take(), ElementsAre("begin a fake 2"));
  EXPECT_EQ(world.plugins.last.retry_count, 1);
}

TEST(CheckController, LateDoubleAndUnknownReportsChangeNothing) {
  CheckWorld world;
  world.workload("a");
  const CheckReport first = world.plugins.report("Ready");
  world.say(world.plugins.report("Retry"));  // at once: attempt 2 is reserved
  ASSERT_EQ(world.state("a"), WorkloadState::kQuotaReserved);
  struct Case {
    const char* what;
    std::function<void(CheckReport&)> change;
  };
  const Case cases[] = {
      {"an older attempt", [](CheckReport&) {}},
      {"a future attempt", [](CheckReport& r) { r.attempt = 9; }},
      {"an unknown workload", [](CheckReport& r) { r.name = "nobody"; }},
      {"one of that name before",
       [](CheckReport& r) {
         r.uid = "other";
         r.attempt = 2;
       }},
      {"a check that it has not",
       [](CheckReport& r) {
         r.check = "else";
         r.attempt = 2;
       }},
  };
  std::uint64_t late = 0;
  for (const Case& each : cases) {
    CheckReport report = first;
    each.change(report);
    world.say(report);
    EXPECT_EQ(world.state("a"), WorkloadState::kQuotaReserved) << each.what;
    EXPECT_EQ(world.controller->reports().late(), ++late) << each.what;
  }
  CheckReport odd = first;
  odd.attempt = 2;
  odd.pod_set_updates_json = R"([{"name":"workers"}])";  // there is only `main`
  world.say(odd);
  EXPECT_EQ(world.state("a"), WorkloadState::kQuotaReserved);
  odd.pod_set_updates_json = R"([{"name":"main","labels":{"kueue.x-k8s.io/podset":"other"}}])";
  world.say(odd);  // a mark of pods
  EXPECT_EQ(world.state("a"), WorkloadState::kQuotaReserved);
  odd.pod_set_updates_json.clear();
  world.plugins.reports = {odd, odd};  // the same twice
  world.kernel.run_to_rest();
  EXPECT_EQ(world.state("a"), WorkloadState::kAdmitted);
  EXPECT_EQ(world.controller->reports().late(), late);
}

/// The plugin `thief` answers for no controller, `quick` for another one; `outside` is the check of
/// a program that writes statuses over the API.
TEST(CheckController, OnlyThePluginOfItsControllerAnswersACheck) {
  struct Case {
    const char *check, *controller, *plugin;
    bool is_taken;
    std::uint64_t foreign;  // of two reports
  };
  const Case cases[] = {
      {"fake", "example.com/fake", "fake", true, 0},
      {"fake", "example.com/fake", "thief", false, 2},
      {"fake", "example.com/fake", "quick", false, 2},
      {"fake", "example.com/fake", "", false, 2},
      {"outside", "example.com/outside", "fake", false, 2},
      {"outside", "example.com/outside", "", false, 2},
  };
  for (const Case& each : cases) {
    CheckWorld world;
    if (std::string(each.check) != "fake") {
      world.check(each.check, each.controller);
      world.queue(R"({"name":")" + std::string(each.check) + "\"}", 4);
    }
    world.workload("a");
    ASSERT_EQ(world.state("a"), WorkloadState::kQuotaReserved) << each.check;
    CheckReport report;
    report.plugin = each.plugin;
    report.ns = "default";
    report.name = "a";
    report.uid = world.kernel.engine().object(*world.kernel.engine().find("default/a"))->meta.uid;
    report.check = each.check;
    report.attempt = 1;
    report.state = "Ready";
    world.say(report);
    world.say(report);
    const std::string what = std::string(each.plugin) + " of " + each.check;
    EXPECT_EQ(world.state("a") == WorkloadState::kAdmitted, each.is_taken) << what;
    EXPECT_EQ(world.controller->reports().foreign(), each.foreign) << what;
    EXPECT_EQ(world.controller->reports().late(), 0U) << what;
  }
}

TEST(CheckController, TwoAnswersInOneInstantAreTakenInOrder) {
  CheckWorld world;
  world.workload("a");
  world.plugins.reports = {world.plugins.report("Ready"), world.plugins.report("Rejected")};
  world.kernel.run_to_rest();
  EXPECT_EQ(world.state("a"), WorkloadState::kInactive);
}

TEST(CheckController, ARestartBeginsAgainWithTheSameAttempt) {
  CheckWorld world;
  world.workload("a");
  world.workload("b");
  CheckReport b = world.plugins.report("Ready");
  world.say(b);
  world.plugins.take();
  world.start();
  EXPECT_THAT(world.plugins.take(), ElementsAre("check fake", "begin a fake 1", "begin b fake 1"));
}

TEST(CheckController, AFaultIsTriedAgain) {
  CheckWorld world;
  world.plugins.faulty = true;
  world.workload("a");
  EXPECT_THAT(world.plugins.take(), IsEmpty());
  world.plugins.faulty = false;
  world.pass(kSecond);
  EXPECT_THAT(world.plugins.take(), ElementsAre("begin a fake 1"));
}

TEST(CheckController, AQuarantinedPluginIsNotActive) {
  CheckWorld world;
  world.plugins.faulty = true;
  world.workload("a");
  EXPECT_EQ(world.at_check("/status/conditions/0/status"), "True");  // one fault is none too many
  world.plugins.in_quarantine = true;
  world.plugins.activity = {false, "PluginFault", "plugin fake is quarantined after 5 faults"};
  world.pass(2 * kSecond);
  EXPECT_EQ(world.at_check("/status/conditions/0/reason"), "PluginFault");
  world.workload("b");
  EXPECT_THAT(world.kernel.engine().view(*world.kernel.engine().find("default/b")).message,
              HasSubstr("fake (plugin fake is quarantined after 5 faults)"));
  EXPECT_EQ(world.state("a"), WorkloadState::kQuotaReserved);  // no workload is evicted for it
  world.plugins.faulty = world.plugins.in_quarantine = false;
  world.plugins.activity = {true, "Active", "It works"};
  world.plugins.take();
  world.pass(10 * kSecond);
  EXPECT_THAT(world.plugins.take(), ElementsAre("begin a fake 1", "check fake", "begin b fake 1"));
  EXPECT_EQ(world.at_check("/status/conditions/0/status"), "True");
}

TEST(CheckController, AStateThatWaitsSaysThatItsPluginFailed) {
  CheckWorld world;
  world.plugins.faulty = true;
  world.plugins.troubled = "its plugin failed, and is asked again: plugin fake, begin: no paper";
  world.workload("a");
  EXPECT_EQ(world.message_of("a"), world.plugins.troubled);
  EXPECT_EQ(world.plugins.tries, 1);  // what was written is no reason to ask once more
  world.writes_of("a");
  world.pass(kSecond);
  world.pass(2 * kSecond);
  EXPECT_EQ(world.plugins.tries, 3);
  EXPECT_EQ(world.writes_of("a"), 0);  // the same sentence
  world.plugins.troubled = "its plugin failed, and is asked again: plugin fake, begin: no ink";
  world.pass(4 * kSecond);
  EXPECT_EQ(world.message_of("a"), world.plugins.troubled);
  EXPECT_EQ(world.plugins.tries, 4);
  world.plugins.in_quarantine = true;
  world.pass(8 * kSecond);
  EXPECT_EQ(world.message_of("a"), "its plugin failed too often, and is asked no more");
  world.plugins.faulty = world.plugins.in_quarantine = false;
  world.pass(16 * kSecond);
  EXPECT_EQ(world.message_of("a"), "");  // it has taken it up, and nothing else to say yet
  EXPECT_EQ(world.plugins.tries, 6);
  EXPECT_EQ(world.kernel.next_timer(), kNever);
  CheckReport soon = world.plugins.report("Pending");
  soon.message = "soon";
  world.say(soon);
  world.start();  // as after a restart: it begins again, and what it said stays
  EXPECT_EQ(world.message_of("a"), "soon");
}

// It reports and then fails, each time: what it says changes the workload, which is no reason to
// begin before its time. Tries at 0, 1 and 3 s; then it says Ready, and none at 7 s.
TEST(CheckController, WhatItReportsBeforeItFailsHoldsAndHurriesNothing) {
  CheckWorld world;
  world.plugins.faulty = true;
  world.workload("a");
  const WorkloadId id = *world.kernel.engine().find("default/a");
  world.plugins.last = {world.kernel.engine().object(id), "", "fake", "", 1, 0};
  for (const int tries : {1, 2, 3}) {
    CheckReport report = world.plugins.report(tries < 3 ? "Pending" : "Ready");
    report.message = "try " + std::to_string(tries);
    EXPECT_EQ(world.plugins.tries, tries);
    world.say(report);
    EXPECT_EQ(world.plugins.tries, tries) << "at once";
    if (tries < 3) world.pass(tries * kSecond);
  }
  EXPECT_EQ(world.state("a"), WorkloadState::kAdmitted);
  world.pass(10 * kSecond);
  EXPECT_EQ(world.plugins.tries, 3);
}

TEST(CheckController, AStateThatIsDecidedSaysWhatItSaid) {
  CheckWorld world;
  world.workload("a");
  CheckReport ready = world.plugins.report("Ready");
  ready.message = "fine";
  world.say(ready);
  world.plugins.faulty = true;
  world.plugins.troubled = "its plugin failed, and is asked again";
  world.start();
  EXPECT_EQ(world.plugins.tries, 2);
  EXPECT_EQ(world.message_of("a"), "fine");
}

TEST(CheckController, AnAnswerThatTakesItsTimeIsNoFailure) {
  CheckWorld world;
  world.plugins.answers_late = true;
  world.workload("a");
  EXPECT_EQ(world.message_of("a"), "");
  const LateAnswer failed{"example.com/fake", "fake", {}, "default/a", 1, false, "no paper"};
  const LateAnswer began{"example.com/fake", "fake", {}, "default/a", 1, true, ""};
  world.plugins.late = {failed};
  world.pass(kSecond);
  const std::string sentence = "its plugin failed, and is asked again: no paper";
  EXPECT_EQ(world.message_of("a"), sentence);
  EXPECT_EQ(world.plugins.tries, 1);
  world.pass(kSecond);
  EXPECT_EQ(world.plugins.tries, 2);
  EXPECT_EQ(world.message_of("a"), sentence);  // nobody knows yet whether it began now
  world.plugins.late = {began};
  world.pass(0);
  EXPECT_EQ(world.message_of("a"), "");
  EXPECT_EQ(world.plugins.tries, 2);
}

TEST(CheckController, WhoIsBackWithinASecondWasNotMissed) {
  CheckWorld world;
  world.workload("a");
  world.writes_of("a");
  const std::string gone = "its process is gone, and is started again: plugin fake: killed";
  const auto dies = [&] {
    world.plugins.gone = true;
    world.plugins.troubled = gone;
    world.pass(0);
  };
  const auto comes_back = [&] {
    world.plugins.gone = false;
    world.plugins.restarted = true;
    world.plugins.troubled = "";
    world.pass(kSecond / 10);
  };
  dies();
  world.pass(kSecond - 1);
  EXPECT_EQ(world.message_of("a"), "");
  comes_back();
  EXPECT_EQ(world.writes_of("a"), 0);

  dies();
  world.workload("b");  // which could not begin
  EXPECT_EQ(world.message_of("b"), "");
  world.pass(kSecond);
  EXPECT_EQ(world.message_of("a"), gone);
  EXPECT_EQ(world.message_of("b"), gone);
  for (const char* name : {"a", "b"}) world.writes_of(name);
  for (int n = 0; n < 5; ++n) world.pass(kSecond);
  for (const char* name : {"a", "b"}) EXPECT_EQ(world.writes_of(name), 0) << name;
  comes_back();
  EXPECT_EQ(world.message_of("a"), "");
  EXPECT_EQ(world.message_of("b"), "");
}

TEST(CheckController, ASlowPluginHoldsUpNobodyElse) {
  CheckWorld world;
  world.check("quick", "example.com/quick");
  world.queue(R"({"name":"fake"},{"name":"quick"})", 100);
  world.plugins.take();
  world.slow(kSecond);
  for (const char* name : {"a", "b", "c"}) world.workload(name);
  // Only the first call is made at once; the other plugin does not wait.
  EXPECT_THAT(world.plugins.take(), ElementsAre("begin a fake 1", "begin a quick 1",
                                                "begin b quick 1", "begin c quick 1"));
  EXPECT_EQ(world.kernel.next_timer(), world.now + kSecond);
  world.pass(kSecond / 2);
  EXPECT_THAT(world.plugins.take(), IsEmpty());
  world.pass(kSecond / 2);
  EXPECT_THAT(world.plugins.take(), ElementsAre("begin b fake 1"));
  world.pass(kSecond);
  EXPECT_THAT(world.plugins.take(), ElementsAre("begin c fake 1"));
  world.pass(10 * kSecond);
  EXPECT_THAT(world.plugins.take(), IsEmpty());
  EXPECT_EQ(world.kernel.next_timer(), kNever);  // nothing waits any more
}

TEST(CheckController, WhatEndsWhileItsPluginPausesIsCancelledLater) {
  CheckWorld world;
  world.slow(kSecond);
  world.workload("a");
  world.pass(kSecond);
  world.workload("b");
  EXPECT_THAT(world.plugins.take(), ElementsAre("begin a fake 1", "begin b fake 1"));
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(world.remove("workloads", name).ok());
    world.kernel.run_to_rest();
  }
  world.workload("c");
  ASSERT_TRUE(world.remove("workloads", "c").ok());
  world.kernel.run_to_rest();
  EXPECT_THAT(world.plugins.take(), IsEmpty());
  for (int n = 0; n < 5; ++n) world.pass(kSecond);
  // What came and went in the pause never was; the rest is told, in order, once.
  EXPECT_THAT(world.plugins.take(),
              ElementsAre("cancel a fake 1 Deleted", "cancel b fake 1 Deleted"));
}

TEST(CheckController, AnAttemptThatEndsInAPauseIsCancelledBeforeTheNextBegins) {
  CheckWorld world;
  world.slow(kSecond);
  world.workload("a");
  world.say(world.plugins.report("Retry"));  // at once: attempt 2 is reserved
  EXPECT_THAT(world.plugins.take(), ElementsAre("begin a fake 1"));
  for (int n = 0; n < 3; ++n) world.pass(kSecond);
  EXPECT_THAT(world.plugins.take(),
              ElementsAre("cancel a fake 1 ReservationEnded", "begin a fake 2"));
}

TEST(CheckController, ActiveSaysWhetherThePluginIsThere) {
  CheckWorld world;
  EXPECT_EQ(world.at_check("/status/conditions/0/status"), "True");
  world.workload("a");
  world.plugins.loaded = false;
  world.start();
  EXPECT_EQ(world.at_check("/status/conditions/0/status"), "False");
  EXPECT_EQ(world.at_check("/status/conditions/0/message"),
            "Plugin fake, which answers for controller example.com/fake, is not loaded");
  world.workload("b");
  EXPECT_EQ(world.state("a"), WorkloadState::kQuotaReserved);
  EXPECT_THAT(
      world.kernel.engine().view(*world.kernel.engine().find("default/b")).message,
      HasSubstr("references inactive AdmissionCheck(s): fake (Plugin fake, which answers for "
                "controller example.com/fake, is not loaded)"));
  world.plugins.loaded = true;
  world.plugins.take();
  world.start();
  EXPECT_THAT(world.plugins.take(), ElementsAre("check fake", "begin a fake 1", "begin b fake 1"));
}

TEST(CheckController, ChecksOfOthersAreLeftAlone) {
  CheckWorld world;
  world.check("theirs", "example.com/outside");
  EXPECT_THAT(world.plugins.take(), IsEmpty());
  EXPECT_EQ(
      at(world.kernel.current(*world.scheme.find_by_name("admissionchecks"), "theirs"), "/status"),
      "(absent)");
}

}  // namespace
}  // namespace sluice::host::test
