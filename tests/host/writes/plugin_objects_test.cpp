// The objects of plugins, without a plugin: what each question is answered, what a refusal says,
// and what is left when a call is laid aside or dropped.
#include "host/writes/plugin_objects.hpp"

#include <gtest/gtest.h>

#include "host/objects/claims.hpp"
#include "host/plugins/host_side.hpp"
#include "sluice/svc/objects.h"
#include "sluice/svc/state.h"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

using Keys = std::vector<std::string>;

constexpr PluginObjectRef kMapA = {"v1", "ConfigMap", "default", "a"};
constexpr PluginObjectRef kUnheard = {"v1", "Unheard", "default", "a"};
constexpr const char* kNoUnheard = "1 this host has no kind Unheard of v1";
constexpr const char* kWorkloadText = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
    "metadata":{"name":"w","namespace":"default"},"spec":{"queueName":"q","podSets":[{
    "name":"main","count":1,"template":{"spec":{"restartPolicy":"Never",
    "containers":[{"name":"c","image":"i"}]}}}]}})";
constexpr PluginObjectRef kOneWorkload = {"kueue.x-k8s.io/v1beta2", "Workload", "default", "w"};

/// `CODE text`.
std::string said(const PortAnswer& answer) {
  return std::to_string(answer.code) + " " + answer.text;
}

/// A host with one ConfigMap, `a`, and the port of its plugins.
struct Porting : HostFixture {
  PluginObjects port{kernel, objects};

  Porting() { apply(config_map("a", R"(,"labels":{"x":"1"})")); }
  std::string in_call(const std::function<PortAnswer()>& write) {
    port.begin("p");
    const PortAnswer answer = write();
    port.commit();
    return said(answer);
  }
  Keys names(const PluginObjectRef& ref, std::string_view selector = "") {
    Keys out;
    const auto answer = boost::json::parse(port.list(ref, selector).text);
    for (const auto& each : answer.as_array())
      out.push_back(at(each.as_object(), "/metadata/namespace") + "/" +
                    at(each.as_object(), "/metadata/name"));
    return out;
  }
};

TEST(PluginObjects, WhatIsRefusedHasACodeOfItsOwn) {
  Porting host;
  PluginObjects& port = host.port;
  const auto create = [&port](const std::string& text) { return said(port.create(text)); };
  const auto update = [&port](const std::string& text, const char* part = "") {
    return said(port.update(text, part));
  };
  const std::string unheard = R"({"apiVersion":"v1","kind":"Unheard","metadata":{"name":"a"}})";
  const std::string internal = R"({"apiVersion":"internal.sluice.dev/v1","kind":"PluginState",
      "metadata":{"name":"p:k"}})";
  const std::string no_internal = "1 this host has no kind PluginState of internal.sluice.dev/v1";
  port.begin("p");
  const std::pair<std::string, std::string> rows[] = {
      {said(port.get(kUnheard)), kNoUnheard},
      {said(port.list(kUnheard, "")), kNoUnheard},
      {create(unheard), kNoUnheard},
      {create(internal), no_internal},
      {update(unheard), kNoUnheard},
      {update(internal), no_internal},
      {said(port.patch(kUnheard, "", "{}")), kNoUnheard},
      {said(port.remove(kUnheard, "")), kNoUnheard},
      {said(port.get({"v1", "ConfigMap", "default", "b"})), "1 configmaps \"b\" not found"},
      {update(config_map("b")), "1 configmaps \"b\" not found"},
      {said(port.patch({"v1", "ConfigMap", "default", "b"}, "", "{}")),
       "1 configmaps \"b\" not found"},
      {said(port.remove({"v1", "ConfigMap", "default", "b"}, "")), "1 configmaps \"b\" not found"},
      {create("[]"), "4 the object is no JSON object"},
      {create("{"), "4 the object is no JSON object"},
      {update("[]"), "4 the object is no JSON object"},
      {update("{"), "4 the object is no JSON object"},
      {said(port.patch(kMapA, "", "[]")), "4 the patch is no JSON object"},
      {said(port.patch(kMapA, "", "{")), "4 the patch is no JSON object"},
      {said(port.patch(kMapA, "scale", "{}")), "4 subresource: \"\" or status is allowed"},
      {create(config_map("a")), "2 configmaps \"a\" already exists"},
      {create(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}})"),
       "4 metadata.namespace: Required value"},
      {update(config_map("a"), "scale"), "4 subresource: \"\" or status is allowed"},
      {said(port.remove(kMapA, "another")),
       "3 Operation cannot be fulfilled on configmaps \"a\": it has another uid"},
      {said(port.remove({"v1", "Namespace", "", "default"}, "")),
       "5 namespaces \"default\" is forbidden: this namespace may not be deleted"},
  };
  for (const auto& [answer, wanted] : rows) EXPECT_EQ(answer, wanted);
  const std::pair<std::string, std::string> by_code[] = {
      {said(port.list(kMapA, "a in")), "4 "},  // 400
      {create(config_map("A_b")), "4 "},       // 422
      {update(config_map("a", R"(,"resourceVersion":"1")")), "3 "},
      {create(config_map("b", "", "nowhere")), "1 "},
  };
  for (const auto& [answer, wanted] : by_code) EXPECT_EQ(answer.substr(0, 2), wanted) << answer;
  port.drop();
}

TEST(PluginObjects, ListsAreOfOneNamespaceOrOfAll) {
  Porting host;
  host.apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default2"}})");
  host.apply(config_map("b", R"(,"labels":{"x":"2"})"));
  host.apply(config_map("a", R"(,"labels":{"x":"1"})", "default2"));
  EXPECT_EQ(host.names({"v1", "ConfigMap", "default", ""}), (Keys{"default/a", "default/b"}));
  EXPECT_EQ(host.names({"v1", "ConfigMap", "default2", ""}), (Keys{"default2/a"}));
  EXPECT_EQ(host.names({"v1", "ConfigMap", "", ""}),
            (Keys{"default/a", "default/b", "default2/a"}));
  EXPECT_EQ(host.names({"v1", "ConfigMap", "", ""}, "x=1"), (Keys{"default/a", "default2/a"}));
  EXPECT_EQ(host.names({"v1", "ConfigMap", "default", ""}, "x=3"), Keys{});
}

TEST(PluginObjects, WhatIsInNoNamespaceIsWrittenAndReadWithoutOne) {
  Porting host;
  const auto made = host.in_call([&] {
    return host.port.create(R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue",
        "metadata":{"name":"c"},"spec":{"cohort":"root"}})");
  });
  EXPECT_EQ(made.substr(0, 2), "0 ") << made;
  EXPECT_NE(made.find(R"("cohort":"root")"), std::string::npos) << "in the version it came in";
  EXPECT_EQ(at(host.get("clusterqueues", "c"), "/spec/cohortName"), "root");
  const auto read = host.port.get({"kueue.x-k8s.io/v1beta1", "ClusterQueue", "somewhere", "c"});
  EXPECT_EQ(read.code, SLUICE_OBJECTS_OK);
  EXPECT_NE(read.text.find(R"("cohort":"root")"), std::string::npos) << read.text;
  const auto now = host.port.get({"kueue.x-k8s.io/v1beta2", "ClusterQueue", "", "c"});
  EXPECT_NE(now.text.find(R"("cohortName":"root")"), std::string::npos) << now.text;
}

// An update that names no version replaces whichever there is; one that names a version, that one.
TEST(PluginObjects, AnUpdateMayNameTheVersionItRead) {
  Porting host;
  const std::string version =
      at(boost::json::parse(host.port.get(kMapA).text).as_object(), "/metadata/resourceVersion");
  const auto update = [&](const std::string& more) {
    return host.in_call([&] { return host.port.update(config_map("a", more), ""); }).substr(0, 2);
  };
  EXPECT_EQ(update(R"(,"labels":{"x":"2"})"), "0 ");
  EXPECT_EQ(at(host.get("configmaps", "default/a"), "/metadata/labels/x"), "2");
  EXPECT_EQ(update(R"(,"labels":{"x":"3"},"resourceVersion":")" + version + "\""), "3 ");
  EXPECT_EQ(at(host.get("configmaps", "default/a"), "/metadata/labels/x"), "2");
}

// Who wrote what is known: the plugin has its fields, and a guard is asked about it by its name.
TEST(PluginObjects, APluginWritesInItsOwnName) {
  Porting host;
  Identity asked;
  host.port.set_guard([&](const Identity& who, const api::KindInfo&, const boost::json::object*,
                          const boost::json::object&) {
    asked = who;
    return std::optional<ApiError>();
  });
  EXPECT_EQ(
      host.in_call([&] { return host.port.create(config_map("b", R"(,"labels":{"x":"1"})")); })
          .substr(0, 2),
      "0 ");
  EXPECT_EQ(asked.user, "system:plugin:p");
  EXPECT_EQ(asked.groups, Keys{"system:plugins"});
  EXPECT_EQ(at(host.get("configmaps", "default/b"), "/metadata/managedFields/0/manager"),
            "system:plugin:p");
}

// Who wrote which field is most of a small object, and nothing to decide by: a plugin is not shown
// it, and what it sends back without it keeps it.
TEST(PluginObjects, ReadsLeaveOutWhoWroteWhat) {
  Porting host;
  ASSERT_EQ(
      host.in_call([&] { return host.port.create(config_map("b", R"(,"labels":{"x":"1"})")); })
          .substr(0, 2),
      "0 ");
  const PluginObjectRef b = {"v1", "ConfigMap", "default", "b"};
  const auto managers = [&] {
    return host.get("configmaps", "default/b").at("metadata").at("managedFields");
  };
  const boost::json::value before = managers();
  const std::string shown = host.port.get(b).text;
  for (const std::string& text : {shown, host.port.list(b, "").text})
    EXPECT_EQ(text.find("managedFields"), std::string::npos) << text;
  EXPECT_EQ(host.in_call([&] { return host.port.update(shown, ""); }), "0 " + shown);
  EXPECT_EQ(managers(), before);
}

TEST(PluginObjects, ADeletionIsAnsweredWithNothing) {
  Porting host;
  const std::string uid = at(host.get("configmaps", "default/a"), "/metadata/uid");
  EXPECT_EQ(host.in_call([&] { return host.port.remove(kMapA, uid); }), "0 ");
  EXPECT_FALSE(host.exists("configmaps", "default/a"));
}

TEST(PluginObjects, EventsAreAboutWhatIsThere) {
  Porting host;
  const auto emit = [&](const std::string& version, const std::string& kind) {
    host.port.emit({"p", true, version, kind, "default", "a", "Said", "it is so"});
  };
  emit("v1", "Unheard");
  emit("internal.sluice.dev/v1", "PluginState");
  EXPECT_EQ(host.store.count(host.kind("events")), 0U);
  emit("v1", "ConfigMap");
  const ObjectAccess& access = host.objects;
  const Keys keys = access.keys(host.kind("events"));
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(at(host.get("events", keys[0]), "/involvedObject/name"), "a");
  EXPECT_EQ(at(host.get("events", keys[0]), "/type"), "Warning");
  EXPECT_EQ(at(host.get("events", keys[0]), "/reason"), "Said");
}

// A call that is laid aside is as if it had never been; another plugin's may be made meanwhile.
TEST(PluginObjects, WhatIsLaidAsideComesBack) {
  Porting host;
  host.port.begin("p");
  host.port.create(config_map("b"));
  host.port.set_state("k", "v");
  host.port.suspend();
  EXPECT_EQ(host.port.get({"v1", "ConfigMap", "default", "b"}).code, SLUICE_OBJECTS_NOT_FOUND);
  EXPECT_EQ(host.port.state("p", "k").code, SLUICE_OBJECTS_NOT_FOUND);
  host.port.begin("q");
  host.port.set_state("of q", "1");
  host.port.commit();
  ASSERT_TRUE(host.port.resume("p").ok());
  EXPECT_EQ(host.port.get({"v1", "ConfigMap", "default", "b"}).code, SLUICE_OBJECTS_OK);
  host.port.set_state("k2", "v");
  host.port.commit();
  EXPECT_TRUE(host.exists("configmaps", "default/b"));
  EXPECT_EQ(host.port.state_keys("p", ""), (Keys{"k", "k2"}));
  EXPECT_EQ(host.port.state_keys("q", ""), Keys{"of q"});
}

// Others changed what it changed: nothing of it is left, and the plugin may begin anew.
TEST(PluginObjects, WhatWasOvertakenIsForgotten) {
  Porting host;
  host.port.begin("p");
  host.port.set_state("old", "v");
  host.port.commit();
  host.port.begin("p");
  host.port.patch(kMapA, "", R"({"data":{"k":"v"}})");
  host.port.set_state("new", "v");
  host.port.remove_state("old");
  host.port.suspend();
  ASSERT_TRUE(host.merge("configmaps", "a", R"({"data":{"k":"of others"}})").ok());
  const auto resumed = host.port.resume("p");
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().text,
            "ConfigMap default/a was changed by others while its call was under way");
  EXPECT_EQ(host.port.state_keys("p", ""), Keys{"old"});
  EXPECT_EQ(at(host.get("configmaps", "default/a"), "/data/k"), "of others");
  host.port.begin("p");
  host.port.set_state("again", "v");
  host.port.commit();
  EXPECT_EQ(host.port.state_keys("p", ""), (Keys{"again", "old"}));
}

// What a call did to its keys is forgotten with it, and what an earlier one did is not.
TEST(PluginObjects, KeysOfACallThatIsDroppedAreAsBefore) {
  Porting host;
  host.port.begin("p");
  host.port.set_state("kept", "1");
  host.port.set_state("both", "1");
  host.port.commit();
  host.port.begin("p");
  host.port.remove_state("both");
  host.port.set_state("both", "2");
  host.port.remove_state("both");
  host.port.set_state("new", "1");
  host.port.remove_state("new");
  host.port.remove_state("never there");
  EXPECT_EQ(host.port.state_keys("p", ""), Keys{"kept"});
  host.port.drop();
  EXPECT_EQ(host.port.state_keys("p", ""), (Keys{"both", "kept"}));
  EXPECT_EQ(host.port.state("p", "both").text, "1");
  host.port.begin("p");
  host.port.drop();
  EXPECT_EQ(host.port.state_keys("p", ""), (Keys{"both", "kept"}));
}

TEST(PluginObjects, KeysAreOfOnePluginAndOutliveThePort) {
  Porting host;
  host.port.begin("p");
  host.port.set_state("a/1", "1");
  host.port.set_state("a/2", "2");
  host.port.set_state("b", "3");
  host.port.commit();
  host.port.begin("pp");
  host.port.set_state("a/3", "4");
  host.port.commit();
  const PluginObjects again(host.kernel, host.objects);  // as after a restart
  for (const PluginObjects* port :
       std::initializer_list<const PluginObjects*>{&host.port, &again}) {
    EXPECT_EQ(port->state_keys("p", "a/"), (Keys{"a/1", "a/2"}));
    EXPECT_EQ(port->state_keys("p", ""), (Keys{"a/1", "a/2", "b"}));
    EXPECT_EQ(port->state_keys("pp", ""), Keys{"a/3"});
    EXPECT_EQ(port->state_keys("ppp", ""), Keys{});
  }
  // What one plugin's call did before it was dropped is nothing to another's.
  host.port.begin("p");
  host.port.set_state("a/3", "5");
  host.port.drop();
  host.port.begin("pp");
  host.port.drop();
  EXPECT_EQ(host.port.state_keys("pp", ""), Keys{"a/3"});
}

TEST(PluginObjects, AWorkloadThatIsSaidToHaveEndedEndsWithTheCall) {
  Porting host;
  host.apply(kWorkloadText);
  const auto state = [&] {
    return host.kernel.engine().state(*host.kernel.engine().find("default/w"));
  };
  host.port.begin("p");
  ASSERT_EQ(host.port
                .patch(kOneWorkload, "status", R"({"status":{"conditions":[{"type":"Finished",
                    "status":"True","reason":"Done","message":"it is",
                    "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})")
                .code,
            SLUICE_OBJECTS_OK);
  EXPECT_NE(state(), WorkloadState::kFinished);
  testing::internal::CaptureStderr();
  host.port.commit();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "nothing went wrong";
  EXPECT_EQ(state(), WorkloadState::kFinished);
}

TEST(Transaction, EndsOnce) {
  Porting host;
  {
    Transaction dropped(host.objects);
    host.apply(config_map("b"));
    dropped.drop();
    EXPECT_FALSE(host.exists("configmaps", "default/b"));
  }
  {
    Transaction kept(host.objects);
    host.apply(config_map("b"));
    kept.commit();
    EXPECT_TRUE(host.exists("configmaps", "default/b"));
  }
  {
    const Transaction forgotten(host.objects);
    host.apply(config_map("c"));
  }
  EXPECT_FALSE(host.exists("configmaps", "default/c"));
  const Transaction next(host.objects);  // there is none that is still open
}

// 253 bytes of key and 65,536 of value are as many as there may be.
TEST(PluginObjects, StateIsAsLongAsItMayBe) {
  Porting host;
  const std::string key(253, 'k');
  const std::string value(65'536, 'v');
  EXPECT_EQ(host.in_call([&] { return host.port.set_state(key, value); }), "0 ");
  EXPECT_EQ(host.port.state("p", key).text, value);
  EXPECT_EQ(host.in_call([&] { return host.port.set_state(key + "k", ""); }),
            "4 a key has 1 to 253 bytes of UTF-8");
  EXPECT_EQ(host.in_call([&] { return host.port.set_state(key, value + "v"); }),
            "4 a value has at most 65536 bytes");
  EXPECT_EQ(said(host.port.state("p", "no")), "1 no such key");
}

// As in the pods that it may have them from, where an API server takes both.
TEST(PluginObjects, OfVariablesAndPortsOfOneNameInAWorkloadTheLastOneCounts) {
  Porting host;
  const std::string made = host.in_call([&] {
    return host.port.create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
        "metadata":{"name":"w","namespace":"default"},"spec":{"podSets":[{"name":"main","count":1,
        "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",
        "env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"A","value":"3"}],
        "ports":[{"containerPort":80,"name":"p"},{"containerPort":80,"protocol":"UDP"},
                 {"containerPort":80,"protocol":"TCP"}]}]}}}]}})");
  });
  EXPECT_EQ(made.substr(0, 2), "0 ") << made;
  const auto workload = boost::json::parse(host.port.get(kOneWorkload).text).as_object();
  const std::string container = "/spec/podSets/0/template/spec/containers/0";
  EXPECT_EQ(at(workload, container + "/env/0/name"), "B");
  EXPECT_EQ(at(workload, container + "/env/1/value"), "3");
  EXPECT_EQ(at(workload, container + "/env/2"), "(absent)");
  EXPECT_EQ(at(workload, container + "/ports/0/protocol"), "UDP");
  EXPECT_EQ(at(workload, container + "/ports/1/protocol"), "TCP");
  EXPECT_EQ(at(workload, container + "/ports/2"), "(absent)");
}

// A claim is the plugin's to give up: nothing else of the workload changes.
TEST(PluginObjects, AClaimIsReleasedOnce) {
  Porting host;
  host.apply(kWorkloadText);
  const StoredObject* stored = host.store.find(host.kind("workloads"), "default/w");
  StoredObject claimed = *stored;
  set_claims(claimed, {{"another", "p"}, true});
  claimed.hidden = "of the engine";
  host.store.put(std::move(claimed));
  const auto release = [&](const PluginObjectRef& ref) {
    return host.in_call([&] { return host.port.release_claim(ref); });
  };
  EXPECT_EQ(release(kMapA), "4 only workloads are claimed");
  EXPECT_EQ(release(kUnheard), "4 only workloads are claimed");
  EXPECT_EQ(release({kOneWorkload.api_version, "Workload", "default", "no"}),
            "1 workloads.kueue.x-k8s.io \"no\" not found");
  EXPECT_EQ(release(kOneWorkload), "0 ");
  stored = host.store.find(host.kind("workloads"), "default/w");
  EXPECT_EQ(claims_of(*stored).plugins, Keys{"another"});
  EXPECT_EQ(stored->hidden, "of the engine");
  const std::uint64_t version = host.store.working_version();
  EXPECT_EQ(release(kOneWorkload), "0 ");
  EXPECT_EQ(host.store.working_version(), version) << "it is not p's any more";
}

// A plugin reads of a workload what the engine says of it now, also where no status is stored but
// for those that are followed; and once it wrote a status itself, what it wrote. A ConfigMap of the
// same name has nothing of that.
TEST(PluginObjects, AWorkloadIsReadAsTheEngineHasIt) {
  for (const auto which : {Statuses::kAll, Statuses::kFollowed}) {
    Porting host;
    host.kernel.write_statuses(which);
    host.apply(kWorkloadText);
    host.apply(config_map("w"));
    host.kernel.run_to_rest();
    const auto first = [&] {
      const auto object = boost::json::parse(host.port.get(kOneWorkload).text).as_object();
      return at(object, "/status/conditions/0/type") + " " +
             at(object, "/status/conditions/0/reason");
    };
    EXPECT_EQ(first(), "QuotaReserved Misconfigured") << "its queue is not there";
    const auto map = host.port.get({"v1", "ConfigMap", "default", "w"});
    EXPECT_EQ(map.text.find("status"), std::string::npos) << map.text;
    host.port.begin("p");
    ASSERT_EQ(host.port
                  .patch(kOneWorkload, "status", R"({"status":{"conditions":[{"type":"PodsReady",
                      "status":"True","reason":"R","message":"m",
                      "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})")
                  .code,
              SLUICE_OBJECTS_OK);
    EXPECT_EQ(first(), "PodsReady R");
    host.port.drop();
    EXPECT_EQ(first(), "QuotaReserved Misconfigured");
  }
}

}  // namespace
}  // namespace sluice::host::test
