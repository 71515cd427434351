// Random lives of a group: whatever its pods and its workload do, no more runs than quota is held
// for, and the plan comes to rest.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "../plan.hpp"

namespace pods {
namespace {

constexpr std::int32_t kPods = 3;
constexpr int kSteps = 60;

/// A group, its workload, and what carries plans out; as little as can be of both.
class Life {
 public:
  explicit Life(std::uint32_t seed) : random_(seed) {}

  void step() {
    switch (drawn(10)) {
      case 0:
      case 1:
      case 2:
        return add_pod();
      case 3:
        return end_some(Phase::kSucceeded);
      case 4:
        return end_some(Phase::kFailed);
      case 5:
        return delete_some();
      case 6:
      case 7:
        return admit();
      case 8:
        return evict();
      default:
        if (workload && drawn(6) == 0) workload.reset();  // somebody deletes it
    }
  }

  /// Carries out what is asked for until nothing is; the number of rounds.
  int settle() {
    for (int round = 1;; ++round) {
      const Plan next = plan(pods, workload ? &*workload : nullptr);
      if (!carry_out(next) || round > 20) return round;
    }
  }

  std::int64_t may_run() const {
    return std::count_if(pods.begin(), pods.end(), [](const Pod& pod) {
      return pod.open() && !pod.gated && (pod.bound || !pod.terminating);
    });
  }

  std::vector<Pod> pods;
  std::optional<Held> workload;

 private:
  std::size_t drawn(std::size_t below) { return random_() % below; }

  void add_pod() {
    Pod pod;
    pod.name = "p" + std::to_string(++made_);
    pod.created = std::to_string(1000 + made_);
    pod.group = "g";
    pod.role = drawn(8) == 0 ? "other" : "role";
    pod.total = kPods;
    pod.gated = true;
    pods.push_back(pod);
  }
  Pod* some() { return pods.empty() ? nullptr : &pods[drawn(pods.size())]; }
  void end_some(Phase phase) {
    Pod* pod = some();
    if (pod == nullptr || !pod->open() || pod->gated) return;
    pod->phase = phase;
    pod->ended = std::to_string(1000 + made_);
  }
  void delete_some() {
    if (Pod* pod = some()) remove(pod->name);
  }
  void admit() {
    if (workload && !workload->finished) workload->reserved = workload->admitted = true;
  }
  void evict() {
    if (!workload || !workload->reserved) return;
    workload->reserved = workload->admitted = false;
    ++workload->evictions;
  }

  Pod* find(const std::string& name) {
    const auto it =
        std::find_if(pods.begin(), pods.end(), [&](const Pod& pod) { return pod.name == name; });
    return it == pods.end() ? nullptr : &*it;
  }
  /// Gone when no finalizer and no process holds it.
  void remove(const std::string& name) {
    Pod* pod = find(name);
    if (pod == nullptr) return;
    pod->terminating = true;
    if (!pod->tracked && !(pod->bound && pod->open()))
      pods.erase(pods.begin() + (pod - pods.data()));
  }

  bool carry_out(const Plan& next) {
    for (const auto& name : next.track) find(name)->tracked = true;
    for (const auto& name : next.release) {
      find(name)->tracked = false;
      if (find(name)->terminating) remove(name);
    }
    for (const auto& name : next.excess) remove(name);
    for (const auto& name : next.stop) {
      find(name)->stopped = true;
      remove(name);
    }
    for (const auto& name : next.start) {
      Pod& pod = *find(name);
      pod.gated = false;
      pod.bound = true;
      pod.evictions = workload->evictions;
    }
    if (next.remove_workload) workload.reset();
    if (next.finish) workload->finished = true;
    if (!next.create.empty()) {
      workload = Held();
      workload->of_group = true;
      for (const NewPodSet& set : next.create) workload->pod_sets.push_back({set.name, set.count});
    }
    if (pods.empty()) workload.reset();  // it goes with its owners
    return !next.track.empty() || !next.release.empty() || !next.excess.empty() ||
           !next.stop.empty() || !next.start.empty() || next.remove_workload || next.finish ||
           !next.create.empty();
  }

  std::mt19937 random_;
  int made_ = 0;
};

TEST(Lives, NoMoreRunsThanQuotaIsHeldForAndThePlanComesToRest) {
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    Life life(seed);
    for (int i = 0; i < kSteps; ++i) {
      life.step();
      ASSERT_LE(life.settle(), 10) << "seed " << seed << ", step " << i;
      ASSERT_LE(life.may_run(), kPods) << "seed " << seed << ", step " << i;
      for (const Pod& pod : life.pods) {
        const bool runs = pod.open() && !pod.gated && !pod.terminating;
        const bool held = life.workload && life.workload->admitted && !life.workload->finished;
        ASSERT_TRUE(!runs || held)
            << pod.name << " runs without quota: seed " << seed << ", step " << i;
      }
    }
  }
}

}  // namespace
}  // namespace pods
