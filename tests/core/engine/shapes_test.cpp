// Shapes: equals share a number, and what nobody has any more is forgotten without a number ever
// meaning something else.
#include "core/engine/shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/core/support/scenario.hpp"

namespace sluice {
namespace {

using namespace testing;

struct World {
  Model model;
  ResourceRules rules;
  Shapes shapes{model, rules};

  static std::shared_ptr<const api::PodTemplate> pod(const std::string& text) {
    auto out = std::make_shared<api::PodTemplate>();
    out->shape = text;
    return out;
  }

  WorkloadId add(const std::string& key, const std::shared_ptr<const api::PodTemplate>& pod) {
    const WorkloadId id = model.workloads.add();
    WorkloadRecord& w = model.workloads[id];
    auto object = std::make_shared<api::Workload>();
    object->pod_sets.emplace_back();
    object->pod_sets[0].name = "main";
    object->pod_sets[0].pod = pod;
    w.object = object;
    w.key = key;
    w.pod_sets.emplace_back();
    w.pod_sets[0].shape = shapes.of_pod(pod);
    w.shape = shapes.of_workload(w);
    model.ids.emplace(w.key, id);  // the key is a view of the record's own
    return id;
  }
  void remove(WorkloadId id) {
    model.ids.erase(model.workloads[id].key);
    model.workloads[id] = WorkloadRecord();
    shapes.tidy();
  }
};

TEST(Shapes, EqualsShareANumber) {
  World w;
  const auto one = World::pod("one");
  const WorkloadId a = w.add("a", one), b = w.add("b", one), c = w.add("c", World::pod("one"));
  const WorkloadId other = w.add("d", World::pod("two"));
  EXPECT_EQ(w.model.workloads[a].pod_sets[0].shape, w.model.workloads[b].pod_sets[0].shape);
  EXPECT_EQ(w.model.workloads[a].shape, w.model.workloads[b].shape);
  EXPECT_EQ(w.model.workloads[a].shape, w.model.workloads[c].shape);  // by what it says
  EXPECT_NE(w.model.workloads[a].shape, w.model.workloads[other].shape);
}

TEST(Shapes, CountsOfAnySizeAreToldApart) {
  World w;
  const WorkloadId id = w.add("a", World::pod("one"));
  PodSetRecord& pods = w.model.workloads[id].pod_sets[0];
  std::set<std::uint32_t> numbers;
  std::size_t shapes = 0;
  for (const std::int32_t count : {1, 127, 128, 129, 255, 256, 257, 384, 16'384, 32'768})
    for (const std::int32_t least : {0, 1, 128, 256}) {
      pods.count = count;
      pods.min_count = least;
      numbers.insert(w.shapes.of_workload(w.model.workloads[id]));
      EXPECT_EQ(numbers.size(), ++shapes) << count << " pods, " << least << " at least";
    }
}

// Ten come and go for each that stays; a sweep is due when as many came as stayed (1024 at least,
// and each brings three: its pod, the pod's text and its own).
TEST(Shapes, WhatNobodyHasIsForgottenAndNoNumberComesBack) {
  World w;
  std::set<std::uint32_t> numbers;
  const WorkloadId stays = w.add("stays", World::pod("stays"));
  const std::uint32_t number = w.model.workloads[stays].shape;
  for (int i = 0; i < 20'000; ++i) {
    const WorkloadId id = w.add("w", World::pod("pod " + std::to_string(i)));
    EXPECT_TRUE(numbers.insert(w.model.workloads[id].shape).second);
    w.remove(id);
    ASSERT_LE(w.shapes.pods(), 1024U);
    ASSERT_LE(w.shapes.workloads(), 1024U);
  }
  EXPECT_EQ(w.shapes.of_workload(w.model.workloads[stays]), number);
  EXPECT_EQ(w.model.workloads[stays].pod_sets[0].shape->pod->shape, "stays");
}

// Templates that came back after they were forgotten are new ones.
TEST(Shapes, ATemplateAtTheAddressOfAnotherIsNotTakenForIt) {
  World w;
  std::uint32_t last = 0;
  for (int i = 0; i < 5'000; ++i) {
    const WorkloadId id = w.add("w", World::pod(i % 2 == 0 ? "even" : "odd"));
    EXPECT_EQ(w.model.workloads[id].pod_sets[0].shape->pod->shape, i % 2 == 0 ? "even" : "odd");
    EXPECT_NE(w.model.workloads[id].shape, last);
    last = w.model.workloads[id].shape;
    w.remove(id);
  }
}

/// Workloads that name whatever they like, of which one at a time is there.
void play_strangers(Scenario& s, int count, std::size_t* resources, std::size_t* queues) {
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), name = "w" + n;
    s.submit(Job(name, "lq" + n).request("example.com/r" + n, 1)).run();
    s.remove(name);
    *resources = std::max(*resources, s.engine.model().frs.resources().known());
    *queues = std::max(*queues, s.engine.model().names.known());
  }
}

// A sweep is due after 1,024 names of LocalQueues, or 1,024 shapes, which are more here.
TEST(Shapes, NamesThatUsersChooseStayAsLongAsTheirWorkloads) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).quota("memory", {{"f", 8}}));
  s.submit(Job("runs", "q").cpu(1).request("memory", 2)).run();
  s.submit(Job("waits", "q").cpu(9).request("example.com/mine", 1)).run();
  std::size_t resources = 0, queues = 0;
  play_strangers(s, 5'000, &resources, &queues);
  EXPECT_LE(resources, 1'100U);
  EXPECT_LE(queues, 1'100U);
  EXPECT_EQ(s.why("waits"),
            "NoMatchingFlavor: couldn't assign flavors to pod set main: "
            "resource example.com/mine unavailable in ClusterQueue");
  EXPECT_EQ(s.assigned("runs"), "main=1 cpu:f memory:f");
  s.submit(Job("more", "q").cpu(3).request("memory", 6)).run();
  EXPECT_EQ(s.assigned("more"), "main=1 cpu:f memory:f");
}

// A resource that was asked for and forgotten, and asked for again, is covered from the moment on
// in which a queue has quota of it.
TEST(Shapes, AResourceIsCoveredWhoeverNamedItFirst) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  std::size_t resources = 0, queues = 0;
  play_strangers(s, 3'000, &resources, &queues);
  s.submit(Job("early", "q").cpu(1).request("example.com/r7", 2)).run();
  EXPECT_EQ(s.assigned("early"), "");
  s.queue(Queue("q").quota("cpu", {{"f", 4}}).quota("example.com/r7", {{"f", 2}}));
  s.run();
  EXPECT_EQ(s.assigned("early"), "main=1 cpu:f example.com/r7:f");
}

}  // namespace
}  // namespace sluice
