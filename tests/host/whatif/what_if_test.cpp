// HostWhatIf: what each user is told, what is refused and how, and what asking costs a host:
// nothing.
#include "host/whatif/what_if.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <condition_variable>
#include <mutex>

#include "tests/host/whatif/live_world.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// `operator` may do everything; `tenant-X` writes and reads jobs and workloads in namespace X;
/// `writer-X` only creates them there; `nobody` may do nothing.
class Roles final : public Authorizer {
 public:
  AccessAnswer may(const Identity& who, const AccessRequest& request) const override {
    if (who.user == "operator") return {true, ""};
    const bool job = request.resource == "workloads" || request.resource == "jobs";
    const std::string ns = who.user.substr(std::min(who.user.size(), who.user.find('-') + 1));
    if (!job || request.ns != ns) return {false, ""};
    if (who.user.starts_with("tenant-")) return {true, ""};
    return {who.user.starts_with("writer-") && request.verb == "create", ""};
  }
};

std::string workload(const std::string& ns, const std::string& name, int cpu, int priority = 0) {
  return fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{{"name":"{}",
      "namespace":"{}"}},"spec":{{"queueName":"q","priority":{},"podSets":[{{"name":"main",
      "count":1,"template":{{"spec":{{"containers":[{{"name":"c","image":"i",
      "resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}}}}]}}}})",
      name, ns, priority, cpu);
}

std::string queue(int cpu, const std::string& checks = "") {
  return fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
      "metadata":{{"name":"shared"}},"spec":{{"namespaceSelector":{{}},
      "preemption":{{"withinClusterQueue":"LowerPriority"}},{}
      "resourceGroups":[{{"coveredResources":["cpu"],"flavors":[{{"name":"f","resources":
      [{{"name":"cpu","nominalQuota":"{}"}}]}}]}}]}}}})",
      checks, cpu);
}

/// 4 CPUs in one ClusterQueue for the namespaces a and b; b/low takes 3 of them.
struct Shared : LiveWorld {
  Shared() {
    for (const char* ns : {"a", "b"})
      apply(fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})",
                        ns));
    apply(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
        "metadata":{"name":"f"}})");
    apply(queue(4));
    for (const char* ns : {"a", "b"})
      apply(fmt::format(
          R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{{"name":"q",
          "namespace":"{}"}},"spec":{{"clusterQueue":"shared"}}}})",
          ns));
    apply(workload("b", "low", 3));
    settle();
  }

  HostWhatIf::Moment at_rest() {
    return [this] { return Result<ForkMoment>(moment()); };
  }
  static WhatIfRequest request(const std::string& user, const std::vector<std::string>& objects) {
    json::array list;
    for (const std::string& object : objects) list.push_back(json::parse(object));
    return {{user, "", {}},
            {{"apiVersion", "sluice.dev/v1alpha1"},
             {"kind", "WhatIf"},
             {"spec", json::object{{"objects", std::move(list)}}}}};
  }
  std::string ask_deletion(const std::string& user, const std::string& object) {
    WhatIfRequest asked = request(user, {});
    asked.question["spec"] = json::object{{"delete", {json::parse(object)}}};
    const auto done = service.answer(std::move(asked), Deadline::max());
    return done ? json::serialize(done->at("status")) : done.error().text;
  }
  /// The status, or `CODE text`.
  std::string ask(const std::string& user, const std::vector<std::string>& objects) {
    return status_of(service.answer(request(user, objects), Deadline::max()));
  }
  std::string ask_waiting(const std::string& user, const std::string& waiting) {
    WhatIfRequest asked = request(user, {});
    asked.question["spec"] = json::object{{"waiting", json::parse(waiting)}};
    return status_of(service.answer(asked, Deadline::max()));
  }
  static std::string status_of(const ApiResult<json::object>& done) {
    if (!done) return fmt::format("{} {}", done.error().code, done.error().text);
    return json::serialize(done->at("status"));
  }
  ObjectAccess& objects() { return machine.objects(); }

  Roles roles;
  HostWhatIf service{source(), roles, at_rest()};
};

/// What the API would refuse is refused in its words.
TEST(WhatIf, WhoeverMayWriteMayAsk) {
  Shared world;
  EXPECT_THAT(world.ask("tenant-a", {workload("a", "w", 1)}), HasSubstr(R"("decision":"Starts")"));
  EXPECT_THAT(world.ask("writer-a", {workload("a", "w", 1)}), HasSubstr(R"("decision":"Starts")"));
  EXPECT_EQ(world.ask("tenant-b", {workload("a", "w", 1)}),
            "403 workloads.kueue.x-k8s.io is forbidden: User \"tenant-b\" cannot create resource "
            "\"workloads\" in API group \"kueue.x-k8s.io\" in the namespace \"a\"");
  EXPECT_THAT(world.ask("nobody", {workload("a", "w", 1)}), HasSubstr("403 "));
  EXPECT_EQ(
      world.ask("tenant-a", {queue(9)}),
      "403 clusterqueues.kueue.x-k8s.io is forbidden: User \"tenant-a\" cannot create resource "
      "\"clusterqueues\" in API group \"kueue.x-k8s.io\" at the cluster scope");
  // No answer shows what exists.
  EXPECT_EQ(world.ask("tenant-a", {workload("b", "low", 1)}),
            world.ask("tenant-a", {workload("b", "none", 1)}));
  // One of several is enough.
  EXPECT_THAT(world.ask("tenant-a", {workload("a", "w", 1), workload("b", "w", 1)}),
              HasSubstr("403 "));
  EXPECT_THAT(world.ask("operator", {queue(9)}), Not(HasSubstr("403")));
}

/// A user that may create but not change what is there gets the answer of a creation.
TEST(WhatIf, WhatIsThereAlreadyIsChangedOrRefused) {
  Shared world;
  EXPECT_EQ(world.ask("writer-b", {workload("b", "low", 1)}),
            "409 workloads.kueue.x-k8s.io \"low\" already exists");
  EXPECT_THAT(world.ask("writer-a", {workload("b", "low", 1)}), HasSubstr("403 "));
  EXPECT_THAT(world.ask("tenant-b", {workload("b", "low", 1)}),
              HasSubstr("422 "));  // it holds quota
}

/// Of what waits already whoever may read it may ask; of a queue he hears of those alone.
TEST(WhatIf, WhoeverMayReadWhatWaitsMayAskWhenItStarts) {
  Shared world;
  for (const char* ns : {"a", "b"}) world.apply(workload(ns, "waits", 3));
  world.settle();
  const auto ask = [&](const std::string& user, const std::string& waiting) {
    return world.ask_waiting(user, waiting);
  };
  const std::string of_queue = R"({"clusterQueue":"shared"})";
  EXPECT_THAT(ask("operator", of_queue), AllOf(HasSubstr(R"("namespace":"a","name":"waits")"),
                                               HasSubstr(R"("namespace":"b","name":"waits")")));
  EXPECT_THAT(ask("tenant-a", of_queue), AllOf(HasSubstr(R"("namespace":"a","name":"waits")"),
                                               Not(HasSubstr(R"("namespace":"b")"))));
  EXPECT_THAT(ask("nobody", of_queue), Not(HasSubstr("workloads")));
  // Whether there is a queue of a name learns who may read queues.
  EXPECT_EQ(ask("operator", R"({"clusterQueue":"none"})"),
            "404 clusterqueues.kueue.x-k8s.io \"none\" not found");
  EXPECT_EQ(ask("operator", R"({"localQueue":"none","namespace":"a"})"),
            "404 localqueues.kueue.x-k8s.io \"none\" not found");
  EXPECT_THAT(ask("nobody", R"({"clusterQueue":"none"})"), Not(HasSubstr("not found")));
  EXPECT_EQ(ask("tenant-a", R"({"workloads":[{"namespace":"b","name":"waits"}]})"),
            "403 workloads.kueue.x-k8s.io \"waits\" is forbidden: User \"tenant-a\" cannot get "
            "resource \"workloads\" in API group \"kueue.x-k8s.io\" in the namespace \"b\"");
}

/// What waits in it is not queued: the answer would be empty without a word.
TEST(WhatIf, AQueueThatIsStoppedSaysSoToWhoeverMayReadIt) {
  Shared world;
  const std::string of_queue = R"({"clusterQueue":"shared"})";
  EXPECT_THAT(world.ask_waiting("operator", of_queue), Not(HasSubstr("warnings")));
  json::object queue = *world.objects().get(world.kind("clusterqueues"), "shared");
  queue["spec"].as_object()["stopPolicy"] = "Hold";
  ASSERT_TRUE(world.objects().update(queue).ok());
  world.settle();
  const std::string warning =
      R"("warnings":["ClusterQueue shared is stopped (Hold): its spec.stopPolicy has to )"
      R"(become None"])";
  for (const char* asked :
       {R"({"clusterQueue":"shared"})", R"({"localQueue":"q","namespace":"a"})"}) {
    EXPECT_THAT(world.ask_waiting("operator", asked), HasSubstr(warning));
    EXPECT_THAT(world.ask_waiting("nobody", asked), Not(HasSubstr("warnings")));
  }
}

TEST(WhatIf, AJobOfWhichNoWorkloadCanBeMadeStartsNot) {
  Shared world;
  EXPECT_THAT(world.ask("tenant-a", {R"({"apiVersion":"batch/v1","kind":"Job","metadata":{
      "name":"lost","namespace":"a","labels":{"kueue.x-k8s.io/queue-name":"q",
      "kueue.x-k8s.io/priority-class":"unheard"}},"spec":{"template":{"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})"}),
              HasSubstr(R"("decision":"HeldBack")"));
}

TEST(WhatIf, AJobThatHasEndedStartsNotAgain) {
  Shared world;
  const std::string job = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"done",
      "namespace":"a"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[
      {"name":"c","image":"i"}]}}}})";
  EXPECT_THAT(world.ask("tenant-a", {job}), HasSubstr(R"("decision":"NotQueued")"));
  world.apply(job);
  ASSERT_TRUE(world.objects()
                  .update_status(world.kind("jobs"), "a/done",
                                 {{"conditions", {{{"type", "Complete"}, {"status", "True"}}}}})
                  .ok());
  world.settle();
  EXPECT_THAT(world.ask("tenant-a", {job}), HasSubstr(R"("decision":"Finished")"));
}

/// Victims in namespaces whose workloads the user may not read are counted; nothing names them.
TEST(WhatIf, NamespacesAreWalls) {
  Shared world;
  const std::vector<std::string> urgent = {workload("a", "urgent", 4, 10)};
  const std::string to_tenant = world.ask("tenant-a", urgent);
  EXPECT_THAT(to_tenant, HasSubstr(R"("decision":"Starts")"));
  EXPECT_THAT(to_tenant, HasSubstr(R"("otherNamespaces":{"evicted":1})"));
  EXPECT_THAT(to_tenant, Not(HasSubstr("low")));
  EXPECT_THAT(to_tenant, Not(HasSubstr("b/")));
  const std::string to_operator = world.ask("operator", urgent);
  EXPECT_THAT(to_operator, HasSubstr(R"("evicted":[{"workload":"b/low")"));
  EXPECT_THAT(to_operator, Not(HasSubstr("otherNamespaces")));
  // The same of those that hold what it lacks.
  const std::string waits = world.ask("tenant-a", {workload("a", "w", 4)});
  EXPECT_THAT(waits, HasSubstr(R"("decision":"Waits")"));
  EXPECT_THAT(waits, HasSubstr(R"("otherNamespaces":{"workloads":1,"amount":"3"})"));
  EXPECT_THAT(waits, Not(HasSubstr("low")));
}

TEST(WhatIf, TellsOperatorsWhoWouldStartWaitOrGo) {
  Shared world;
  world.apply(workload("a", "waits", 3));
  world.settle();
  EXPECT_THAT(world.ask("operator", {queue(8)}),
              HasSubstr(R"("changes":{"starts":[{"workload":"a/waits","clusterQueue":"shared")"));
  std::string drained = queue(4);
  drained.insert(drained.find("\"namespaceSelector\""), R"("stopPolicy":"HoldAndDrain",)");
  EXPECT_THAT(world.ask("operator", {drained}), HasSubstr(R"("evicted":[{"workload":"b/low")"));
}

/// A file may have a status, as what `kubectl get -o yaml` printed has, and so may the annotation
/// that tells what was applied last. No user can set it, and it is in the way of nothing.
/// What runs in a namespace goes with it; what is itself meant needs no telling.
TEST(WhatIf, TellsWhatWouldEndWithItsNamespace) {
  Shared world;
  const std::string ns = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"b"}})";
  EXPECT_THAT(world.ask_deletion("operator", ns),
              HasSubstr(R"("changes":{"ends":[{"workload":"b/low","clusterQueue":"shared",)"
                        R"("priority":0,"reason":"Deleted"}]})"));
  EXPECT_THAT(world.ask_deletion("operator", workload("b", "low", 3)), Not(HasSubstr("ends")));
}

TEST(WhatIf, AStatusInFileAndAnnotationIsLeftOut) {
  Shared world;
  const auto other = [](int cpu) {
    json::object out = json::parse(queue(cpu)).get_object();
    out["metadata"].get_object()["name"] = "other";
    return out;
  };
  json::object applied = other(3);
  applied["status"] = {{"flavorsUsage", json::object{{"gone", 1}}}};
  json::object stored = other(3);
  stored["metadata"].get_object()["annotations"] = {
      {"kubectl.kubernetes.io/last-applied-configuration", json::serialize(applied)}};
  world.apply(json::serialize(stored));
  world.settle();
  json::object asked = other(8);
  const std::string plain = world.ask("operator", {json::serialize(asked)});
  EXPECT_THAT(plain, ::testing::StartsWith("{"));
  asked["status"] = {{"flavorsUsage", json::object()}};
  EXPECT_EQ(world.ask("operator", {json::serialize(asked)}), plain);
}

TEST(WhatIf, BadInputIsAnsweredAsACreationIs) {
  Shared world;
  std::string none = workload("a", "w", 1);
  none.replace(none.find("\"count\":1"), 9, "\"count\":-1");
  const auto created = world.machine.write([&] {
    WriteRequest out;
    out.kind = &world.kind("workloads");
    out.version = "v1beta2";
    out.ns = "a";
    out.body = json::parse(none);
    return out;
  }());
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(world.ask("operator", {none}), "422 " + created.error().text);
  EXPECT_EQ(world.ask("operator", {workload("c", "w", 1)}), "404 namespaces \"c\" not found");
  EXPECT_EQ(world.ask("operator", {R"({"apiVersion":"v1","kind":"Nothing"})"}),
            "404 the server could not find the requested resource: kind Nothing of v1");
  EXPECT_EQ(world.ask("operator", {}), "400 spec.objects: Required value: what would be written");
  EXPECT_EQ(world.ask("operator", {"7"}), "400 spec.objects[0]: must be an object");
}

/// A text of manifests is what its documents are as objects, and says where it is wrong.
TEST(WhatIf, ManifestsAreATextAsKubectlReadsIt) {
  Shared world;
  const auto ask = [&](json::object spec) {
    WhatIfRequest request = Shared::request("operator", {});
    spec["namespace"] = "a";
    request.question["spec"] = std::move(spec);
    const auto done = world.service.answer(request, Deadline::max());
    if (!done) return fmt::format("{} {}", done.error().code, done.error().text);
    return json::serialize(done->at("status"));
  };
  const std::string both = world.ask("operator", {workload("a", "w", 1), queue(8)});
  EXPECT_THAT(both, HasSubstr(R"("decision":"Starts")"));
  EXPECT_EQ(ask({{"manifests", "# two\n" + workload("a", "w", 1) + "\n---\n" + queue(8)}}), both);
  EXPECT_EQ(
      ask({{"objects", json::array{json::parse(workload("a", "w", 1))}}, {"manifests", queue(8)}}),
      both);
  EXPECT_THAT(ask({{"deleteManifests",
                    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\n"
                    "metadata: {name: low, namespace: b}\n"}}),
              ::testing::StartsWith("{"));
  EXPECT_THAT(ask({{"manifests", "kind: Job\nmetadata: {\n"}}),
              ::testing::StartsWith("400 spec.manifests:"));
  EXPECT_EQ(ask({{"manifests", "kind: Job\n"}}),
            "400 spec.manifests[0]: Required value: apiVersion and kind");
  EXPECT_EQ(ask({{"manifests", 7}}), "400 spec.manifests: must be a text");
  // What a few letters stand for is bounded, as it is for a write.
  std::string bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\n";
  for (char c = 'b'; c < 'h'; ++c) {
    const char last = static_cast<char>(c - 1);
    bomb += fmt::format("{0}: &{0} [*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1}]\n", c, last);
  }
  EXPECT_THAT(ask({{"manifests", bomb}}), ::testing::StartsWith("400 spec.manifests"));
}

/// What is asked about comes after all that there are, however little time has passed.
TEST(WhatIf, WhoAsksComesLast) {
  Shared world;
  for (int i = 0; i < 8; ++i) world.apply(workload("a", fmt::format("w{}", i), 4));
  world.settle();
  EXPECT_THAT(world.ask("operator", {workload("a", "asked", 4)}),
              ::testing::HasSubstr(R"("positionInClusterQueue":9,"pendingInClusterQueue":9)"));
}

TEST(WhatIf, NothingIsWritten) {
  Shared world;
  const std::uint64_t before = world.store.version();
  world.ask("operator", {queue(9), workload("a", "w", 1), workload("a", "urgent", 4, 10)});
  world.publish();
  EXPECT_EQ(world.store.version(), before);
  EXPECT_EQ(world.store.working_version(), before);
  EXPECT_EQ(world.store.get(world.kind("workloads"), "a/w"), nullptr);
  EXPECT_EQ(world.engine().state(*world.engine().find("b/low")), WorkloadState::kAdmitted);
}

TEST(WhatIf, ChecksAreDecidedOutside) {
  Shared world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":
      {"name":"budget"},"spec":{"controllerName":"example.com/budget"},"status":{"conditions":[
      {"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":
      "2026-01-01T00:00:00Z"}]}})");
  world.settle();
  const std::string checks =
      R"("admissionChecksStrategy":{"admissionChecks":[{"name":"budget","onFlavors":[]}]},)";
  const std::string told = world.ask("operator", {queue(4, checks), workload("a", "w", 1)});
  EXPECT_THAT(told, HasSubstr(R"("decision":"WaitsForChecks")"));
  EXPECT_THAT(told, HasSubstr("admission check budget is answered by somebody who looks outside"));
}

/// Its moment is there when the gate opens.
class Gate {
 public:
  HostWhatIf::Moment before(HostWhatIf::Moment moment) {
    return [this, moment] {
      std::unique_lock lock(mutex_);
      ++inside_;
      came_.notify_all();
      came_.wait(lock, [this] { return open_; });
      return moment();
    };
  }
  void wait_inside() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [this] { return inside_ > 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    came_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  int inside_ = 0;
  bool open_ = false;
};

struct Asking : Shared {
  /// Codes of what was answered, in the order of the answers; 201 for a status.
  WhatIf::Done note() {
    return [this](ApiResult<json::value> result) {
      const std::lock_guard lock(mutex);
      codes.push_back(result ? 201 : result.error().code);
    };
  }
  std::mutex mutex;
  std::vector<int> codes;
  Gate gate;
};

TEST(WhatIf, QuestionsAreBounded) {
  Asking world;
  HostWhatIf bounded(world.source(), world.roles, world.gate.before(world.at_rest()), {},
                     {.waiting = 2, .waiting_per_user = 2, .longest = 3600 * kSecond});
  bounded.start();
  const auto ask = [&](const std::string& user) {
    bounded.ask(Shared::request(user, {workload("a", "w", 1)}), world.note());
  };
  ask("tenant-a");
  world.gate.wait_inside();  // it is worked on, and waits no more
  ask("tenant-a");
  ask("tenant-a");  // a third of the same user
  EXPECT_THAT(world.codes, testing::ElementsAre(429));
  ask("writer-a");
  ask("operator");  // a third that waits
  EXPECT_THAT(world.codes, testing::ElementsAre(429, 429));
  world.gate.open();
  bounded.stop();
  ask("operator");
  // A question that waits when the host stops may have been answered before.
  EXPECT_EQ(world.codes.size(), 6U);
  EXPECT_EQ(world.codes[2], 201);
  EXPECT_EQ(world.codes.back(), 503);
}

/// Also of one that lists too much: it does not wait, nor does anybody wait for it.
TEST(WhatIf, MoreThanAThousandObjectsAreRefusedAtOnce) {
  Asking world;
  HostWhatIf idle(world.source(), world.roles, world.at_rest());
  WhatIfRequest request = Shared::request("operator", {});
  json::array many(600, json::object());
  request.question["spec"] = json::object{{"objects", many}, {"delete", many}};
  std::string told;
  idle.ask(std::move(request), [&](ApiResult<json::value> result) {
    told = result ? "an answer" : result.error().text;
  });
  EXPECT_EQ(told, "spec: Too many: 1200: must have at most 1000 objects");
}

TEST(WhatIf, NobodyWaitsForever) {
  Asking world;
  HostWhatIf hurried(world.source(), world.roles, world.at_rest(), {}, {.longest = 0});
  hurried.start();
  hurried.ask(Shared::request("operator", {workload("a", "w", 1)}), world.note());
  hurried.stop();
  ASSERT_EQ(world.codes.size(), 1U);
  EXPECT_TRUE(world.codes[0] == 504 || world.codes[0] == 503);
  // The time is looked at while it is worked out, too.
  const auto late = world.service.answer(Shared::request("operator", {queue(9)}), Deadline::min());
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, 503);
}

}  // namespace
}  // namespace sluice::host::test
