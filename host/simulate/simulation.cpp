#include "host/simulate/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <utility>

#include "api/jobs/job_kind.hpp"
#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"
#include "core/reasons/eviction_reason.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/runtime.hpp"
#include "host/simulate/story.hpp"

namespace sluice::host {
namespace {

constexpr const char* kOrUntil = ". --until DURATION sets an end";

}  // namespace

Result<SimulationTotals> Simulation::run(Machine& machine, SimulatedJobs& jobs,
                                         std::optional<Duration> until) {
  machine_ = &machine;
  jobs_ = &jobs;
  client_.emplace(input_, machine, jobs, bodies_);
  machine.observe(*this);
  jobs.observe([this](const std::string& key, bool created) { watch_workload(key, created); });
  const Time stop = until ? later(input_.start, *until) : kNever;
  const Duration from = input_.from.value_or(0);
  if (input_.from) {
    while (next_event_ < input_.events.size() && input_.events[next_event_].at <= from)
      ++next_event_;
  }
  notes_.expect(steps());
  notes_.reached(from);
  begin_instant(input_.start + from);
  machine.load();
  if (auto put = put_initial_objects(); !put) return put.error();
  if (auto first = instant(now_); !first) return first.error();
  while (const auto next = next_instant()) {
    if (*next > stop) break;
    if (!until && endless_.idles() && engine().model().open.empty() && no_event_left()) break;
    if (!until && endless_.suspected() && runs_for_ever()) totals_.endless = what_goes_round();
    if (endless_.stands_still()) totals_.endless = who_keeps_it_there();
    if (!totals_.endless.empty()) break;
    begin_instant(std::max(now_, *next));
    if (auto done = instant(now_); !done) return done.error();
  }
  totals_.cycles = engine().stats().cycles;
  return totals_;
}

/// What a run takes, roughly: its events, and the ends of what becomes a workload.
std::uint64_t Simulation::steps() const {
  const auto runs = [](const api::KindInfo* kind) {
    return kind != nullptr && (is_workload(*kind) || kind->job != nullptr);
  };
  std::uint64_t out = input_.events.size() - next_event_;
  for (const InitialObject& each : input_.objects) out += runs(each.object.stored.kind) ? 1 : 0;
  for (std::size_t i = next_event_; i < input_.events.size(); ++i)
    out += runs(input_.events[i].object.stored.kind) ? 1 : 0;
  return out;
}

/// When something happens next; nullopt: nothing is left to happen.
std::optional<Time> Simulation::next_instant() {
  Time next = machine_->next_timer();
  if (next_event_ < input_.events.size())
    next = std::min(next, input_.start + input_.events[next_event_].at);
  next = std::min(next, ends_.next());
  return next == kNever ? std::nullopt : std::optional(next);
}

/// Whether nothing is left that would bring progress. O(workloads), asked once in many evictions.
bool Simulation::runs_for_ever() {
  endless_.cleared();
  if (!no_event_left()) return false;
  const auto all = engine().workloads();
  return std::none_of(all.begin(), all.end(),
                      [this](WorkloadId id) { return progress_to_come(id); });
}

/// It runs, comes to an end, and has not been kept from that again and again.
bool Simulation::progress_to_come(WorkloadId id) const {
  if (engine().state(id) != WorkloadState::kAdmitted || endless_.goes_round(id)) return false;
  return ends_.has(id) || engine().object(id)->maximum_execution_seconds.has_value();
}

std::string Simulation::what_goes_round() const {
  const std::string since = offset_text(endless_.last_progress());
  const auto who = endless_.first();
  if (!who)
    return fmt::format("nothing has changed since {} but the time: timers follow on timers{}",
                       since, kOrUntil);
  std::string out = fmt::format(
      "{} was evicted {} times ({}) since {}, while nothing else came or "
      "ended, and no event and no end of a job is left",
      engine().key(*who), endless_.rounds(), endless_.reason(), since);
  if (endless_.others() > 0) out += fmt::format("; {} more go round like it", endless_.others());
  if (endless_.reason() == eviction_reason::kPodsReadyTimeout)
    out +=
        ". Its pods are never ready: give it a runtime (annotation sluice.dev/runtime), let a "
        "Timeline say PodsReady, or set requeuingStrategy.backoffLimitCount";
  return out + kOrUntil;
}

/// The plugin that was called most: what wants to be called again at once, for ever, is that soon.
std::string Simulation::who_keeps_it_there() const {
  std::string who;
  std::uint64_t most = 0;
  for (const PluginStatus& plugin : machine_->rules().plugins->plugins().status()) {
    std::uint64_t calls = 0;
    for (const HookStatus& hook : plugin.hooks) calls += hook.stats.calls;
    if (calls <= most) continue;
    most = calls;
    who = fmt::format("; plugin {} was called {} times", plugin.name, calls);
  }
  return fmt::format(
      "this instant does not end: something is to be looked at again at once, and "
      "again{}",
      who);
}

/// False: the instant does not come to rest. Steps that decide nothing are counted, because there
/// may be as many decisions as there are workloads.
bool Simulation::rests() {
  constexpr std::size_t kSteps = 1'000, kMostIdle = 100'000, kForEach = 4;
  const std::size_t most = kMostIdle + kForEach * engine().model().open.size();
  for (std::size_t idle = 0; idle < most; idle += kSteps) {
    const std::uint64_t before = decisions_;
    if (machine_->run(kSteps)) return true;
    if (decisions_ != before) idle = 0;
  }
  return false;
}

void Simulation::begin_instant(Time at) {
  now_ = at;
  clock_.set(at);
  machine_->begin_instant(at);
}

Result<void> Simulation::put_initial_objects() {
  for (auto& initial : input_.objects) {
    auto done = put(std::move(initial.object), initial.order, initial.place, false);
    if (!done) return done;
  }
  std::vector<InitialObject>().swap(input_.objects);  // frees the memory
  return {};
}

// The machine's instant has begun already.
Result<void> Simulation::instant(Time at) {
  endless_.instant_passed(offset());
  notes_.reached(offset());
  end_due_jobs();
  while (next_event_ < input_.events.size() && input_.start + input_.events[next_event_].at <= at) {
    endless_.progressed(offset());
    if (auto done = apply_event(input_.events[next_event_]); !done) return done;
    ++next_event_;
    notes_.add();
  }
  bool rested = rests();
  while (rested && report_ready() && machine_->kernel().blocks_admission()) rested = rests();
  if (!rested) totals_.endless = who_keeps_it_there();
  count_new();
  if (changed_) {
    totals_.last_change = offset();
    sink_.rested(offset(), engine());
  }
  changed_ = false;
  return {};
}

Error Simulation::refused(PlaceRef place, const std::string& what, const ApiError& why) const {
  const std::string where = fmt::format("{}: {}: ", input_.places.text(place), what);
  if (why.causes.empty()) return Error{where + why.text};
  std::string text;
  for (const ApiCause& cause : why.causes)
    text += fmt::format("{}{}{}{}{}", text.empty() ? "" : "\n", where, cause.field,
                        cause.field.empty() ? "" : ": ", cause.message);
  return Error{text};
}

Result<void> Simulation::put(PreparedObject&& object, std::uint32_t order, PlaceRef place,
                             bool event) {
  const api::KindInfo& kind = *object.stored.kind;
  const std::string key = object.stored.key;
  const bool fresh = is_workload(kind) && !machine_->store().find(kind, key);
  if (const auto done = client_->apply(std::move(object), order); !done)
    return refused(place, fmt::format("{}{} {}", event ? "apply: " : "", kind.kind, key),
                   done.error());
  changed_ = true;
  if (fresh) take_over_running(key);
  return {};
}

/// What runs since before the simulation: what is left of its runtime counts from then.
void Simulation::take_over_running(const std::string& key) {
  const auto id = engine().find(key);
  SLUICE_CHECK(id.has_value(), "the engine does not know workload ", key);
  if (engine().state(*id) != WorkloadState::kAdmitted || !takes_part(engine().model(), *id)) return;
  const auto* admitted = engine().object(*id)->status.condition("Admitted");
  start_job(*id, admitted ? std::min(admitted->last_transition_time, now_) : now_);
}

/// Workloads that come and go, whichever writer made them.
void Simulation::watch_workload(const std::string& key, bool created) {
  const auto id = engine().find(key);
  if (!id) return;
  changed_ = true;
  endless_.progressed(offset());
  if (created) {
    sink_.came(offset(), *id, engine());
    return uncounted_.push_back(*id);
  }
  sink_.gone(offset(), *id, engine());
  count_new();
  ends_.stop(*id);
}

Result<void> Simulation::apply_event(TimelineEvent& event) {
  if (event.type == TimelineEvent::Type::kApply)
    return put(std::move(event.object), event.order, event.place, true);
  if (event.type == TimelineEvent::Type::kFinish) return finish_event(event);
  const EventTarget& target = *event.target;
  const bool patch = event.type == TimelineEvent::Type::kPatch;
  if (!machine_->store().find(*target.kind, target.key))
    return Error{
        fmt::format("{}: {}: there is no {} {} at that time; apply it before, or correct the name",
                    input_.places.text(event.place), patch ? "patch" : "delete", target.kind->kind,
                    target.key)};
  return patch ? patch_event(event) : delete_event(event);
}

Result<void> Simulation::patch_event(const TimelineEvent& event) {
  const EventTarget& target = *event.target;
  const auto done = client_->patch(target);
  changed_ |= done.ok();
  if (!done) sink_.skipped(offset(), target.key, "the patch is refused: " + done.error().text);
  return {};
}

Result<void> Simulation::delete_event(const TimelineEvent& event) {
  const EventTarget& target = *event.target;
  const auto done = client_->remove(target);
  changed_ |= done.ok();
  if (!done) sink_.skipped(offset(), target.key, "the delete is refused: " + done.error().text);
  return {};
}

Result<void> Simulation::finish_event(const TimelineEvent& event) {
  const std::string& target = event.target->key;
  const std::string key = engine().find(target) ? target : job_workload(target);
  if (!key.empty()) {
    finish_workload(key);
    return {};
  }
  const auto job = jobs_->find(target);
  if (!job)
    return Error{fmt::format(
        "{}: finish: there is no Workload {} at that time; apply it before, or correct the name",
        input_.places.text(event.place), target)};
  if (!jobs_->started(*job)) {
    sink_.skipped(offset(), target, target + " does not run, so it cannot finish");
  } else if (jobs_->complete(*job)) {
    changed_ = true;
  }
  return {};
}

void Simulation::finish_workload(const std::string& key) {
  const WorkloadId id = *engine().find(key);
  const bool by_job = engine().state(id) == WorkloadState::kAdmitted && end_job(id);
  if (const auto done = by_job ? Result<void>() : jobs_->end(key); !done)
    return sink_.skipped(offset(), key, done.error().text);
  ends_.stop(id);
  changed_ = true;
}

/// Ends the job of an admitted workload, and the workload with it. False: it has none that ends.
bool Simulation::end_job(WorkloadId id) {
  const WorkloadId whom = engine().model().counted_as(id);
  const auto job = jobs_->job_of(*engine().object(whom));
  return job && jobs_->complete(*job);
}

// The workload that a Job owns: dumps of a live cluster name them job-NAME-HASH. One that runs is
// preferred, because a Job may leave finished ones behind.
std::string Simulation::job_workload(const std::string& job) const {
  std::vector<WorkloadId> owned = jobs_->workloads_of(job);
  if (owned.empty()) owned = workloads_owned_by(split_key(job));
  if (owned.empty()) return {};
  const auto runs = std::ranges::find_if(
      owned, [this](WorkloadId id) { return engine().state(id) == WorkloadState::kAdmitted; });
  return engine().key(runs == owned.end() ? owned.front() : *runs);
}

/// Of a job that is not there, as in a dump of workloads alone. O(workloads).
std::vector<WorkloadId> Simulation::workloads_owned_by(const KeyParts& job) const {
  std::vector<WorkloadId> out;
  for (const WorkloadId id : engine().workloads()) {
    const auto workload = engine().object(id);
    if (workload->meta.ns != job.ns) continue;
    const bool owned = std::ranges::any_of(workload->meta.owners, [&](const auto& owner) {
      const api::KindInfo* kind = machine_->scheme().find(owner.api_version, owner.kind);
      return kind && kind->job && owner.name == job.name;
    });
    if (owned) out.push_back(id);
  }
  return out;
}

void Simulation::end_due_jobs() {
  while (const auto id = ends_.take_due(now_)) finish_workload(engine().key(*id));
}

void Simulation::start_job(WorkloadId id, Time started) {
  // What runs is the job of the workload that it counts for.
  const WorkloadId whom = engine().model().counted_as(id);
  const auto workload = engine().object(whom);
  const std::string* text = workload->meta.annotations.find(kRuntimeAnnotation);
  if (text) {
    const auto runtime = parse_duration(*text);
    SLUICE_CHECK(runtime.has_value(), "an unchecked runtime: ", *text);
    ends_.set(later(started, *runtime), id);
    if (machine_->kernel().waits_for_pods()) started_.push_back(id);
    return;
  }
  const auto job = jobs_->job_of(*workload);
  const auto runtime = job ? jobs_->runtime(*job) : std::nullopt;
  if (!runtime) return;
  // A job that goes on in another workload of its own has run for a while; one whose place changed
  // begins anew.
  const Time since =
      whom == id ? std::min(jobs_->started(*job).value_or(started), started) : started;
  ends_.set(std::max(later(since, *runtime), now_), id);
}

// The pods of a job with a runtime run from its admission on; those of all others are the
// Timeline's to report.
bool Simulation::report_ready() {
  std::vector<WorkloadId> started;
  std::swap(started, started_);
  for (const WorkloadId id : started)
    if (engine().state(id) == WorkloadState::kAdmitted) jobs_->report_ready(id);
  return !started.empty();
}

void Simulation::decided(Time, const Decision& decision) {
  changed_ = true;
  ++decisions_;
  notes_.decided();
  const Engine& engine = machine_->engine();
  switch (decision.type) {
    case DecisionType::kAdmitted:
      start_job(decision.workload, now_);
      ++totals_.admissions;
      break;
    case DecisionType::kEvicted:
      ends_.stop(decision.workload);
      endless_.evicted(decision.workload, decision.reason);
      // Of those that count for another, only the one that ran was that one's.
      if (decision.admitted || engine.model().counted_as(decision.workload) == decision.workload)
        ++totals_.evictions;
      break;
    case DecisionType::kFinished:
    case DecisionType::kDeactivated:
      notes_.add();
      ends_.stop(decision.workload);
      endless_.progressed(offset());
      break;
    case DecisionType::kQuotaReserved:
    case DecisionType::kPending:
    case DecisionType::kRequeued:
    case DecisionType::kWaitingForVictims:
    case DecisionType::kReservationLost:
    case DecisionType::kCheckState:
    case DecisionType::kLowered:
    case DecisionType::kStatus:
      break;
  }
  sink_.decided(offset(), decision, engine);
}

// Once the instant is at rest it is known which counts for which; a deleted one is counted before.
void Simulation::count_new() {
  const Engine& engine = machine_->engine();
  for (const WorkloadId id : uncounted_)
    if (engine.model().counted_as(id) == id) ++totals_.workloads;
  uncounted_.clear();
}

}  // namespace sluice::host
