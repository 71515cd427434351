// Quota of jobs whose pods take their time to end: whatever made them end, nobody gets it before
// they have. A whole machine with the pods of jobs as objects; the test says when a process starts
// and when it is gone.
//
// The queue has 4 cpu. `first` holds them with 4 pods of 1 cpu; `second`, of 3 pods, waits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "tests/dst/life_world.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;

Configuration config_with(const std::vector<std::string>& plugins) {
  Configuration out = *parse_configuration(R"(
apiVersion: config.sluice.dev/v1alpha1
kind: Configuration
executor:
  nodes: [ { name: n, capacity: { cpu: 100, memory: 100Gi, pods: 100 } } ]
)",
                                           "test");
  out.plugins.directory = SLUICE_PLUGINS;
  out.plugins.load.emplace();
  for (const std::string& name : plugins) out.plugins.load->emplace_back().name = name;
  return out;
}

struct World : LifeWorld {
  /// `policy`: of the queue, members of its spec.
  explicit World(const std::vector<std::string>& plugins = {}, std::string_view policy = "")
      : LifeWorld(config_with(plugins)) {
    settle();
    create("namespaces", R"({"metadata":{"name":"default"}})");
    create("resourceflavors", R"({"metadata":{"name":"f"}})");
    create("workloadpriorityclasses", R"({"metadata":{"name":"high"},"value":100})");
    create("clusterqueues",
           fmt::format(R"({{"metadata":{{"name":"cq"}},"spec":{{"namespaceSelector":{{}},{}
      "preemption":{{"withinClusterQueue":"LowerPriority"}},"resourceGroups":[{{
      "coveredResources":["cpu"],"flavors":[{{"name":"f",
      "resources":[{{"name":"cpu","nominalQuota":"4"}}]}}]}}]}}}})",
                       policy));
    create("localqueues/default", R"({"metadata":{"name":"lq"},"spec":{"clusterQueue":"cq"}})");
    submit("first", 4);
    settle();
    run_all();
    EXPECT_EQ(running("first"), 4);
  }

  void begin() {
    restart();
    settle();
  }
  void settle() { EXPECT_EQ(life->turn(now), ""); }

  void create(std::string_view path, std::string_view body) {
    write(WriteVerb::kCreate, path, body);
  }
  void submit(const std::string& name, int pods, const std::string& priority_class = "") {
    create("jobs/default",
           fmt::format(R"({{"metadata":{{"name":"{}","labels":{{
      "kueue.x-k8s.io/queue-name":"lq"{}}},"annotations":{{"kueue.x-k8s.io/elastic-job":"true"}}}},
      "spec":{{"parallelism":{},"completions":10,"template":{{"spec":{{"restartPolicy":"Never",
      "containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}}})",
                       name,
                       priority_class.empty()
                           ? ""
                           : R"(,"kueue.x-k8s.io/priority-class":")" + priority_class + "\"",
                       pods));
  }
  void patch(std::string_view path, std::string_view body) { write(WriteVerb::kPatch, path, body); }
  void remove(std::string_view path) { write(WriteVerb::kDelete, path, {}); }

  std::vector<json::object> all(std::string_view resource) {
    const api::KindInfo& kind = *life->scheme().find_by_name(resource);
    std::vector<json::object> out;
    for (const std::string& key : life->machine().objects().keys(kind, "default"))
      out.push_back(life->machine().kernel().current(kind, key));
    return out;
  }
  static std::string name_of(const json::object& object) {
    return std::string(api::find_text(part(object, "metadata"), "name"));
  }
  static bool is_of(const json::object& object, std::string_view job) {
    bool out = false;
    for_each_object(part(object, "metadata"), "ownerReferences", [&](const json::object& owner) {
      out |= api::find_text(owner, "name") == job;
    });
    return out;
  }
  std::string workload_of(std::string_view job) {
    for (const json::object& each : all("workloads"))
      if (is_of(each, job)) return name_of(each);
    return {};
  }
  bool is_admitted(std::string_view job) {
    for (const json::object& each : all("workloads"))
      if (is_of(each, job)) return has_condition(part(each, "status"), "Admitted");
    return false;
  }
  int running(std::string_view job) {
    int out = 0;
    for (const json::object& pod : all("pods"))
      out += is_of(pod, job) && api::find_text(part(pod, "status"), "phase") == "Running";
    return out;
  }

  std::string uid_of(std::string_view job) {
    for (const json::object& each : all("jobs"))
      if (name_of(each) == job) return std::string(api::find_text(part(each, "metadata"), "uid"));
    return {};
  }
  void take_finalizers_off() {
    for (json::object& each : all("workloads")) {
      object_of(each, "metadata").erase("finalizers");
      const auto done = life->machine().objects().update(each);
      ASSERT_TRUE(done.ok()) << done.error().text;
    }
  }

  void set_phase(const json::object& pod, std::string_view phase) {
    ObjectAccess& objects = life->machine().objects();
    json::object status = part(pod, "status");
    status["phase"] = api::json_view(phase);
    const auto done = objects.update_status(*life->scheme().find_by_name("pods"),
                                            "default/" + name_of(pod), std::move(status));
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  /// Whatever has a node and may start, runs.
  void run_all() {
    for (const json::object& pod : all("pods"))
      if (!api::find_text(part(pod, "spec"), "nodeName").empty() &&
          api::find_text(part(pod, "metadata"), "deletionTimestamp").empty())
        set_phase(pod, "Running");
    settle();
  }
  /// The process of a pod that was asked to end has ended; false: there is none.
  bool end_one() {
    for (const json::object& pod : all("pods")) {
      if (api::find_text(part(pod, "metadata"), "deletionTimestamp").empty() ||
          api::find_text(part(pod, "status"), "phase") != "Running")
        continue;
      set_phase(pod, "Failed");
      settle();
      return true;
    }
    return false;
  }
};

struct Way {
  const char* name;
  void (*give_up)(World&);
  int leave;  ///< pods of `first` that run on
  const char* plugin = nullptr;
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

/// How, whether the host restarts after each pod that ends, and whether its job runs by an option.
class HeldQuota : public testing::TestWithParam<std::tuple<Way, bool, bool>> {
 protected:
  static World world() {
    const auto& [way, restarts, by_option] = GetParam();
    std::vector<std::string> plugins;
    if (way.plugin) plugins.emplace_back(way.plugin);
    if (!by_option) return World(plugins);
    plugins.emplace_back("concurrent-admission");
    return World(plugins, R"("concurrentAdmission":{"onSuccess":"RemoveOther"},)");
  }
};

// A job that stops keeps the quota of all its pods until the last has ended: 4 - 4 = 0 cpu are left
// for the 3 of `second`. One that goes on with 1 pod gives back those of each that has: with 2 left
// it is 4 - 2 < 3, with 1 left 4 - 1 = 3.
TEST_P(HeldQuota, IsNobodysUntilThePodsHaveEnded) {
  const auto& [way, restarts, by_option] = GetParam();
  World world = HeldQuota::world();
  ASSERT_EQ(world.all("workloads").size(), by_option ? 2U : 1U);
  way.give_up(world);
  world.settle();
  if (world.workload_of("second").empty()) {
    world.submit("second", 3);
    world.settle();
  }
  for (int left = 4; left > way.leave; --left) {
    EXPECT_FALSE(world.is_admitted("second")) << left << " pods run";
    EXPECT_EQ(world.running("first"), left);
    if (restarts) world.begin();
    ASSERT_TRUE(world.end_one());
  }
  EXPECT_TRUE(world.is_admitted("second"));
  EXPECT_FALSE(world.end_one());
}

constexpr Way kWays[] = {
    {"Preempted", [](World& world) { world.submit("second", 3, "high"); }, 0},
    {"TurnedOff",
     [](World& world) {
       world.patch("workloads/default/" + world.workload_of("first"),
                   R"({"spec":{"active":false}})");
     },
     0},
    {"JobDeleted", [](World& world) { world.remove("jobs/default/first"); }, 0},
    {"PreemptedAndDeleted",
     [](World& world) {
       world.submit("second", 3, "high");
       world.settle();
       world.remove("jobs/default/first");
     },
     0},
    {"DeletedThatIsPreempted",
     [](World& world) {
       world.remove("jobs/default/first");
       world.settle();
       world.submit("second", 3, "high");
     },
     0},
    {"WorkloadDeleted",
     [](World& world) {
       world.submit("second", 3, "high");  // else `first` comes first again
       world.remove("workloads/default/" + world.workload_of("first"));
     },
     0},
    {"Changed",
     [](World& world) {
       world.submit("second", 3, "high");
       world.patch("jobs/default/first", R"({"spec":{"parallelism":2}})");
     },
     0},
    {"DeletedAndKeptAndPreempted",  // by a finalizer of its user's: nobody counts its pods
     [](World& world) {
       world.patch("jobs/default/first", R"({"metadata":{"finalizers":["example.com/keep"]}})");
       world.remove("jobs/default/first");
       world.settle();
       world.submit("second", 3, "high");
     },
     0},
    {"OfAHostOfBefore",  // whose workloads had no finalizer
     [](World& world) {
       world.take_finalizers_off();
       world.settle();
       world.begin();
       world.remove("jobs/default/first");
     },
     0},
    {"GivenAnOwner",
     [](World& world) {
       world.submit("owner", 1);
       world.settle();
       world.patch("jobs/default/first",
                   fmt::format(R"({{"metadata":{{"ownerReferences":[{{"apiVersion":"batch/v1",
                     "kind":"Job","name":"owner","uid":"{}","controller":true}}]}}}})",
                               world.uid_of("owner")));
       world.settle();
       world.submit("second", 3, "high");
     },
     0},
    {"MadeSmaller",
     [](World& world) { world.patch("jobs/default/first", R"({"spec":{"parallelism":1}})"); }, 1,
     "elastic-jobs"},
};

std::string told(const testing::TestParamInfo<HeldQuota::ParamType>& each) {
  return std::string(std::get<0>(each.param).name) +
         (std::get<1>(each.param) ? "WithRestarts" : "");
}

INSTANTIATE_TEST_SUITE_P(, HeldQuota,
                         testing::Combine(testing::ValuesIn(kWays), testing::Bool(),
                                          testing::Values(false)),
                         told);
// One that changes its size cannot follow options.
INSTANTIATE_TEST_SUITE_P(ByAnOption, HeldQuota,
                         testing::Combine(testing::ValuesIn(std::begin(kWays), std::end(kWays) - 1),
                                          testing::Bool(), testing::Values(true)),
                         told);

// Else its user would have the quota of pods that run on for another job.
TEST(HeldQuotaOfADeletedJob, IsNotGivenUpByItsUser) {
  World world;
  const std::string key = "default/" + world.workload_of("first");
  const auto done = world.life->write(WriteVerb::kPatch, "workloads/" + key,
                                      R"({"metadata":{"finalizers":null}})");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, 422);
  EXPECT_NE(done.error().text.find("kueue.x-k8s.io/resource-in-use is taken away by the system"),
            std::string::npos)
      << done.error().text;
}

// A job of which nothing runs is gone with all that belongs to it, at once.
TEST(HeldQuotaOfADeletedJob, IsNotHeldWhereNothingRuns) {
  World world;
  world.submit("second", 3);
  world.settle();
  EXPECT_FALSE(world.is_admitted("second"));
  world.remove("jobs/default/second");
  world.settle();
  EXPECT_EQ(world.workload_of("second"), "");
}

}  // namespace
}  // namespace sluice::host::test
