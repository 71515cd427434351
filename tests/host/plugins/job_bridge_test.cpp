// How the answers of several plugins about one job are put together.
#include "host/plugins/bridge_jobs.hpp"

#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using hooks::JobMatch;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JobBridge : public PluginTest {
 protected:
  hooks::JobQuery query() const { return {kind, R"({"kind":"Job"})", pod_sets, workloads}; }

  hooks::JobPlan plan(PluginSet& set, std::string* fault_text = nullptr) {
    hooks::JobPlan out;
    hooks::Fault fault;
    set.hooks().job_mapping->plan(query(), out, fault);
    if (fault_text) *fault_text = fault.text;
    return out;
  }
  std::vector<std::string> gates(PluginSet& set) {
    std::vector<std::string> out;
    hooks::Fault fault;
    set.hooks().pod_gate->gates(query(), out, fault);
    return out;
  }
  hooks::PodGrants granted(PluginSet& set, std::string* fault_text = nullptr) {
    hooks::PodGrants out;
    out.pods.resize(pod_sets.size());
    hooks::Fault fault;
    set.hooks().pod_gate->granted(query(), out, fault);
    if (fault_text) *fault_text = fault.text;
    return out;
  }
  void add_workload(const std::string& name, JobMatch match, std::int32_t admitted = 0) {
    auto workload = std::make_shared<api::Workload>(make_workload(name));
    if (admitted > 0)
      workload->status.admission =
          api::Admission{"cq", {api::PodSetAssignment{"main", admitted, {}, {}}}};
    workloads.push_back({std::move(workload), match});
  }

  std::string kind = "batch/Job";
  std::vector<hooks::JobPodSet> pod_sets = {{"main", 3, std::nullopt}, {"more", 2, 1}};
  std::vector<hooks::JobWorkload> workloads;
};

TEST_F(JobBridge, NobodyAnswersUnlessAPluginDoes) {
  EXPECT_EQ(load({plugin("filter")})->hooks().job_mapping, nullptr);
  EXPECT_EQ(load({plugin("filter")})->hooks().pod_gate, nullptr);
  const auto out = plan(*load({plugin("jobs-a", R"({"mode":"silent"})")}));
  EXPECT_EQ(out.provider, "");
  EXPECT_EQ(out.conflict, "");
}

TEST_F(JobBridge, APlanComesThrough) {
  const auto set = load({plugin("jobs-a")});
  const auto fresh = plan(*set);
  EXPECT_EQ(fresh.provider, "jobs-a");
  ASSERT_EQ(fresh.create.size(), 1u);
  EXPECT_EQ(fresh.create[0].name, "");
  EXPECT_EQ(fresh.create[0].revision, "r3");
  EXPECT_EQ(fresh.create[0].labels[0].first, "l");
  EXPECT_EQ(fresh.create[0].annotations[0].second, "2");
  EXPECT_EQ(fresh.speaker, "");

  add_workload("one", JobMatch::kCounts, 4);
  add_workload("two", JobMatch::kSame);
  const auto later = plan(*set);
  EXPECT_EQ(later.speaker, "one");
  EXPECT_THAT(later.resize, ElementsAre("one"));
  ASSERT_EQ(later.finish.size(), 1u);
  EXPECT_EQ(later.finish[0].name, "two");
  EXPECT_EQ(later.finish[0].reason, "Superseded");
  EXPECT_EQ(later.finish[0].message, "one is enough");
  EXPECT_TRUE(later.create.empty());
  EXPECT_TRUE(plan(*load({plugin("jobs-a", R"({"mode":"never-content"})")})).recreate);
}

TEST_F(JobBridge, TwoAnswersAreAConflictThatNamesBoth) {
  EXPECT_EQ(plan(*load({plugin("jobs-a"), plugin("jobs-b")})).conflict,
            "plugins jobs-a and jobs-b both say which workloads the job has; only one of them may");
  const auto one = plan(*load({plugin("jobs-a", R"({"mode":"silent"})"), plugin("jobs-b")}));
  EXPECT_EQ(one.provider, "jobs-b");
  EXPECT_EQ(one.conflict, "");
}

TEST_F(JobBridge, AFaultyMapping) {
  add_workload("one", JobMatch::kSame);
  struct Case {
    const char* mode;
    const char* text;
  };
  for (const auto& [mode, text] :
       {Case{"throw", "it failed: no plan"},
        Case{"nonsense", "its answer makes no sense: the speaker is empty"},
        Case{"two-minds",
             "its answer makes no sense: beside recreate nothing else may be asked for"},
        Case{"stranger",
             "its answer makes no sense: the speaker is no workload of the job, and none that it "
             "creates"}}) {
    const std::string config = std::string(R"({"mode":")") + mode + "\"}";
    std::string fault;
    EXPECT_EQ(plan(*load({plugin("jobs-a", config)}), &fault).provider, "") << mode;
    EXPECT_EQ(fault, std::string("plugin jobs-a, job-mapping.plan: ") + text) << mode;
    EXPECT_EQ(
        plan(*load({plugin("jobs-a", config, FailurePolicy::kOpen), plugin("jobs-b")}), &fault)
            .provider,
        "jobs-b")
        << mode;
    EXPECT_EQ(fault, "") << mode;
  }
}

TEST_F(JobBridge, GatesAreJoinedAndTheLeastGrantCounts) {
  const auto set = load({plugin("jobs-a", R"({"gate":"example.com/x","grant":2})"),
                         plugin("jobs-b", R"({"gate":"example.com/y","grant":1})")});
  EXPECT_THAT(gates(*set), ElementsAre("example.com/x", "example.com/all", "example.com/y"));
  EXPECT_THAT(granted(*set).pods, ElementsAre(1, std::nullopt));
  kind = "ray.io/RayCluster";
  EXPECT_TRUE(gates(*set).empty());
}

TEST_F(JobBridge, AFaultyGateHoldsNewPodsAndLiftsNothing) {
  const auto closed =
      load({plugin("jobs-a", R"({"mode":"throw"})"), plugin("jobs-b", R"({"gate":"a/b"})")});
  EXPECT_THAT(gates(*closed),
              ElementsAre(gate_of_faulty_plugin("jobs-a"), "a/b", "example.com/all"));
  std::string fault;
  granted(*closed, &fault);
  EXPECT_THAT(fault, HasSubstr("pod-gate.granted: it failed: no grants"));
  granted(*load({plugin("jobs-a", R"({"mode":"nonsense"})")}), &fault);
  EXPECT_THAT(fault, HasSubstr("its answer makes no sense"));

  EXPECT_THAT(gates(*load({plugin("jobs-a", R"({"mode":"many-gates"})")})),
              ElementsAre(gate_of_faulty_plugin("jobs-a")))
      << "33 are more than a job may have";

  const auto open = load({plugin("jobs-a", R"({"mode":"throw"})", FailurePolicy::kOpen)});
  EXPECT_TRUE(gates(*open).empty());
  EXPECT_THAT(granted(*open, &fault).pods, ElementsAre(std::nullopt, std::nullopt));
  EXPECT_EQ(fault, "");
}

}  // namespace
}  // namespace sluice::host
