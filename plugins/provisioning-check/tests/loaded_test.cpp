// The plugin in a host: what it makes, reports and removes, driven through the host's side of
// check-controller/1. The provider of capacity is the test, or the plugin's own command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <future>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "host/machine/machine.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kCheckObject =
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck",
  "metadata":{"name":"prov"},"spec":{"controllerName":"kueue.x-k8s.io/provisioning-request",
  "parameters":{"apiGroup":"kueue.x-k8s.io","kind":"ProvisioningRequestConfig","name":"cfg"}}})";

std::string config(const std::string& more = "") {
  return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ProvisioningRequestConfig",
    "metadata":{"name":"cfg"},"spec":{"provisioningClassName":"class.example.com")" +
         more + "}}";
}

class FixedClock final : public PluginClock {
 public:
  Time now() const override { return time; }
  Duration steady() const override { return 0; }
  bool is_virtual() const override { return simulated; }
  std::atomic<Time> time = *parse_time("2026-01-01T00:00:00Z");
  bool simulated = false;
};

class Events final : public EventSink {
 public:
  void emit(const EventNote& event) override {
    lines.push_back(event.about.key + " " + event.reason + ": " + event.message);
  }
  std::vector<std::string> lines;
};

/// A host with the plugin, a queue, and the workload `default/w` that has its quota.
struct Host {
  explicit Host(const std::string& plugin_config = "{}", bool simulated = false)
      : configuration(configured(plugin_config)), rules(load(simulated)) {
    plugins->plugins().set_wake([this] {
      if (!woken.exchange(true)) work.set_value();
    });
    kernel.begin_instant(clock.time);
    machine.load();
    apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})");
    apply(kCheckObject);
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"f"},"spec":{"nodeLabels":{"size":"f"}}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
      "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[
      {"name":"f","resources":[{"name":"cpu","nominalQuota":"9"}]}]}]}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq",
      "namespace":"default"},"spec":{"clusterQueue":"cq"}})");
    apply(workload("w"));
    kernel.run_to_rest();
  }
  ~Host() { plugins->plugins().set_wake({}); }

  static std::string workload(const std::string& name) {
    return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
           name + R"(",
      "namespace":"default","annotations":{"provreq.kueue.x-k8s.io/Zone":"b"}},
      "spec":{"queueName":"lq","podSets":[{"name":"main","count":2,"template":{"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{
      "cpu":"1"}}}]}}}]}})";
  }
  static Configuration configured(const std::string& plugin_config) {
    Configuration out;
    out.plugins.directory = SLUICE_PLUGINS;
    out.plugins.load.emplace(1);
    out.plugins.load->back().name = "provisioning-check";
    out.plugins.load->back().config_json = plugin_config;
    return out;
  }
  std::unique_ptr<Rules> load(bool simulated) {
    clock.simulated = simulated;
    auto loaded = Rules::load(configuration.plugins, std::nullopt, clock);
    SLUICE_CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().text);
    return std::move(*loaded);
  }

  void apply(const std::string& text) {
    const auto done = static_cast<ObjectAccess&>(objects).create(json::parse(text).get_object());
    SLUICE_CHECK(done.ok(), done.ok() ? "" : done.error().text);
  }
  const api::KindInfo& kind(std::string_view name) const { return *scheme.find_by_name(name); }
  bool exists(std::string_view kind_name, const std::string& key) const {
    return kernel.exists(kind(kind_name), key);
  }
  std::string at(std::string_view kind_name, const std::string& key, const char* pointer) const {
    const json::value object(kernel.current(kind(kind_name), key));
    boost::system::error_code code;
    const json::value* found = object.find_pointer(pointer, code);
    if (found == nullptr) return "(absent)";
    return found->is_string() ? std::string(api::view(found->get_string()))
                              : json::serialize(*found);
  }
  void settle() { kernel.run_to_rest(); }
  void pass(Duration time) {
    clock.time = clock.time + time;
    kernel.begin_instant(clock.time);
    settle();
  }

  CheckQuery query(std::uint64_t attempt, std::int32_t retries = 0, const std::string& name = "w",
                   const std::string& check = "prov") const {
    CheckQuery out;
    const auto id = *kernel.engine().find("default/" + name);
    auto workload = std::make_shared<api::Workload>(*kernel.engine().object(id));
    workload->status = kernel.engine().status(id);
    out.workload = std::move(workload);
    out.workload_json = json::serialize(kernel.current(kind("Workload"), "default/" + name));
    out.check = check;
    out.check_json = kCheckObject;
    out.attempt = attempt;
    out.retry_count = retries;
    return out;
  }
  CheckControllers& checks() { return plugins->plugins().check_controllers(); }
  void begin(std::uint64_t attempt, std::int32_t retries = 0) {
    EXPECT_TRUE(checks().begin(query(attempt, retries)));
    settle();
  }
  /// `Ready there`, one line per report.
  std::vector<std::string> reports() {
    std::vector<std::string> out;
    for (const CheckReport& report : checks().take_reports()) {
      last = report;
      out.push_back(std::to_string(report.attempt) + " " + report.state + " " + report.message);
    }
    return out;
  }
  /// The provider of capacity reports a condition.
  void condition(const std::string& type, const std::string& message,
                 const std::string& request = "default/w-prov-1") {
    const json::value status = json::parse(
        R"({"conditions":[{"type":")" + type + R"(","status":"True","reason":"R","message":")" +
        message + R"(","lastTransitionTime":"2026-01-01T00:00:00Z"}]})");
    const auto done = static_cast<ObjectAccess&>(objects).update_status(
        kind("ProvisioningRequest"), request, status.get_object());
    ASSERT_TRUE(done.ok()) << done.error().text;
    settle();
  }

  FixedClock clock;
  Configuration configuration;
  std::unique_ptr<Rules> rules;
  api::Scheme& scheme = rules->scheme;
  PluginRuntime* plugins = rules->plugins.get();
  LiveStore store{scheme, nullptr};
  CountingIds ids;
  Events events;
  Machine machine{
      configuration, *rules, {.store = store, .ids = ids, .events = &events, .controllers = false}};
  Kernel& kernel = machine.kernel();
  ObjectWriter& objects = machine.objects();
  ControllerLoop& controllers = machine.controllers();
  CheckReport last;
  std::promise<void> work;
  std::atomic<bool> woken = false;
};

constexpr const char* kRequest = "default/w-prov-1";

TEST(ProvisioningCheck, ActiveWhenItsConfigurationIsThere) {
  Host host;
  const CheckActivity before = *host.checks().check_changed("prov", kCheckObject);
  EXPECT_EQ(before.active, false);
  EXPECT_EQ(before.reason + ": " + before.message,
            "BadParametersRef: there is no ProvisioningRequestConfig cfg");
  host.apply(config());
  EXPECT_TRUE(host.checks().check_changed("prov", kCheckObject)->active);
  EXPECT_TRUE(host.checks().provides("kueue.x-k8s.io/provisioning-request"));
}

TEST(ProvisioningCheck, AsksForCapacityAndPassesTheAnswerOn) {
  Host host;
  host.apply(config(R"(,"parameters":{"Zone":"a","Tier":"1"})"));
  host.begin(5);
  EXPECT_EQ(host.at("ProvisioningRequest", kRequest, "/spec"),
            R"({"provisioningClassName":"class.example.com","parameters":{"Zone":"b","Tier":"1"},)"
            R"("podSets":[{"podTemplateRef":{"name":"ppt-w-prov-1-main"},"count":2}]})");
  EXPECT_EQ(host.at("PodTemplate", "default/ppt-w-prov-1-main", "/template/spec/nodeSelector/size"),
            "f");
  EXPECT_EQ(host.at("ProvisioningRequest", kRequest, "/metadata/ownerReferences/0/kind"),
            "Workload");
  EXPECT_THAT(host.events.lines, ElementsAre("default/w ProvisioningRequestCreated: "
                                             "Created ProvisioningRequest: \"w-prov-1\""));
  EXPECT_THAT(host.reports(), IsEmpty());
  host.condition("Accepted", "seen");
  EXPECT_THAT(host.reports(), ElementsAre("5 Pending seen"));
  host.condition("Provisioned", "there");
  EXPECT_THAT(host.reports(), ElementsAre("5 Ready there"));
  EXPECT_THAT(host.last.pod_set_updates_json, HasSubstr(R"("name":"main")"));
}

// A job of one pod grows to two: the one that runs needs nothing new.
TEST(ProvisioningCheck, B5AGrowthAsksForItsNewPodsOnly) {
  Host host;
  host.apply(config());
  json::object old = host.kernel.current(host.kind("Workload"), "default/w");
  old.erase("status");
  old["metadata"] = json::object{{"name", "old"}, {"namespace", "default"}};
  old["spec"].at("podSets").at(0).get_object()["count"] = 1;
  host.apply(json::serialize(old));
  host.settle();
  json::object grown = host.kernel.current(host.kind("Workload"), "default/w");
  grown["metadata"].at("annotations").get_object()["sluice.dev/takes-over-from"] = "old";
  ASSERT_TRUE(static_cast<ObjectAccess&>(host.objects).update(grown).ok());
  host.settle();
  host.begin(5);
  EXPECT_EQ(host.at("ProvisioningRequest", kRequest, "/spec/podSets/0/count"), "1");
  EXPECT_EQ(host.at("ProvisioningRequest", kRequest, "/spec/podSets/1"), "(absent)");
}

TEST(ProvisioningCheck, ToldTwiceItDoesNothingTwice) {
  Host host;
  host.apply(config());
  host.begin(5);
  const std::string uid = host.at("ProvisioningRequest", kRequest, "/metadata/uid");
  host.condition("Provisioned", "there");
  host.reports();
  host.begin(5);
  EXPECT_EQ(host.at("ProvisioningRequest", kRequest, "/metadata/uid"), uid);
  EXPECT_THAT(host.reports(), ElementsAre("5 Ready there"));
  host.begin(6);  // a later attempt that has the same number for people: the old one is over
  EXPECT_NE(host.at("ProvisioningRequest", kRequest, "/metadata/uid"), uid);
  EXPECT_TRUE(host.exists("PodTemplate", "default/ppt-w-prov-1-main"));
  EXPECT_THAT(host.reports(), IsEmpty());
  host.condition("Provisioned", "there");
  EXPECT_THAT(host.reports(), ElementsAre("6 Ready there"));
}

TEST(ProvisioningCheck, RetriesUpToItsLimit) {
  Host host;
  host.apply(config(R"(,"retryStrategy":{"backoffLimitCount":1,"backoffBaseSeconds":7})"));
  host.begin(5);
  host.condition("Failed", "no room");
  EXPECT_THAT(host.reports(), ElementsAre("5 Retry Retrying after failure: no room"));
  EXPECT_EQ(host.last.requeue_after_seconds, 7);
  host.checks().cancel(host.query(5), "evicted");
  EXPECT_FALSE(host.exists("ProvisioningRequest", kRequest));
  EXPECT_FALSE(host.exists("PodTemplate", "default/ppt-w-prov-1-main"));
  host.begin(6, 1);
  host.condition("Failed", "no room", "default/w-prov-2");
  EXPECT_THAT(host.reports(), ElementsAre("6 Rejected no room"));
}

TEST(ProvisioningCheck, CapacityThatIsTakenBack) {
  Host host;
  host.apply(config());
  host.begin(5);
  host.condition("BookingExpired", "nobody came");  // the workload runs: too late to matter
  EXPECT_THAT(host.reports(), IsEmpty());
  host.condition("CapacityRevoked", "needed elsewhere");
  EXPECT_THAT(host.reports(), ElementsAre("5 Rejected needed elsewhere"));
}

TEST(ProvisioningCheck, NothingIsAskedForWhereNothingIsNeeded) {
  Host host;
  host.apply(config(R"(,"managedResources":["nvidia.com/gpu"])"));
  host.begin(5);
  EXPECT_THAT(host.reports(), ElementsAre("5 Ready the provisioning request is not needed"));
  EXPECT_FALSE(host.exists("ProvisioningRequest", kRequest));
}

TEST(ProvisioningCheck, WaitsForItsConfiguration) {
  Host host;
  host.begin(5);
  EXPECT_THAT(host.reports(), ElementsAre("5 Pending the check is not active"));
  host.apply(config());
  host.settle();
  EXPECT_TRUE(host.exists("ProvisioningRequest", kRequest));
}

TEST(ProvisioningCheck, LeavesRequestsOfOthersAlone) {
  Host host;
  host.apply(config());
  host.apply(R"({"apiVersion":"autoscaling.x-k8s.io/v1","kind":"ProvisioningRequest","metadata":{
    "name":"w-prov-1","namespace":"default"},"spec":{"provisioningClassName":"c","podSets":[{
    "count":1,"podTemplateRef":{"name":"t"}}]}})");
  host.settle();
  host.begin(5);
  EXPECT_THAT(host.reports(),
              ElementsAre(HasSubstr("w-prov-1 is there that is not of this check")));
  ASSERT_TRUE(static_cast<ObjectAccess&>(host.objects)
                  .remove(host.kind("ProvisioningRequest"), kRequest)
                  .ok());
  host.pass(60 * kSecond);
  EXPECT_EQ(host.at("ProvisioningRequest", kRequest, "/metadata/labels/kueue.x-k8s.io~1managed"),
            "true");
}

// `w` with the check `b-prov` and `w-b` with the check `prov` have requests of one name.
TEST(ProvisioningCheck, RequestsOfOtherWorkloadsAreNotTakenForItsOwn) {
  Host host;
  host.apply(config());
  std::string other = kCheckObject;
  other.replace(other.find(R"("name":"prov")"), 13, R"("name":"b-prov")");
  host.apply(other);
  host.apply(Host::workload("w-b"));
  host.settle();
  EXPECT_TRUE(host.checks().begin(host.query(5, 0, "w", "b-prov")));
  host.settle();
  host.condition("Provisioned", "there", "default/w-b-prov-1");
  EXPECT_THAT(host.reports(), ElementsAre("5 Ready there"));
  const std::string uid = host.at("ProvisioningRequest", "default/w-b-prov-1", "/metadata/uid");
  EXPECT_TRUE(host.checks().begin(host.query(6, 0, "w-b")));
  host.settle();
  EXPECT_THAT(host.reports(),
              ElementsAre("6 Pending the ProvisioningRequest w-b-prov-1 is of check "
                          "b-prov of workload w: it has to end first"));
  EXPECT_EQ(host.at("ProvisioningRequest", "default/w-b-prov-1", "/metadata/uid"), uid);
  EXPECT_TRUE(host.exists("PodTemplate", "default/ppt-w-b-prov-1-main"));
  // When the one is over, the other goes on at once.
  ASSERT_TRUE(
      static_cast<ObjectAccess&>(host.objects).remove(host.kind("Workload"), "default/w").ok());
  host.settle();
  EXPECT_EQ(
      host.at("ProvisioningRequest", "default/w-b-prov-1", "/metadata/ownerReferences/0/name"),
      "w-b");
}

TEST(ProvisioningCheck, TemplatesOfOthersAreNotRemoved) {
  Host host;
  host.apply(config());
  host.apply(R"({"apiVersion":"v1","kind":"PodTemplate","metadata":{"name":"ppt-w-prov-1-main",
    "namespace":"default"},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}})");
  host.settle();
  host.begin(5);
  EXPECT_THAT(host.reports(),
              ElementsAre(HasSubstr("a PodTemplate ppt-w-prov-1-main is there that is "
                                    "not of this request")));
  EXPECT_EQ(host.at("PodTemplate", "default/ppt-w-prov-1-main", "/metadata/ownerReferences"),
            "(absent)");
}

TEST(ProvisioningCheck, AnAnswerThatNoPodCanHaveIsTold) {
  Host host;
  host.apply(config(R"(,"podSetUpdates":{"nodeSelector":[{"key":"example.com/pool",
    "valueFromProvisioningClassDetail":"pool"}]})"));
  host.begin(5);
  const auto provide = [&](const std::string& pool) {
    const json::value status = json::parse(
        R"({"conditions":[{"type":"Provisioned","status":"True","reason":"R","message":"there",
        "lastTransitionTime":"2026-01-01T00:00:00Z"}],"provisioningClassDetails":{"pool":")" +
        pool + R"("}})");
    ASSERT_TRUE(static_cast<ObjectAccess&>(host.objects)
                    .update_status(host.kind("ProvisioningRequest"), kRequest, status.get_object())
                    .ok());
    host.settle();
  };
  provide("no label");
  EXPECT_THAT(host.reports(),
              ElementsAre("5 Pending The answer of the ProvisioningRequest cannot be used: "
                          "pod_set_updates: `nodeSelector`: \"no label\" is no value of a label"));
  provide("p1");
  EXPECT_THAT(host.reports(), ElementsAre("5 Ready there"));
}

TEST(ProvisioningCheck, RequestsEndWithTheirWorkload) {
  Host host;
  host.apply(config());
  host.begin(5);
  ASSERT_TRUE(
      static_cast<ObjectAccess&>(host.objects).remove(host.kind("Workload"), "default/w").ok());
  host.settle();
  EXPECT_FALSE(host.exists("ProvisioningRequest", kRequest));
  EXPECT_FALSE(host.exists("PodTemplate", "default/ppt-w-prov-1-main"));
}

TEST(ProvisioningCheck, ItsCommandProvides) {
  Host host(
      R"({"command":["sh","-c","read x; echo '{\"provisioned\":true,\"message\":\"up\"}'"]})");
  host.apply(config());
  host.begin(5);
  host.work.get_future().wait();
  host.pass(0);
  EXPECT_THAT(host.reports(), ElementsAre("5 Ready up"));
  EXPECT_EQ(host.at("ProvisioningRequest", kRequest, "/status/conditions/1/reason"), "CommandDone");
}

TEST(ProvisioningCheck, ItsCommandFails) {
  Host host(R"({"command":["sh","-c","echo out of machines >&2; exit 3"]})");
  host.apply(config());
  host.begin(5);
  host.work.get_future().wait();
  host.pass(0);
  EXPECT_THAT(host.reports(), ElementsAre("5 Retry Retrying after failure: the command ended with "
                                          "code 3: out of machines"));
}

TEST(ProvisioningCheck, NoCommandRunsInASimulation) {
  Host host(R"({"command":["/no/such/program"]})", true);
  host.apply(config());
  host.begin(5);
  host.pass(kSecond);
  EXPECT_THAT(host.reports(), IsEmpty());
  EXPECT_TRUE(host.exists("ProvisioningRequest", kRequest));
}

}  // namespace
}  // namespace sluice::host
