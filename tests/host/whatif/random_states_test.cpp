// What a fork answers is what happens when it is then done and nothing else changes: random hosts
// (queues in cohorts, flavors, every policy of preemption, with and without the plugins of this
// build), random loads of workloads and jobs that come and end, and between them random questions,
// each of which is then carried out: the same workloads run, on the same flavors, the same were
// evicted for the same, and the answer says so.
//
// SLUICE_WHAT_IF_SEEDS=1000 plays so many hosts instead of 30, SLUICE_WHAT_IF_FROM=948 the ones
// from that on.
#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <map>
#include <random>
#include <set>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "host/whatif/answer.hpp"
#include "tests/host/whatif/live_world.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host::test {
namespace {

class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}
  int below(int n) { return std::uniform_int_distribution(0, n - 1)(random_); }
  bool one_in(int n) { return below(n) == 0; }
  std::string any(std::initializer_list<const char*> texts) {
    return *(texts.begin() + below(static_cast<int>(texts.size())));
  }

 private:
  std::mt19937 random_;
};

constexpr int kQueues = 5;
const char* const kNamespaces[] = {"a", "b", "c"};

std::string flavor_quota(Chance& chance, int flavor) {
  const int nominal = chance.below(8);
  std::string limits;
  if (chance.one_in(3)) limits += fmt::format(R"(,"borrowingLimit":"{}")", chance.below(6));
  if (chance.one_in(3)) limits += fmt::format(R"(,"lendingLimit":"{}")", chance.below(nominal + 1));
  return fmt::format(R"({{"name":"f{}","resources":[{{"name":"cpu","nominalQuota":"{}"{}}}]}})",
                     flavor, nominal, limits);
}

std::string cluster_queue(Chance& chance, int i) {
  std::string flavors;
  const int first = chance.below(3), count = 1 + chance.below(3);
  for (int n = 0; n < count; ++n)
    flavors += (n > 0 ? "," : "") + flavor_quota(chance, (first + n) % 3);
  const std::string reclaim = chance.any({"Never", "Any", "LowerPriority"});
  std::string preemption =
      fmt::format(R"("withinClusterQueue":"{}","reclaimWithinCohort":"{}")",
                  chance.any({"Never", "LowerPriority", "LowerOrNewerEqualPriority"}), reclaim);
  if (reclaim != "Never" && chance.one_in(3))
    preemption += R"(,"borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":5})";
  return fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{{"name":"q{}"}},
      "spec":{{"cohortName":"{}","namespaceSelector":{{}},"queueingStrategy":"{}",
      "flavorFungibility":{{"whenCanBorrow":"{}","whenCanPreempt":"{}"}},
      "preemption":{{{}}},"stopPolicy":"{}",
      "resourceGroups":[{{"coveredResources":["cpu"],"flavors":[{}]}}]}}}})",
      i, chance.any({"left", "right", "left", "right", "alone"}),
      chance.any({"BestEffortFIFO", "BestEffortFIFO", "StrictFIFO"}),
      chance.any({"MayStopSearch", "TryNextFlavor"}),
      chance.any({"MayStopSearch", "TryNextFlavor"}), preemption,
      chance.any({"None", "None", "None", "None", "None", "Hold"}), flavors);
}

std::string cohort(Chance& chance, const std::string& name, const std::string& parent) {
  std::string quota;
  if (chance.one_in(2))
    quota = fmt::format(R"("resourceGroups":[{{"coveredResources":["cpu"],"flavors":[{}]}}],)",
                        flavor_quota(chance, chance.below(3)));
  return fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{{"name":"{}"}},
      "spec":{{{}"parentName":"{}"}}}})",
      name, quota, parent);
}

std::string containers(Chance& chance) {
  return fmt::format(
      R"("containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}])",
      1 + chance.below(4));
}

std::string workload(Chance& chance, const std::string& name) {
  const char* ns = kNamespaces[chance.below(3)];
  std::string sets;
  for (int n = 0; n <= chance.below(2); ++n)
    sets += fmt::format(R"({}{{"name":"s{}","count":{},{}"template":{{"spec":{{{}}}}}}})",
                        n > 0 ? "," : "", n, 1 + chance.below(3),
                        n == 0 && chance.one_in(4) ? R"("minCount":1,)" : "", containers(chance));
  return fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{{"name":"{}",
      "namespace":"{}"}},"spec":{{"queueName":"q{}","priority":{},"podSets":[{}]}}}})",
      name, ns, chance.below(kQueues), chance.below(4) * 3, sets);
}

std::string job(Chance& chance, const std::string& name) {
  return fmt::format(
      R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"{}","namespace":"{}","labels":
      {{"kueue.x-k8s.io/queue-name":"q{}","kueue.x-k8s.io/priority-class":"p{}"}}}},
      "spec":{{"parallelism":{},"completions":4,"template":{{"spec":{{"restartPolicy":"Never",
      {}}}}}}}}})",
      name, kNamespaces[chance.below(3)], chance.below(kQueues), chance.below(3),
      1 + chance.below(4), containers(chance));
}

void set_up(LiveWorld& world, Chance& chance) {
  for (const char* ns : kNamespaces)
    world.apply(
        fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", ns));
  for (int i = 0; i < 3; ++i) {
    world.apply(fmt::format(R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
        "metadata":{{"name":"f{}"}}}})",
                            i));
    world.apply(fmt::format(R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":
        "WorkloadPriorityClass","metadata":{{"name":"p{}"}},"value":{}}})",
                            i, i * 4));
  }
  if (chance.one_in(2)) {
    world.apply(cohort(chance, "left", "top"));
    world.apply(cohort(chance, "right", "top"));
  }
  for (int i = 0; i < kQueues; ++i) {
    world.apply(cluster_queue(chance, i));
    for (const char* ns : kNamespaces)
      world.apply(fmt::format(
          R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{{"name":"q{}",
          "namespace":"{}"}},"spec":{{"clusterQueue":"q{}"}}}})",
          i, ns, i));
  }
  world.settle();
}

/// By the object that people know: a workload of a job is its job's.
std::string name_of(const Engine& engine, WorkloadId id) {
  const auto object = engine.object(id);
  for (const auto& owner : object->meta.owners)
    if (owner.controller) return object->meta.ns + "/" + owner.kind + " " + owner.name;
  return engine.key(id);
}

/// Where every workload stands and on what.
std::map<std::string, std::string> picture(const Engine& engine) {
  std::map<std::string, std::string> out;
  for (const WorkloadId id : engine.workloads()) {
    std::string text = fmt::format("{}", static_cast<int>(engine.state(id)));
    for (const api::PodSetAssignment& pods : assignment_of(engine.model(), id)) {
      text += fmt::format(" {}:{}", pods.name, pods.count);
      for (const auto& [resource, flavor] : pods.flavors) text += " " + flavor;
    }
    out[name_of(engine, id)] += text;
  }
  return out;
}

/// `victim for preemptor`.
std::multiset<std::string> evictions(const Engine& engine, const Happenings& since) {
  std::multiset<std::string> out;
  for (const Happenings::Of& of : since.all()) {
    if (!of.evicted) continue;
    const auto by = engine.find(of.by);
    out.insert(name_of(engine, of.workload) + " for " + (by ? name_of(engine, *by) : of.by));
  }
  return out;
}

class RandomHost {
 public:
  RandomHost(unsigned seed, bool with_plugins)
      : chance_(seed), world_(configured(chance_), with_plugins) {
    set_up(world_, chance_);
  }

  void play() {
    for (int round = 0; round < 6 && !testing::Test::HasFailure(); ++round) {
      SCOPED_TRACE(fmt::format("round {}", round));
      for (int n = 0; n < 6; ++n) something_happens();
      ask_and_do(question());
    }
  }
  int starts() const { return starts_; }
  int waits() const { return waits_; }
  int evicted() const { return evicted_; }

 private:
  static Configuration configured(Chance& chance) {
    Configuration out;
    out.engine.fair_sharing = chance.one_in(4);
    return out;
  }

  void something_happens() {
    world_.pass((1 + chance_.below(400)) * kSecond / 4);
    const std::string name = fmt::format("n{}", ++names_);
    switch (chance_.below(6)) {
      case 0:
        return end_something();
      case 1:
      case 2:
        return write(job(chance_, name));
      default:
        return write(workload(chance_, name));
    }
  }

  void write(const std::string& object) {
    const auto done =
        put_question(world_.question({object}), LiveWorld::anything(), world_.machine);
    ASSERT_TRUE(done.ok()) << done.error().text;
    world_.settle();
  }

  void end_something() {
    const Engine& engine = world_.engine();
    std::vector<WorkloadId> running;
    for (const WorkloadId id : engine.workloads())
      if (engine.state(id) == WorkloadState::kAdmitted) running.push_back(id);
    if (running.empty()) return;
    const WorkloadId id =
        running[static_cast<std::size_t>(chance_.below(static_cast<int>(running.size())))];
    const auto object = engine.object(id);
    if (object->meta.owners.empty()) {
      ASSERT_TRUE(world_.machine.kernel().finish(engine.key(id), "Succeeded", "so").ok());
    } else {
      const api::KindInfo& jobs = world_.kind("jobs");
      const std::string key = object->meta.ns + "/" + object->meta.owners.front().name;
      auto status =
          ended_status(*jobs.job, *world_.machine.objects().get(jobs, key), world_.clock.now());
      ASSERT_TRUE(world_.machine.objects().update_status(jobs, key, std::move(status)).ok());
    }
    world_.settle();
  }

  std::vector<std::string> question() {
    const std::string name = fmt::format("n{}", ++names_);
    switch (chance_.below(6)) {
      case 0:
        return {cluster_queue(chance_, chance_.below(kQueues))};
      case 1:
        return {cohort(chance_, chance_.any({"left", "right"}), "top"), job(chance_, name)};
      case 2:
        return {job(chance_, name), workload(chance_, name + "-too")};
      case 3:
        return {job(chance_, name)};
      default:
        return {workload(chance_, name)};
    }
  }

  void ask_and_do(const std::vector<std::string>& objects) {
    world_.pass(chance_.below(3) * kSecond);
    std::string asked_for;
    for (const std::string& object : objects) asked_for += object + "\n";
    SCOPED_TRACE(asked_for);
    const Question question = world_.question(objects);
    const std::uint64_t version = world_.store.version();

    const auto fork = world_.fork();
    EXPECT_EQ(picture(fork->engine()), picture(world_.engine())) << "the fork is another host";
    if (testing::Test::HasFailure()) return;
    Happenings in_fork;
    fork->machine().observe(in_fork);
    in_fork.begin(fork->engine());
    const auto granted = put_question(question, LiveWorld::anything(), fork->machine());
    if (!granted) return expect_refused(question, granted.error());
    ASSERT_TRUE(fork->run_to_rest(Deadline::max()).ok());
    const auto asked = asked_workloads(*fork, question, *granted, in_fork, {});
    const auto document = answer_document(*fork, question, *granted, asked, in_fork, {});
    world_.publish();
    EXPECT_EQ(world_.store.version(), version) << "something was written";

    world_.since.begin(world_.engine());
    world_.machine.begin_instant(world_.clock.now());
    const auto done = put_question(question, LiveWorld::anything(), world_.machine);
    ASSERT_TRUE(done.ok()) << done.error().text;
    world_.settle();
    EXPECT_EQ(picture(fork->engine()), picture(world_.engine()));
    EXPECT_EQ(evictions(fork->engine(), in_fork), evictions(world_.engine(), world_.since));
    expect_told(document);
  }

  void expect_refused(const Question& question, const ApiError& error) {
    const auto done = put_question(question, LiveWorld::anything(), world_.machine);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().text, error.text);
    world_.settle();
  }

  /// What the document says is what the host did.
  void expect_told(const boost::json::object& document) {
    const auto now = picture(world_.engine());
    for_each_object(document, "workloads", [&](const boost::json::object& told) {
      const boost::json::object& object = part(told, "object");
      const std::string ns(api::find_text(object, "namespace"));
      const std::string name(api::find_text(object, "name"));
      const bool is_job = api::find_text(object, "kind") == "Job";
      const auto found = now.find(is_job ? ns + "/Job " + name : ns + "/" + name);
      ASSERT_NE(found, now.end()) << name;
      const std::string decision(api::find_text(told, "decision"));
      const bool runs = found->second.starts_with("2");
      EXPECT_EQ(decision == "Starts" || decision == "Runs", runs) << boost::json::serialize(told);
      ++(runs ? starts_ : waits_);
      if (!runs) return;
      std::string text = "2";
      for_each_object(told, "admission", [&](const boost::json::object& pods) {
        text += fmt::format(" {}:{}", api::find_text(pods, "name"),
                            api::find_int(pods, "count").value_or(0));
        for (const auto& [resource, flavor] : part(pods, "flavors"))
          text += " " + std::string(api::view(flavor.as_string()));
      });
      EXPECT_EQ(text, found->second);
    });
    std::multiset<std::string> said, happened;
    for_each_object(part(document, "changes"), "evicted", [&](const boost::json::object& each) {
      said.insert(std::string(api::find_text(each, "workload")));
    });
    for (const Happenings::Of& of : world_.since.all())
      if (of.evicted && holds(world_.since.before(of.workload)))
        happened.insert(world_.engine().key(of.workload));
    EXPECT_EQ(said, happened);
    evicted_ += static_cast<int>(said.size());
  }

  Chance chance_;
  LiveWorld world_;
  int names_ = 0;
  int starts_ = 0, waits_ = 0, evicted_ = 0;
};

void play_all(bool with_plugins) {
  const int from = trial::asked_for("SLUICE_WHAT_IF_FROM").value_or(1);
  const int seeds = trial::amount("SLUICE_WHAT_IF_SEEDS", 30);
  int starts = 0, waits = 0, evicted = 0;
  for (int seed = from; seed < from + seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomHost host(static_cast<unsigned>(seed), with_plugins);
    host.play();
    starts += host.starts();
    waits += host.waits();
    evicted += host.evicted();
  }
  // The questions are worth asking.
  EXPECT_GT(starts, seeds / 2);
  EXPECT_GT(waits, seeds / 2);
  EXPECT_GT(evicted, seeds / 10);
}

TEST(WhatIfOfRandomStates, IsWhatThenHappens) { play_all(false); }
TEST(WhatIfOfRandomStates, IsWhatThenHappensWithThePluginsOfThisBuild) { play_all(true); }

}  // namespace
}  // namespace sluice::host::test
