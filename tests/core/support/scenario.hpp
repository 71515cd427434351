// Scenario: small worlds for the tests of the engine, written as they would be told.
//
//   Scenario s;
//   s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
//   s.submit(Job("a", "q").cpu(3));
//   EXPECT_EQ(s.run(), Lines("reserved a", "admitted a"));
//
// Amounts are whole units (cores of cpu). Names of workloads stand without their namespace, `ns`.
// For every ClusterQueue there is a LocalQueue of the same name. After each step the ledger is
// recomputed and compared.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/engine/queue_views.hpp"

namespace sluice::testing {

using Log = std::vector<std::string>;

template <typename... Each>
Log Lines(Each... each) {
  return {std::string(each)...};
}

/// The lines of a log that tell of evictions.
inline Log evictions(const Log& log) {
  Log out;
  for (const std::string& line : log)
    if (line.starts_with("evicted")) out.push_back(line);
  return out;
}

inline std::int64_t engine_units(const std::string& resource, std::int64_t units) {
  return resource == "cpu" ? units * 1000 : units;
}

using FlavorAmounts = std::vector<std::pair<std::string, std::int64_t>>;

/// The quota part that ClusterQueues and Cohorts share.
template <typename Object, typename Self>
struct QuotaBuilder {
  Object object;

  /// A resource group of one resource over these flavors, in order.
  Self& quota(const std::string& resource, const FlavorAmounts& amounts) {
    api::ResourceGroup& group = object.resource_groups.emplace_back();
    group.covered_resources = {resource};
    for (const auto& [flavor, units] : amounts)
      group.flavors.push_back({flavor, {{resource, api::Quantity::of_units(units), {}, {}}}});
    return self();
  }
  /// Another resource in the group that was added last.
  Self& with(const std::string& resource, const std::vector<std::int64_t>& units) {
    api::ResourceGroup& group = object.resource_groups.back();
    group.covered_resources.push_back(resource);
    for (std::size_t i = 0; i < units.size(); ++i)
      group.flavors[i].resources.push_back({resource, api::Quantity::of_units(units[i]), {}, {}});
    return self();
  }
  /// Of every flavor and resource so far.
  Self& borrowing_limit(std::int64_t units) {
    each([&](api::ResourceQuota& q) { q.borrowing_limit = api::Quantity::of_units(units); });
    return self();
  }
  Self& lending_limit(std::int64_t units) {
    each([&](api::ResourceQuota& q) { q.lending_limit = api::Quantity::of_units(units); });
    return self();
  }
  Self& weight(std::int64_t units) {
    object.fair_weight = api::Quantity::of_units(units);
    return self();
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  template <typename Change>
  void each(const Change& change) {
    for (api::ResourceGroup& group : object.resource_groups)
      for (api::FlavorQuotas& flavor : group.flavors)
        for (api::ResourceQuota& quota : flavor.resources) change(quota);
  }
};

struct Queue : QuotaBuilder<api::ClusterQueue, Queue> {
  explicit Queue(const std::string& name) {
    object.meta.name = name;
    object.namespace_selector.emplace();
  }
  Queue& cohort(const std::string& name) {
    object.cohort = name;
    return *this;
  }
  Queue& strict() {
    object.strategy = api::QueueingStrategy::kStrictFifo;
    return *this;
  }
  Queue& within(api::WithinClusterQueue policy) {
    object.preemption.within_cluster_queue = policy;
    return *this;
  }
  Queue& lower_priority() { return within(api::WithinClusterQueue::kLowerPriority); }
  Queue& reclaim(api::ReclaimWithinCohort policy) {
    object.preemption.reclaim_within_cohort = policy;
    return *this;
  }
  Queue& reclaim_any() { return reclaim(api::ReclaimWithinCohort::kAny); }
  Queue& borrow_within_cohort() {
    object.preemption.borrow_within_cohort = true;
    return *this;
  }
  Queue& threshold(std::int32_t priority) {
    object.preemption.max_priority_threshold = priority;
    return borrow_within_cohort();
  }
  Queue& stop(api::StopPolicy policy) {
    object.stop_policy = policy;
    return *this;
  }
  Queue& checked_by(const std::string& check, const std::vector<std::string>& flavors = {}) {
    object.admission_checks.push_back({check, flavors});
    return *this;
  }
};

struct CohortOf : QuotaBuilder<api::Cohort, CohortOf> {
  explicit CohortOf(const std::string& name, const std::string& parent = "") {
    object.meta.name = name;
    object.parent = parent;
  }
};

/// A workload of one pod set `main`, more with pods().
struct Job {
  api::Workload object;

  Job(const std::string& name, const std::string& queue) {
    object.meta.name = name;
    object.meta.ns = "ns";
    object.meta.uid = "uid-" + name;
    object.queue_name = queue;
    object.pod_sets.emplace_back();
  }
  /// Another pod set.
  Job& pods(const std::string& name) {
    object.pod_sets.emplace_back().name = name;
    templates_.emplace_back();
    return *this;
  }
  Job& request(const std::string& resource, std::int64_t units) {
    return raw_request(resource, engine_units(resource, units));
  }
  /// In the engine's unit: milli for cpu.
  Job& raw_request(const std::string& resource, std::int64_t amount) {
    templates_.back().requests.push_back({resource, amount});
    return *this;
  }
  Job& cpu(std::int64_t units) { return request("cpu", units); }
  Job& count(std::int32_t n) {
    object.pod_sets.back().count = n;
    return *this;
  }
  Job& min_count(std::int32_t n) {
    object.pod_sets.back().min_count = n;
    return *this;
  }
  Job& pod_group(const std::string& name) {
    object.pod_sets.back().group = name;
    return *this;
  }
  Job& reclaimable(std::int32_t n) {
    object.status.reclaimable_pods = {{object.pod_sets.back().name, n}};
    return *this;
  }
  /// It comes with a status: one pod of cpu is admitted in its queue since second 0.
  Job& admitted_on(const std::string& flavor) {
    object.status.conditions = {{"QuotaReserved", "True", "QuotaReserved", "", 0, 0},
                                {"Admitted", "True", "Admitted", "", 0, 0}};
    api::Admission& admission = object.status.admission.emplace();
    admission.cluster_queue = object.queue_name;
    api::PodSetAssignment& assigned = admission.pod_sets.emplace_back();
    assigned.count = 1;
    assigned.flavors.set("cpu", flavor);
    return *this;
  }
  Job& priority(std::int32_t value) {
    object.priority = value;
    return *this;
  }
  Job& created(Time seconds) {
    created_ = seconds;
    return *this;
  }
  Job& active(bool value) {
    object.active = value;
    return *this;
  }
  Job& max_seconds(std::int32_t seconds) {
    object.maximum_execution_seconds = seconds;
    return *this;
  }
  Job& ns(const std::string& name) {
    object.meta.ns = name;
    return *this;
  }
  Job& annotation(const std::string& name, const std::string& value) {
    object.meta.annotations.set(name, value);
    return *this;
  }
  Job& ready(bool value) {
    object.status.conditions = {{"PodsReady", value ? "True" : "False", "Started", "", 0, 0}};
    return *this;
  }
  Job& node_selector(const std::string& name, const std::string& value) {
    templates_.back().node_selector.set(name, value);
    return *this;
  }
  /// A required affinity term with one `In` expression; without values a term without
  /// expressions.
  Job& affinity(const std::string& name, const std::vector<std::string>& values) {
    auto& terms = templates_.back().required_affinity;
    if (!terms) terms.emplace();
    api::NodeSelectorTerm& term = terms->emplace_back();
    if (!values.empty())
      term.expressions.push_back({name, api::NodeSelectorRequirement::Operator::kIn, values});
    return *this;
  }
  Job& tolerates(const std::string& name, const std::string& value) {
    templates_.back().tolerations.push_back(
        {name, api::Toleration::Operator::kEqual, value, {}, {}});
    return *this;
  }
  Job& invalid_limits(const std::string& why) {
    templates_.back().invalid_resources = why;
    return *this;
  }
  /// The finished object; pod templates that are alike are shared by text.
  std::shared_ptr<api::Workload> build(Time default_creation) const;

 private:
  std::vector<api::PodTemplate> templates_ = std::vector<api::PodTemplate>(1);
  Time created_ = -1;
};

inline std::string key_of(const std::string& name) {
  return name.find('/') == std::string::npos ? "ns/" + name : name;
}

class Scenario {
 public:
  /// Asks `hooks.workload_traits`, as a host does, and hands the engine the answers.
  explicit Scenario(EngineConfig config = single_thread(), const hooks::HostHooks& hooks = {});

  static EngineConfig single_thread();
  static EngineConfig fair();

  Engine engine;

  Scenario& flavor(const std::string& name, const api::LabelMap& labels = {},
                   const std::vector<api::Taint>& taints = {});
  /// The ClusterQueue, and when they are new its LocalQueue and the AdmissionChecks that it
  /// names.
  Scenario& queue(const Queue& queue);
  Scenario& check(const std::string& name, bool preempt_after = false, bool active = true);
  /// A state of one of the workload's checks comes in.
  Scenario& answer(const std::string& workload, const std::string& check, const std::string& state,
                   const std::string& reason = "", std::optional<std::int32_t> after_seconds = {});
  /// `True Reason: message`; none: it has no such condition.
  std::string condition(const std::string& workload, const std::string& type) const;
  /// `a=Ready b=Pending`, in order.
  std::string checks(const std::string& workload) const;
  Scenario& cohort(const CohortOf& cohort);
  Scenario& local_queue(const std::string& name, const std::string& cluster_queue,
                        api::StopPolicy stop = api::StopPolicy::kNone);
  Scenario& space(const std::string& name, const api::LabelMap& labels);
  /// Creates or changes the workload. Creation times follow each other by a nanosecond.
  Scenario& submit(const Job& job);
  WorkloadId apply(std::shared_ptr<api::Workload> object);
  /// Its traits are asked for again.
  Scenario& traits_changed(const std::string& name);
  Scenario& finish(const std::string& name);
  /// Nothing of the evicted workload runs any more.
  Scenario& ended(const std::string& name) {
    engine.ended(key_of(name));
    return *this;
  }
  /// Of all workloads, after each step from now on.
  Scenario& all_end_at_once() {
    ends_at_once_ = true;
    return *this;
  }
  Scenario& remove(const std::string& name);
  /// Goes on by this many seconds and fires timers; does not run.
  Scenario& after(std::int64_t seconds);

  /// Steps to rest; what was decided, one line each, reasons to wait left out.
  Log run();
  /// The same with the lines `pending NAME REASON: MESSAGE`.
  Log run_told();
  /// A single step; false at rest.
  bool step();
  const Log& last() const { return lines_; }
  const std::vector<Decision>& decisions() const { return decisions_; }

  /// Names of admitted workloads, separated by spaces, in order of name.
  std::string admitted() const;
  std::string state(const std::string& name) const;
  /// `main=3 cpu:f` per pod set, separated by "; ".
  std::string assigned(const std::string& name) const;
  /// `REASON: MESSAGE` of a pending workload.
  std::string why(const std::string& name) const;
  Time now() const { return now_; }
  /// Is the engine within a step?
  bool stepping() const { return stepping_; }

 private:
  std::string line(const Decision& decision) const;
  hooks::Traits traits_of(const api::Workload& object) const;

  hooks::WorkloadTraits* traits_;
  Time now_ = 1'000'000 * kSecond;
  Time created_ = 0;
  std::set<std::string> known_checks_;
  std::vector<Decision> decisions_;
  Log lines_;
  bool told_ = false;
  bool stepping_ = false;
  bool ends_at_once_ = false;
};

}  // namespace sluice::testing
