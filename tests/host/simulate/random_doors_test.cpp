// Random stories of writes, valid and not: finalizers, owners, statuses, deletes, ends. Both doors
// tell the same of each, and leave the same objects.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/host/simulate/doors.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host {
namespace {

class Writes {
 public:
  explicit Writes(unsigned seed) : random_(seed) {}

  std::string story() {
    for (int i = 0; i < kWorkloads; ++i) specs_[i] = workload(i);
    std::string out;
    for (int at = 1; at <= 40; ++at) out += event(std::to_string(at));
    return out;
  }

 private:
  static constexpr int kWorkloads = 5;

  int below(int n) { return std::uniform_int_distribution(0, n - 1)(random_); }
  template <typename... T>
  std::string any(const T&... texts) {
    const std::string all[] = {texts...};
    return all[static_cast<std::size_t>(below(static_cast<int>(sizeof...(texts))))];
  }

  static std::string uid(int i) {
    return "00000000-0000-4000-a000-00000000000" + std::to_string(i);
  }
  std::string owners() {
    if (below(3) > 0) return "";
    const int owner = below(kWorkloads);
    return ", ownerReferences: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: w" +
           std::to_string(owner) + ", uid: " + uid(owner) + "}]";
  }
  std::string workload(int i) {
    return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w" +
           std::to_string(i) + ", namespace: ns, uid: " + uid(i) + owners() +
           any("", "", ", finalizers: [example.com/hold]",
               ", finalizers: [kueue.x-k8s.io/resource-in-use]",
               ", annotations: {sluice.dev/runtime: 3s}") +
           "}, spec: {queueName: lq, priority: " + any("0", "1") +
           ", podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i, "
           "resources: {requests: {cpu: 1}}}]}}}]}}";
  }
  std::string merge() {
    return any("{metadata: {finalizers: null}}", "{metadata: {finalizers: [example.com/more]}}",
               "{metadata: {labels: {tier: gold}}}", "{metadata: {ownerReferences: null}}",
               "{spec: {active: false}}", "{spec: {active: true}}", "{spec: {priority: 5}}",
               "{spec: {queueName: other}}", "{spec: {queueName: lq}}", "{spec: {podSets: null}}",
               "{spec: {active: perhaps}}");
  }
  std::string condition(const std::string& type, const std::string& truth) {
    return "{conditions: [{type: " + type + ", status: '" + truth +
           "', reason: Said, message: so, lastTransitionTime: '2026-01-01T00:00:05Z'}]}";
  }
  std::string said() {
    return any(condition("Finished", "True"), condition("PodsReady", any("True", "False")),
               condition("Admitted", "True"), condition("Evicted", "True"),
               "{reclaimablePods: [{name: main, count: 1}]}", "{reclaimablePods: [{name: no}]}",
               "{admission: null}", "{conditions: null}", "{conditions: 7}");
  }
  /// The workload of the event exists: a client that names another one ends the simulation.
  std::string event(const std::string& at) {
    const std::string begins = "- {at: " + at + "s, ";
    const int i = below(kWorkloads);
    const std::string there = begins + "apply: " + specs_[i] + "}\n" + begins;
    const std::string name = "namespace: ns, name: w" + std::to_string(i);
    switch (below(8)) {
      case 0:
        return there + "delete: {kind: Workload, " + name + "}}\n";
      case 1:
        return there + "finish: {" + name + "}}\n";
      case 2:
      case 3:
      case 4:
        return there + "patch: {kind: Workload, " + name +
               ", subresource: status, merge: {status: " + said() + "}}}\n";
      default:
        return there + "patch: {kind: Workload, " + name + ", merge: " + merge() + "}}\n";
    }
  }

  std::string specs_[kWorkloads];
  std::mt19937 random_;
};

class RandomDoors : public TwoDoors {};

TEST_F(RandomDoors, C10_TellTheSame) {
  const int seeds = trial::amount("SLUICE_DOOR_SEEDS", 40);
  int to_the_end = 0;
  for (int seed = 1; seed <= seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const std::string log = play(Writes(static_cast<unsigned>(seed)).story());
    to_the_end += log.starts_with("{\"t\":");
  }
  EXPECT_GT(to_the_end, seeds / 2) << "most stories end at the first mistake";
}

}  // namespace
}  // namespace sluice::host
