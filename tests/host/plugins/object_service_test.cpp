// What plugins read and write through objects/1 and state/1, and when it takes effect.
#include <boost/json.hpp>

#include "host/writes/plugin_objects.hpp"
#include "sluice/svc/objects.h"
#include "sluice/svc/state.h"
#include "tests/host/plugins/support.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host {
namespace {

using test::at;
using test::HostFixture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kMap = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",
  "namespace":"default","labels":{"x":"1"}},"data":{"value":"one"}})";

std::string create(const char* object = kMap) {
  return std::string(R"({"op":"create","object":)") + object + "}";
}
std::string named(const std::string& op, const std::string& more = "") {
  return R"({"op":")" + op + R"(","name":"a")" + more + "}";
}
std::string keyed(const std::string& op, const std::string& key, const std::string& value = "") {
  return R"({"op":")" + op + R"(","key":")" + key + R"(","value":")" + value + "\"}";
}
constexpr const char* kTwo = R"(,"object":{"data":{"value":"two"}})";

class ObjectService : public PluginTest {
 protected:
  /// Each call is a list of steps; they are made in order, each in a transaction of its own.
  std::vector<std::string> run(const std::vector<std::vector<std::string>>& calls,
                               const std::string& name = "objects-a") {
    std::string config;
    for (const auto& steps : calls) {
      std::string list;
      for (const auto& step : steps) list += (list.empty() ? "" : ",") + step;
      config += (config.empty() ? "[" : ",[") + list + "]";
    }
    set = load({plugin(name, R"({"calls":[)" + config + "]}")});
    set->connect(&port);
    log.clear();
    clock.time = host.now;
    set->fire_timers(clock.time + kSecond);
    set->connect(nullptr);
    std::vector<std::string> out;
    for (const auto& line : log) out.push_back(line.text);
    return out;
  }

  HostFixture host;
  PluginObjects port{host.kernel, host.objects};
  std::unique_ptr<PluginSet> set;
};

TEST_F(ObjectService, WritesAreSeenByTheSameCallAndTakeEffectAfterIt) {
  EXPECT_THAT(run({{named("get"), create(), named("get"), named("patch", kTwo), named("get"),
                    R"({"op":"count","selector":"x=1"})", R"({"op":"count","selector":"x=2"})"}}),
              ElementsAre(R"(1 configmaps "a" not found)", "ok", "one", "two", "two", "1", "0"));
  EXPECT_EQ(at(host.get("ConfigMap", "default/a"), "/data/value"), "two");
  EXPECT_THAT(at(host.get("ConfigMap", "default/a"), "/metadata/managedFields/0/manager"),
              "system:plugin:objects-a");
  EXPECT_EQ(set->status()[0].faults, 0u);
}

TEST_F(ObjectService, ACallThatFailsWroteNothing) {
  EXPECT_THAT(run({{create(), keyed("set", "k", "v"), R"({"op":"throw"})"},
                   {named("get"), keyed("state", "k"), keyed("keys", "")}}),
              ElementsAre("ok", "ok", HasSubstr("it failed: as told"),
                          R"(1 configmaps "a" not found)", "(none)", ""));
  EXPECT_FALSE(host.exists("ConfigMap", "default/a"));
  const std::uint64_t version = host.store.working_version();
  run({{create(), R"({"op":"throw"})"}});
  EXPECT_EQ(host.store.working_version(), version) << "not even for a moment";
}

// What is refused is up to what users wrote: five of their objects would stop a plugin for all.
TEST_F(ObjectService, ACallThatFailsOverARefusedWriteIsNoStepTowardQuarantine) {
  const std::vector<std::string> refused = {create(), create(), R"({"op":"throw"})"};
  run(std::vector(6, refused));
  EXPECT_FALSE(set->status()[0].quarantined);
  EXPECT_THAT(log.back().text, HasSubstr("what it writes is refused: as told"));
  EXPECT_FALSE(host.exists("ConfigMap", "default/a")) << "nothing of such a call is written";

  // It went on after the refusal, so this is not why it failed.
  const std::vector<std::string> goes_on = {create(), create(), named("get"), R"({"op":"throw"})"};
  run(std::vector(5, goes_on));
  EXPECT_TRUE(set->status()[0].quarantined);

  const std::vector<std::string> own = {R"({"op":"throw"})"};
  run({refused, own, own, own, own});
  EXPECT_FALSE(set->status()[0].quarantined) << "four are its own";
  run({refused, own, own, own, own, own});
  EXPECT_TRUE(set->status()[0].quarantined) << "a refusal holds for its call only";
}

TEST_F(ObjectService, RemovalTakesWhatItOwnsAlong) {
  host.apply(kMap);
  const std::string uid = at(host.get("ConfigMap", "default/a"), "/metadata/uid");
  host.apply(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"default",
    "ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":")" +
             uid + R"("}]}})");
  EXPECT_THAT(
      run({{named("remove", R"(,"uid":"other")"), named("remove"), named("get"), named("remove")}}),
      ElementsAre(StartsWith("3 "), "ok", StartsWith("1 "), StartsWith("1 ")));
  EXPECT_FALSE(host.exists("ConfigMap", "default/a"));
  EXPECT_FALSE(host.exists("ConfigMap", "default/b"));

  host.apply(kMap);
  run({{named("remove"), R"({"op":"throw"})"}});
  EXPECT_TRUE(host.exists("ConfigMap", "default/a"));
  EXPECT_THAT(run({{named("remove"), create(), named("get")}}), ElementsAre("ok", "ok", "one"));
  EXPECT_NE(at(host.get("ConfigMap", "default/a"), "/metadata/uid"), uid);
}

TEST_F(ObjectService, RefusalsHaveACodeAndASentence) {
  host.apply(kMap);
  const std::string wrong_version = R"({"op":"update","object":{"apiVersion":"v1",
    "kind":"ConfigMap","metadata":{"name":"a","namespace":"default","resourceVersion":"1"}}})";
  EXPECT_THAT(
      run({{create(), wrong_version,
            R"({"op":"create","object":{"apiVersion":"v1","kind":"ConfigMap"}})",
            R"({"op":"create","object":{"apiVersion":"v1","kind":"Unheard"}})",
            R"({"op":"create","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{
                "name":"a","namespace":"nowhere"}}})",
            R"({"op":"get","kind":"PluginState","apiVersion":"internal.sluice.dev/v1"})",
            named("patch", R"(,"sub":"scale","object":{})"), named("thread")}}),
      ElementsAre(R"(2 configmaps "a" already exists)", StartsWith("3 Operation cannot be"),
                  "4 metadata.namespace: Required value", "1 this host has no kind Unheard of v1",
                  R"(1 namespaces "nowhere" not found)", StartsWith("1 this host has no kind"),
                  R"(4 subresource: "" or status is allowed)",
                  StartsWith("6 objects and state may be used inside")));
}

TEST_F(ObjectService, WhatIsWrittenIsAJsonObject) {
  port.begin("p");
  for (const char* text : {"", "{", "[]", "null", "1"}) {
    EXPECT_EQ(port.create(text).text, "the object is no JSON object") << text;
    EXPECT_EQ(port.update(text, "").text, "the object is no JSON object") << text;
    EXPECT_EQ(port.patch({"v1", "ConfigMap", "default", "a"}, "", text).text,
              "the patch is no JSON object")
        << text;
  }
  port.drop();
}

TEST_F(ObjectService, APluginMayDoWhatItsLibraryDeclares) {
  const auto forbidden = [](const std::string& what) {
    return "5 plugin objects-b may not " + what +
           "; what its library declares with SLUICE_MAY is: get,create ConfigMap; patch "
           "ConfigMap/status";
  };
  EXPECT_THAT(
      run({{create(), named("get"), named("patch", kTwo), named("remove"),
            R"({"op":"update","object":{"apiVersion":"v1","kind":"ConfigMap"}})",
            R"({"op":"update","sub":"status","object":{"apiVersion":"v1","kind":"ConfigMap"}})",
            R"({"op":"create","object":{"apiVersion":"v1","kind":"Secret"}})",
            R"({"op":"create","object":{"kind":"Secret","apiVersion":"v1","kind":"ConfigMap"}})",
            named("get", R"(,"kind":"Secret")"), named("get", R"(,"apiVersion":"example.com/v1")"),
            R"({"op":"count","caught":true})"}},
          "objects-b"),
      ElementsAre("ok", "one", forbidden("patch ConfigMap"), forbidden("delete ConfigMap"),
                  forbidden("update ConfigMap"), forbidden("update ConfigMap/status"),
                  forbidden("create Secret"), StartsWith("4 "), forbidden("get Secret"),
                  forbidden("get example.com/ConfigMap"),
                  HasSubstr("plugin objects-b may not list ConfigMap")));
  EXPECT_EQ(at(host.get("ConfigMap", "default/a"), "/data/value"), "one");
}

TEST_F(ObjectService, ObjectsAreReadInTheVersionThatIsAsked) {
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"a"},
                 "spec":{"parentName":"root"}})");
  EXPECT_THAT(run({{R"({"op":"get","apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Cohort",
                        "ns":"","name":"a"})",
                    R"({"op":"get","apiVersion":"kueue.x-k8s.io/v9","kind":"Cohort",
                        "ns":"","name":"a"})"}}),
              ElementsAre("ok", StartsWith("1 this host has no kind")));
}

TEST_F(ObjectService, StateIsKeptAndCounted) {
  EXPECT_THAT(
      run({{keyed("set", "a/1", "x"), keyed("set", "a/2", "y"), keyed("set", "b", "")},
           {keyed("state", "a/1"), keyed("keys", "a/"), keyed("unset", "a/1"),
            keyed("unset", "never"), keyed("state", "a/1"), keyed("keys", "")},
           {keyed("keys", ""), keyed("state", "b")}}),
      ElementsAre("ok", "ok", "ok", "x", "a/1;a/2;", "ok", "ok", "(none)", "a/2;b;", "a/2;b;", ""));
  PluginObjects again(host.kernel, host.objects);  // as after a restart
  EXPECT_EQ(again.state("objects-a", "a/2").text, "y");
  EXPECT_THAT(again.state_keys("objects-a", ""), ElementsAre("a/2", "b"));
  EXPECT_EQ(again.state("another", "a/2").code, SLUICE_OBJECTS_NOT_FOUND);
  EXPECT_THAT(again.state_keys("objects", ""), ElementsAre());
}

TEST_F(ObjectService, StateHasLimits) {
  port.begin("p");
  EXPECT_EQ(port.set_state("", "x").code, SLUICE_OBJECTS_INVALID);
  EXPECT_EQ(port.set_state(std::string(254, 'k'), "x").code, SLUICE_OBJECTS_INVALID);
  EXPECT_EQ(port.set_state("\xff", "x").code, SLUICE_OBJECTS_INVALID);
  EXPECT_EQ(port.set_state("k", std::string(65537, 'v')).code, SLUICE_OBJECTS_INVALID);
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(port.set_state("k", bytes).code, SLUICE_OBJECTS_OK);
  for (int i = 1; i < SLUICE_STATE_MAX_KEYS; ++i) port.set_state(std::to_string(i), "");
  EXPECT_EQ(port.set_state("one too many", "").code, SLUICE_OBJECTS_INVALID);
  EXPECT_EQ(port.set_state("k", bytes).code, SLUICE_OBJECTS_OK) << "it is there already";
  port.commit();
  EXPECT_EQ(port.state("p", "k").text, bytes);
}

TEST_F(ObjectService, AWorkloadsStatusIsWrittenWhenTheCallIsOver) {
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
    "namespace":"default"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,
    "template":{"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Never"}}}]}})");
  const std::string finish = R"({"op":"patch","apiVersion":"kueue.x-k8s.io/v1beta2",
    "kind":"Workload","name":"w","sub":"status","object":{"status":{"conditions":[{
    "type":"Finished","status":"True","reason":"Done","message":"it is",
    "lastTransitionTime":"2026-01-01T00:00:00Z"}]}}})";
  run({{finish, create(), R"({"op":"throw"})"}});
  EXPECT_THAT(at(host.get("Workload", "default/w"), "/status"), Not(HasSubstr("Done")));
  EXPECT_THAT(run({{finish, create()}}), ElementsAre("ok", "ok"));
  EXPECT_THAT(at(host.get("Workload", "default/w"), "/status"),
              HasSubstr(R"("type":"Finished","status":"True","reason":"Done")"));
  EXPECT_TRUE(host.exists("ConfigMap", "default/a"));
}

TEST_F(ObjectService, AWorkloadAndItsStatusMayBeMadeInOneCall) {
  const std::string make = R"({"op":"create","object":{"apiVersion":"kueue.x-k8s.io/v1beta2",
    "kind":"Workload","metadata":{"name":"w","namespace":"default"},"spec":{"queueName":"lq",
    "podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}],
    "restartPolicy":"Never"}}}]}}})";
  const std::string finish = R"({"op":"patch","apiVersion":"kueue.x-k8s.io/v1beta2",
    "kind":"Workload","name":"w","sub":"status","object":{"status":{"conditions":[{
    "type":"Finished","status":"True","reason":"Done","message":"it is",
    "lastTransitionTime":"2026-01-01T00:00:00Z"}]}}})";
  EXPECT_THAT(run({{make, finish}}), ElementsAre("ok", "ok"));
  EXPECT_THAT(at(host.get("Workload", "default/w"), "/status"),
              HasSubstr(R"("type":"Finished","status":"True","reason":"Done")"));
}

/// A Workload `w` of the store, with one condition more in its status, as a plugin writes it.
std::string with_condition(const PortAnswer& workload, const std::string& type) {
  boost::json::object object = boost::json::parse(workload.text).as_object();
  boost::json::value& status = object["status"];
  if (!status.is_object()) status.emplace_object();
  boost::json::value& conditions = status.as_object()["conditions"];
  if (!conditions.is_array()) conditions.emplace_array();
  conditions.as_array().push_back(
      boost::json::object{{"type", boost::json::string_view(type)},
                          {"status", "True"},
                          {"reason", "R"},
                          {"message", "m"},
                          {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
  return boost::json::serialize(object);
}

constexpr PluginObjectRef kWorkloadW = {"kueue.x-k8s.io/v1beta2", "Workload", "default", "w"};

// Each write sees what the earlier ones left, statuses of workloads as all others: these were
// carried out one by one in the end, so the second found another version than the plugin had read.
TEST_F(ObjectService, TwoStatusesOfOneWorkloadAreOneTransaction) {
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
    "namespace":"default"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,
    "template":{"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Never"}}}]}})");
  port.begin("p");
  EXPECT_EQ(port.create(kMap).code, SLUICE_OBJECTS_OK);
  EXPECT_EQ(port.update(with_condition(port.get(kWorkloadW), "First"), "status").code,
            SLUICE_OBJECTS_OK);
  const PortAnswer seen = port.get(kWorkloadW);
  EXPECT_THAT(seen.text, HasSubstr("First")) << "a plugin reads its own writes";
  EXPECT_EQ(port.update(with_condition(seen, "Second"), "status").code, SLUICE_OBJECTS_OK);
  EXPECT_FALSE(host.store.find(host.kind("ConfigMap"), "default/a")) << "nobody else does";
  port.commit();
  EXPECT_TRUE(host.exists("ConfigMap", "default/a"));
  EXPECT_THAT(at(host.get("Workload", "default/w"), "/status"),
              AllOf(HasSubstr("First"), HasSubstr("Second")));
}

TEST_F(ObjectService, WhatIsRefusedThirdLeavesNothingOfTheFirstTwo) {
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
    "namespace":"default"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,
    "template":{"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Never"}}}]}})");
  const std::uint64_t version = host.store.working_version();
  port.begin("p");
  const PortAnswer read = port.get(kWorkloadW);
  EXPECT_EQ(port.create(kMap).code, SLUICE_OBJECTS_OK);
  EXPECT_EQ(port.update(with_condition(read, "Finished"), "status").code, SLUICE_OBJECTS_OK);
  std::string stale = with_condition(read, "Second");
  const std::string is = R"("resourceVersion":")" + std::to_string(version) + '"';
  ASSERT_NE(stale.find(is), std::string::npos) << stale;
  stale.replace(stale.find(is), is.size(), R"("resourceVersion":"1")");
  EXPECT_EQ(port.update(stale, "status").code, SLUICE_OBJECTS_CONFLICT);
  port.drop();
  EXPECT_EQ(host.store.working_version(), version);
  EXPECT_FALSE(host.exists("ConfigMap", "default/a"));
  EXPECT_THAT(at(host.get("Workload", "default/w"), "/status"), Not(HasSubstr("Finished")));
  const auto id = host.machine.engine().find("default/w");
  EXPECT_NE(host.machine.engine().state(*id), WorkloadState::kFinished);
}

}  // namespace
}  // namespace sluice::host
