#include "tests/core/support/scenario.hpp"

#include <algorithm>
#include <sstream>
#include <unordered_map>

namespace sluice::testing {
namespace {

/// Canonical text of what decides scheduling, as the codec makes one.
std::string shape_text(const api::PodTemplate& pod) {
  std::ostringstream out;
  for (const auto& [name, value] : pod.node_selector) out << name << '=' << value << ',';
  if (pod.required_affinity)
    for (const api::NodeSelectorTerm& term : *pod.required_affinity) {
      out << '|';
      for (const api::NodeSelectorRequirement& r : term.expressions) {
        out << r.key << static_cast<int>(r.op);
        for (const std::string& value : r.values) out << ' ' << value;
      }
    }
  for (const api::Toleration& t : pod.tolerations) out << '~' << t.key << '=' << t.value;
  for (const api::ResourceRequest& r : pod.requests) out << '+' << r.resource << r.amount;
  out << '!' << pod.invalid_resources;
  return out.str();
}

/// The engine keys what it knows of a template by its address: like ones are one, and all live on.
std::shared_ptr<const api::PodTemplate> shared_template(api::PodTemplate pod) {
  static auto& pool =
      *new std::unordered_map<std::string, std::shared_ptr<const api::PodTemplate>>();
  std::sort(pod.requests.begin(), pod.requests.end(),
            [](const auto& a, const auto& b) { return a.resource < b.resource; });
  pod.shape = shape_text(pod);
  auto& shared = pool[pod.shape];
  if (!shared) shared = std::make_shared<const api::PodTemplate>(std::move(pod));
  return shared;
}

std::string short_name(const std::string& key) {
  return key.starts_with("ns/") ? key.substr(3) : key;
}

}  // namespace

std::shared_ptr<api::Workload> Job::build(Time default_creation) const {
  auto out = std::make_shared<api::Workload>(object);
  out->meta.creation_time = created_ >= 0 ? created_ * kSecond : default_creation;
  for (std::size_t i = 0; i < out->pod_sets.size(); ++i)
    out->pod_sets[i].pod = shared_template(templates_[i]);
  return out;
}

EngineConfig Scenario::single_thread() {
  EngineConfig config;
  config.threads = 1;
  return config;
}

EngineConfig Scenario::fair() {
  EngineConfig config = single_thread();
  config.fair_sharing = true;
  return config;
}

Scenario::Scenario(EngineConfig config, const hooks::HostHooks& hooks)
    : engine(std::move(config), hooks), traits_(hooks.workload_traits) {
  engine.begin_instant(now_);
  space("ns", {});
}

Scenario& Scenario::flavor(const std::string& name, const api::LabelMap& labels,
                           const std::vector<api::Taint>& taints) {
  api::ResourceFlavor flavor;
  flavor.meta.name = name;
  flavor.node_labels = labels;
  flavor.node_taints = taints;
  engine.apply(flavor);
  return *this;
}

Scenario& Scenario::queue(const Queue& queue) {
  for (const api::AdmissionCheckRule& rule : queue.object.admission_checks)
    if (!known_checks_.contains(rule.name)) check(rule.name);
  engine.apply(queue.object);
  return local_queue(queue.object.meta.name, queue.object.meta.name);
}

Scenario& Scenario::check(const std::string& name, bool preempt_after, bool active) {
  api::AdmissionCheck check;
  check.meta.name = name;
  check.preempt_after_check = preempt_after;
  check.active = active;
  known_checks_.insert(name);
  engine.apply(check);
  return *this;
}

Scenario& Scenario::answer(const std::string& workload, const std::string& check,
                           const std::string& state, const std::string& reason,
                           std::optional<std::int32_t> after_seconds) {
  const auto id = engine.find(key_of(workload));
  auto object = std::make_shared<api::Workload>(*engine.object(*id));
  object->status = engine.status(*id);
  bool found = false;
  for (api::AdmissionCheckState& each : object->status.admission_checks) {
    if (each.name != check) continue;
    each.state = state;
    each.reason = reason;
    each.requeue_after_seconds = after_seconds;
    found = true;
  }
  EXPECT_TRUE(found) << workload << " has no check " << check;
  apply(std::move(object));
  return *this;
}

std::string Scenario::condition(const std::string& workload, const std::string& type) const {
  const auto status = engine.status(*engine.find(key_of(workload)));
  const api::Condition* c = status.condition(type);
  return c ? c->status + " " + c->reason + ": " + c->message : "none";
}

std::string Scenario::checks(const std::string& workload) const {
  std::string out;
  for (const auto& each : engine.status(*engine.find(key_of(workload))).admission_checks)
    out += (out.empty() ? "" : " ") + each.name + "=" + each.state;
  return out;
}

Scenario& Scenario::cohort(const CohortOf& cohort) {
  engine.apply(cohort.object);
  return *this;
}

Scenario& Scenario::local_queue(const std::string& name, const std::string& cluster_queue,
                                api::StopPolicy stop) {
  api::LocalQueue local;
  local.meta.name = name;
  local.meta.ns = "ns";
  local.cluster_queue = cluster_queue;
  local.stop_policy = stop;
  engine.apply(local);
  return *this;
}

Scenario& Scenario::space(const std::string& name, const api::LabelMap& labels) {
  api::Namespace space;
  space.meta.name = name;
  space.meta.labels = labels;
  engine.apply(space);
  return *this;
}

Scenario& Scenario::submit(const Job& job) {
  const auto existing = engine.find(job.object.meta.key());
  const Time created =
      existing ? engine.object(*existing)->meta.creation_time.value_or(0) : now_ + ++created_;
  apply(job.build(created));
  return *this;
}

WorkloadId Scenario::apply(std::shared_ptr<api::Workload> object) {
  hooks::Traits traits = traits_of(*object);
  return engine.apply(std::move(object), std::move(traits));
}

Scenario& Scenario::traits_changed(const std::string& name) {
  const WorkloadId id = *engine.find(key_of(name));
  engine.traits_changed(id, traits_of(*engine.object(id)));
  return *this;
}

hooks::Traits Scenario::traits_of(const api::Workload& object) const {
  if (!traits_) return {};
  const auto id = engine.find(object.meta.key());
  const api::Condition* reserved = object.status.condition("QuotaReserved");
  const bool holds =
      id ? engine.holds_quota(*id) : reserved && reserved->is_true() && object.status.admission;
  hooks::TraitsAnswer answer;
  hooks::Fault fault;
  traits_->traits({object, cluster_queue_of(engine.model(), object), holds}, answer, fault);
  if (fault) answer.traits.unknown_because = fault.sentence();
  return answer.traits;
}

Scenario& Scenario::finish(const std::string& name) {
  const auto done = engine.finish(key_of(name), "Succeeded", "done");
  EXPECT_TRUE(done) << name;
  return *this;
}

Scenario& Scenario::remove(const std::string& name) {
  engine.remove(api::ObjectKind::kWorkload, key_of(name));
  return *this;
}

Scenario& Scenario::after(std::int64_t seconds) {
  now_ += seconds * kSecond;
  engine.begin_instant(now_);
  return *this;
}

std::string Scenario::line(const Decision& d) const {
  const std::string name = short_name(engine.key(d.workload));
  switch (d.type) {
    case DecisionType::kQuotaReserved:
      return "reserved " + name + (d.borrowing ? " borrowing" : "");
    case DecisionType::kAdmitted:
      return "admitted " + name;
    case DecisionType::kEvicted:
      return "evicted " + name + " " + (d.preemption.empty() ? d.reason : d.preemption) +
             (d.by.empty() ? "" : " by " + short_name(d.by));
    case DecisionType::kFinished:
      return "finished " + name + " " + d.reason;
    case DecisionType::kDeactivated:
      return "deactivated " + name + " " + d.reason;
    case DecisionType::kRequeued:
      return "requeued " + name + " " + d.reason;
    case DecisionType::kWaitingForVictims:
      return "waiting " + name;
    case DecisionType::kReservationLost:
      return "lost " + name + ": " + d.message;
    case DecisionType::kCheckState:
      return "check " + name + " " + d.reason + " " + d.cause;
    case DecisionType::kLowered:
      return "lowered " + name;
    case DecisionType::kStatus:
      return "listed " + name;
    case DecisionType::kPending:
      break;
  }
  return "pending " + name + " " + d.reason + ": " + d.message;
}

bool Scenario::step() {
  if (traits_)
    for (const WorkloadId id : engine.moved())
      engine.traits_of_moved(id, traits_of(*engine.object(id)));
  stepping_ = true;
  const bool more = engine.step(decisions_);
  stepping_ = false;
  engine.verify();
  if (ends_at_once_)
    for (const WorkloadId id : engine.workloads()) engine.ended(engine.key(id));
  for (const Decision& d : decisions_)
    if (told_ || (d.type != DecisionType::kPending && d.type != DecisionType::kStatus))
      lines_.push_back(line(d));
  return more;
}

Log Scenario::run() {
  lines_.clear();
  int steps = 0;
  while (step()) {
    if (++steps < 1000) continue;
    ADD_FAILURE() << "the instant does not come to rest";
    break;
  }
  return lines_;
}

Log Scenario::run_told() {
  told_ = true;
  run();
  told_ = false;
  return lines_;
}

std::string Scenario::admitted() const {
  std::string out;
  for (const WorkloadId id : engine.workloads())
    if (engine.state(id) == WorkloadState::kAdmitted)
      out += (out.empty() ? "" : " ") + short_name(engine.key(id));
  return out;
}

std::string Scenario::state(const std::string& name) const {
  const auto id = engine.find(key_of(name));
  if (!id) return "none";
  switch (engine.state(*id)) {
    case WorkloadState::kPending:
      return "pending";
    case WorkloadState::kQuotaReserved:
      return "reserved";
    case WorkloadState::kAdmitted:
      return "admitted";
    case WorkloadState::kFinished:
      return "finished";
    case WorkloadState::kInactive:
      break;
  }
  return "inactive";
}

std::string Scenario::assigned(const std::string& name) const {
  const auto id = engine.find(key_of(name));
  std::string out;
  if (!id) return out;
  for (const api::PodSetAssignment& p : assignment_of(engine.model(), *id)) {
    out += (out.empty() ? "" : "; ") + p.name + "=" + std::to_string(p.count);
    for (const auto& [resource, flavor] : p.flavors) out += " " + resource + ":" + flavor;
  }
  return out;
}

std::string Scenario::why(const std::string& name) const {
  const auto id = engine.find(key_of(name));
  if (!id) return "none";
  const WorkloadView view = engine.view(*id);
  return view.reason + ": " + view.message;
}

}  // namespace sluice::testing
