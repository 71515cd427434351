// Gates of a job's pods: lifted from as many as plugins grant, the oldest first.
#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FakeGate final : public hooks::PodGate {
 public:
  void gates(const hooks::JobQuery&, std::vector<std::string>& out, hooks::Fault& fault) override {
    if (faulty) fault = {"gate", "it failed"};
    out = faulty ? std::vector<std::string>{"sluice.dev/waits-for-gate"}
                 : std::vector<std::string>{"example.com/gate"};
  }
  void granted(const hooks::JobQuery&, hooks::PodGrants& out, hooks::Fault&) override {
    out.pods[0] = grant;
  }
  std::optional<std::int32_t> grant = 0;
  bool faulty = false;
};

struct GateWorld : JobWorld {
  explicit GateWorld(FakeGate& gate) : JobWorld(nullptr, &gate) {
    submit(job("train", 3, queued()));
  }
  void pod(const std::string& name, const std::string& created, const std::string& own_gates) {
    apply(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
          R"(","namespace":"default","creationTimestamp":")" + created +
          R"(","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":")" +
          job_at("train", "/metadata/uid") +
          R"(","controller":true}]},"spec":{"restartPolicy":"Never","schedulingGates":[)" +
          own_gates + R"(],"containers":[{"name":"c","image":"i"}]}})");
  }
  std::vector<std::string> gated() {
    std::vector<std::string> out;
    for (const auto& key : objects.keys(kind("pods"), "default")) {
      const std::string held = at(get("pods", key), "/spec/schedulingGates");
      if (held != "(absent)" && held != "[]") out.push_back(key.substr(key.find('/') + 1));
    }
    return out;
  }
};

constexpr const char* kGate = R"({"name":"example.com/gate"})";

TEST(PodGates, NamesTheGatesOfNewPods) {
  FakeGate gate;
  GateWorld world(gate);
  const ObjectRef job{&world.kind("jobs"), "default/train"};
  EXPECT_THAT(world.gates.gates_of_new_pod(job, world.objects), ElementsAre("example.com/gate"));
  PodGates none(nullptr);
  EXPECT_THAT(none.gates_of_new_pod(job, world.objects), IsEmpty());
}

TEST(PodGates, FollowTheWorkloadsOfJobsOnly) {
  FakeGate gate;
  GateWorld world(gate);
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"bare",
      "namespace":"default"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,
      "template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  const api::KindInfo& workloads = world.kind("workloads");
  std::map<bool, int> followed;
  for (const StoredObject* each : world.store.list(workloads))
    ++followed[world.lifting.follows(*each)];
  EXPECT_EQ(followed[true], 1) << "the workload of the job train";
  EXPECT_EQ(followed[false], 1) << "bare: its status alone concerns no pod";
}

TEST(PodGates, TheOldestPodsAreLetGoFirst) {
  FakeGate gate;
  GateWorld world(gate);
  world.pod("c", "2026-01-01T00:00:01Z", kGate);
  world.pod("b", "2026-01-01T00:00:02Z", kGate);
  world.pod("a", "2026-01-01T00:00:03Z", kGate);
  world.settle();
  EXPECT_THAT(world.gated(), ElementsAre("a", "b", "c"));
  gate.grant = 1;
  world.change("jobs", "train", R"({"metadata":{"labels":{"look":"again"}}})");
  EXPECT_THAT(world.gated(), ElementsAre("a", "b"));
  world.status("pods", "c", R"({"phase":"Succeeded"})");
  EXPECT_THAT(world.gated(), ElementsAre("a")) << "a pod that ended makes room for the next";
  gate.grant = 0;
  world.change("jobs", "train", R"({"metadata":{"labels":{"look":"twice"}}})");
  EXPECT_THAT(world.gated(), ElementsAre("a")) << "a lifted gate is never put back";
  gate.grant = std::nullopt;
  world.change("jobs", "train", R"({"metadata":{"labels":{"look":"thrice"}}})");
  EXPECT_THAT(world.gated(), IsEmpty());
}

TEST(PodGates, OtherGatesStay) {
  FakeGate gate;
  gate.grant = 5;
  GateWorld world(gate);
  world.pod("a", "2026-01-01T00:00:01Z", std::string(kGate) + R"(,{"name":"user.example/own"})");
  world.settle();
  EXPECT_THAT(world.gated(), ElementsAre("a"));
  EXPECT_EQ(at(world.get("pods", "default/a"), "/spec/schedulingGates/0/name"), "user.example/own");
}

TEST(PodGates, NoGateIsLiftedWhileAPluginFails) {
  FakeGate gate;
  gate.grant = 5;
  gate.faulty = true;
  GateWorld world(gate);
  world.pod("a", "2026-01-01T00:00:01Z", R"({"name":"sluice.dev/waits-for-gate"})");
  world.settle();
  EXPECT_THAT(world.gated(), ElementsAre("a"));
  gate.faulty = false;
  world.pass(10 * kSecond);
  EXPECT_THAT(world.gated(), IsEmpty()) << "it is asked again after a while";
}

}  // namespace
}  // namespace sluice::host::test
