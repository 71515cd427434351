#include "host/simulate/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <utility>

namespace sluice::host {
namespace {

constexpr std::string_view kRuntimeAnnotation = "sluice.dev/runtime";

bool is_workload(const api::KindInfo& kind) {
  return kind.kind == "Workload" && kind.group == "kueue.x-k8s.io";
}

}  // namespace

Result<SimulationTotals> Simulation::run(Kernel& kernel, std::optional<Duration> until) {
  kernel_ = &kernel;
  const Time stop = until ? input_.start + *until : kNever;
  const Duration from = input_.from.value_or(0);
  if (input_.from) {
    while (next_event_ < input_.events.size() && input_.events[next_event_].at <= from)
      ++next_event_;
  }
  begin_instant(input_.start + from);
  if (auto put = put_initial_objects(); !put) return put.error();
  if (auto first = instant(now_); !first) return first.error();
  for (;;) {
    Time next = kernel.next_timer();
    if (next_event_ < input_.events.size())
      next = std::min(next, input_.start + input_.events[next_event_].at);
    while (!ends_.empty() && runs_[ends_.top().workload] != ends_.top().run) ends_.pop();
    if (!ends_.empty()) next = std::min(next, ends_.top().at);
    if (next == kNever || next > stop) break;
    begin_instant(std::max(now_, next));
    if (auto done = instant(now_); !done) return done.error();
  }
  totals_.cycles = kernel.engine().stats().cycles;
  return totals_;
}

void Simulation::begin_instant(Time at) {
  now_ = at;
  clock_.set(at);
  kernel_->begin_instant(at);
}

Result<void> Simulation::put_initial_objects() {
  for (auto& initial : input_.objects) {
    auto done = put(std::move(initial.object), initial.order, initial.place, false);
    if (!done) return done;
  }
  std::vector<InitialObject>().swap(input_.objects);  // frees the memory
  return {};
}

// The kernel's instant has begun already.
Result<void> Simulation::instant(Time at) {
  end_due_jobs();
  while (next_event_ < input_.events.size() && input_.start + input_.events[next_event_].at <= at) {
    if (auto done = apply_event(input_.events[next_event_]); !done) return done;
    ++next_event_;
  }
  kernel_->run_to_rest();
  report_ready();
  count_new();
  if (changed_) {
    totals_.last_change = offset();
    sink_.rested(offset(), kernel_->engine());
  }
  changed_ = false;
  return {};
}

Error Simulation::refused(PlaceRef place, const std::string& what,
                          const std::vector<api::Problem>& problems) {
  std::string text;
  for (const auto& problem : problems)
    text += fmt::format("{}{}: {}: {}", text.empty() ? "" : "\n", input_.places.text(place), what,
                        problem.text());
  return Error{text};
}

Result<void> Simulation::put(PreparedObject&& object, std::uint32_t order, PlaceRef place,
                             bool event) {
  const api::KindInfo& kind = *object.stored.kind;
  const std::string key = object.stored.key;
  const bool workload = is_workload(kind);
  const bool fresh = workload && !kernel_->exists(kind, key);
  const std::string uid = object.has_uid ? "" : generated_uid(input_.uid_base + order);
  const auto problems = kernel_->put(std::move(object), uid);
  if (!problems.empty())
    return refused(place, fmt::format("{}{} {}", event ? "apply: " : "", kind.kind, key), problems);
  changed_ = true;
  if (!workload) return {};
  const auto id = kernel_->engine().find(key);
  SLUICE_CHECK(id.has_value(), "the engine does not know workload ", key);
  if (fresh) {
    uncounted_.push_back(*id);
    const bool running = kernel_->engine().state(*id) == WorkloadState::kAdmitted;
    const auto* admitted =
        running ? kernel_->engine().object(*id)->status.condition("Admitted") : nullptr;
    // Started before the simulation: what is left of the runtime counts from then.
    if (running) start_job(*id, admitted ? std::min(admitted->last_transition_time, now_) : now_);
  }
  return {};
}

Result<void> Simulation::apply_event(TimelineEvent& event) {
  if (event.type == TimelineEvent::Type::kApply)
    return put(std::move(event.object), event.order, event.place, true);
  const EventTarget& target = *event.target;
  if (event.type == TimelineEvent::Type::kFinish) {
    const auto* kind = kernel_->scheme().find("kueue.x-k8s.io/v1beta2", "Workload");
    std::string key = kernel_->exists(*kind, target.key) ? target.key : job_workload(target.key);
    if (key.empty())
      return Error{
          fmt::format("{}: finish: there is no Workload {} at that time; apply it "
                      "before, or correct the name",
                      input_.places.text(event.place), target.key)};
    finish_event(key);
    return {};
  }
  const char* verb = event.type == TimelineEvent::Type::kDelete ? "delete" : "patch";
  if (!kernel_->exists(*target.kind, target.key))
    return Error{
        fmt::format("{}: {}: there is no {} {} at that time; apply it before, or correct the name",
                    input_.places.text(event.place), verb, target.kind->kind, target.key)};
  if (event.type == TimelineEvent::Type::kPatch) {
    const auto problems =
        kernel_->patch(*target.kind, target.key, boost::json::parse(target.merge), target.status);
    changed_ = true;
    if (problems.empty()) return {};
    return refused(event.place, fmt::format("patch: {} {}", target.kind->kind, target.key),
                   problems);
  }
  if (const auto id = kernel_->engine().find(target.key); id && is_workload(*target.kind)) {
    count_new();
    stop_job(*id);
  }
  kernel_->remove(*target.kind, target.key);
  changed_ = true;
  return {};
}

void Simulation::finish_event(const std::string& key) {
  if (const auto finished = kernel_->finish(key); !finished) {
    sink_.skipped(offset(), key, finished.error().text);
    return;
  }
  changed_ = true;
  stop_job(*kernel_->engine().find(key));
}

// The workload that a Job owns: dumps of a live cluster name them job-NAME-HASH. One that runs is
// preferred, because a Job may leave finished ones behind.
std::string Simulation::job_workload(const std::string& job) const {
  const Engine& engine = kernel_->engine();
  const std::size_t slash = job.find('/');
  std::string found;
  for (const WorkloadId id : engine.workloads()) {
    const auto workload = engine.object(id);
    if (workload->meta.ns != std::string_view(job).substr(0, slash)) continue;
    const bool owned = std::any_of(
        workload->meta.owners.begin(), workload->meta.owners.end(), [&](const auto& owner) {
          return owner.kind == "Job" && owner.name == std::string_view(job).substr(slash + 1);
        });
    if (!owned) continue;
    if (engine.state(id) == WorkloadState::kAdmitted) return engine.key(id);
    if (found.empty()) found = engine.key(id);
  }
  return found;
}

void Simulation::end_due_jobs() {
  while (!ends_.empty() && ends_.top().at <= now_) {
    const End end = ends_.top();
    ends_.pop();
    if (runs_[end.workload] != end.run) continue;  // evicted or deleted meanwhile
    stop_job(end.workload);
    if (kernel_->finish(kernel_->engine().key(end.workload))) changed_ = true;
  }
}

void Simulation::start_job(WorkloadId id, Time started) {
  if (runs_.size() <= id) runs_.resize(std::max<std::size_t>(id + 1, runs_.size() * 2), 0);
  const std::string* text = kernel_->engine().object(id)->meta.annotations.find(kRuntimeAnnotation);
  if (!text) return;
  const auto runtime = parse_duration(*text);
  SLUICE_CHECK(runtime.has_value(), "an unchecked runtime: ", *text);
  ends_.push({started + *runtime, sequence_++, id, ++runs_[id]});
  if (kernel_->waits_for_pods()) started_.push_back(id);
}

// The pods of a job with a runtime run from its admission on; those of all others are the
// Timeline's to report.
void Simulation::report_ready() {
  for (const WorkloadId id : started_)
    if (kernel_->engine().state(id) == WorkloadState::kAdmitted) kernel_->mark_pods_ready(id);
  started_.clear();
}

void Simulation::stop_job(WorkloadId id) {
  if (id < runs_.size()) ++runs_[id];
}

void Simulation::decided(Time, const Decision& decision) {
  changed_ = true;
  const Engine& engine = kernel_->engine();
  switch (decision.type) {
    case DecisionType::kAdmitted:
      start_job(decision.workload, now_);
      if (engine.counted_as(decision.workload)) ++totals_.admissions;
      break;
    case DecisionType::kEvicted:
      stop_job(decision.workload);
      if (engine.counted_as(decision.workload)) ++totals_.evictions;
      break;
    case DecisionType::kFinished:
    case DecisionType::kDeactivated:
      stop_job(decision.workload);
      break;
    case DecisionType::kQuotaReserved:
    case DecisionType::kPending:
    case DecisionType::kRequeued:
    case DecisionType::kMarked:
    case DecisionType::kWaitingForVictims:
      break;
  }
  sink_.decided(offset(), decision, engine);
}

// Once the instant is at rest it is known who counts for whom; a deleted one is counted before.
void Simulation::count_new() {
  const Engine& engine = kernel_->engine();
  for (const WorkloadId id : uncounted_)
    if (engine.counted_as(id) == id) ++totals_.workloads;
  uncounted_.clear();
}

}  // namespace sluice::host
