#include "bench/engine/world.hpp"

#include <fmt/format.h>

#include <ctime>

namespace sluice::bench {
namespace {

constexpr std::int64_t kCpu = 1000;  // the engine counts cpu in milli
constexpr int kChildren = 4;         // of a cohort that has cohorts below it

EngineConfig config_of(const Form& form) {
  EngineConfig config;
  config.threads = 1;
  config.fair_sharing = form.fair_sharing;
  return config;
}

/// As a host gives them: a UUID that begins with the time, here of five objects a millisecond.
std::string uid_of(std::uint64_t number) {
  const std::uint64_t time = 0x0199a3b27c4dULL + number / 5;
  const std::uint64_t tail = (number + 1) * 0x9e3779b97f4a7c15ULL;
  return fmt::format("{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}", time >> 16U, time & 0xffffU,
                     number % 5, 0x8000U | (tail >> 50U), tail & 0xffffffffffffULL);
}

}  // namespace

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

World::World(const Form& form) : engine_(config_of(form), hooks::Hooks{}) {
  engine_.begin_instant(0);
  api::Namespace ns;
  ns.meta.name = "ns";
  engine_.apply(ns);
  for (int f = 0; f < form.flavors; ++f) {
    api::ResourceFlavor flavor;
    flavor.meta.name = fmt::format("f{}", f);
    engine_.apply(flavor);
  }
  if (!form.check.empty()) {
    api::AdmissionCheck check;
    check.meta.name = form.check;
    engine_.apply(check);
  }
  make_cohorts(form.levels, form.queues);
  for (int i = 0; i < form.queues; ++i) make_queue(form, i);
  settle();  // builds the quota tree
}

/// A tree of cohorts of so many levels, as narrow as it may be: below a few queues there is no use
/// for more branches.
void World::make_cohorts(int levels, int queues) {
  if (levels == 0) return;
  std::vector<std::string> above = {"all"};
  for (int level = 1; level < levels; ++level) {
    std::vector<std::string> here;
    const bool wide = static_cast<int>(above.size()) * kChildren <= queues;
    for (const std::string& parent : above)
      for (int i = 0; i < (wide ? kChildren : 1); ++i) {
        api::Cohort cohort;
        cohort.meta.name = fmt::format("{}-{}", parent, i);
        cohort.parent = parent;
        engine_.apply(cohort);
        here.push_back(cohort.meta.name);
      }
    above = std::move(here);
  }
  lowest_cohorts_ = std::move(above);
}

void World::make_queue(const Form& form, int number) {
  api::ClusterQueue queue;
  queue.meta.name = fmt::format("q{}", number);
  if (!lowest_cohorts_.empty())
    queue.cohort = lowest_cohorts_[static_cast<std::size_t>(number) % lowest_cohorts_.size()];
  queue.namespace_selector.emplace();
  if (form.preemption) {
    queue.preemption.within_cluster_queue = api::WithinClusterQueue::kLowerPriority;
    queue.preemption.reclaim_within_cohort = api::ReclaimWithinCohort::kAny;
  }
  if (!form.check.empty()) queue.admission_checks = {{form.check, {}}};
  api::ResourceGroup& group = queue.resource_groups.emplace_back();
  group.covered_resources = {"cpu"};
  for (int f = 0; f < form.flavors; ++f)
    group.flavors.push_back(
        {fmt::format("f{}", f), {{"cpu", api::Quantity::of_units(form.nominal), {}, {}}}});
  engine_.apply(queue);
  api::LocalQueue local;
  local.meta.ns = "ns";
  local.meta.name = queue.meta.name;
  local.cluster_queue = queue.meta.name;
  engine_.apply(local);
}

std::shared_ptr<api::Workload> World::make(const std::string& name, int queue, std::int64_t cpu,
                                           std::int32_t priority) {
  const auto cores = static_cast<std::size_t>(cpu);
  if (pods_.size() <= cores) pods_.resize(cores + 1);
  if (!pods_[cores]) {  // as a host has it: equal templates are one
    auto pod = std::make_shared<api::PodTemplate>();
    pod->requests = {{"cpu", cpu * kCpu}};
    pod->shape = fmt::format("cpu={}", cpu);
    pods_[cores] = std::move(pod);
  }
  auto workload = std::make_shared<api::Workload>();
  workload->meta.ns = "ns";
  workload->meta.name = name;
  workload->meta.uid = uid_of(made_++);
  workload->meta.creation_time = now_;
  workload->queue_name = fmt::format("q{}", queue);
  workload->priority = priority;
  workload->pod_sets.emplace_back().pod = pods_[cores];
  return workload;
}

WorkloadId World::add(const std::string& name, int queue, std::int64_t cpu, std::int32_t priority) {
  return engine_.apply(make(name, queue, cpu, priority));
}

void World::settle(std::vector<double>* steps) {
  for (bool more = true; more;) {
    const double start = steps ? processor_time() : 0;
    more = engine_.step(out_);
    if (steps) steps->push_back(processor_time() - start);
    decisions_ += out_.size();
    for (const Decision& d : out_) {
      evictions_ += d.type == DecisionType::kEvicted ? 1 : 0;
      if (d.type == DecisionType::kAdmitted) admitted_.push_back(d.workload);
    }
  }
}

}  // namespace sluice::bench
