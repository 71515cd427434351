#include "host/history/run_log.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sluice::host {
namespace {

Millis since(const api::Condition* condition) {
  return condition ? to_millis(condition->last_transition_time) : 0;
}

/// The condition where it is true; else nullptr.
const api::Condition* if_true(const api::WorkloadStatus& status, std::string_view type) {
  const api::Condition* found = status.condition(type);
  return found && found->is_true() ? found : nullptr;
}

void end(Run& run, Millis at, Outcome outcome, std::string reason) {
  run.ended = std::max({at, run.queued, run.reserved, run.admitted});
  // What was reported late of the last moments did not happen after the end.
  run.since = std::min(run.since, run.ended);
  run.outcome = outcome;
  run.reason = std::move(reason);
}

void end_as_evicted(Run& run, const api::WorkloadStatus& status, Millis at) {
  const api::Condition* evicted = if_true(status, "Evicted");
  if (evicted != nullptr && since(evicted) >= run.reserved)
    return end(run, at, Outcome::kEvicted, evicted->reason);
  end(run, at, run.admitted != 0 ? Outcome::kEvicted : Outcome::kLost, {});
}

bool is_over(const Run& run) {
  return run.outcome == Outcome::kFinished || run.outcome == Outcome::kFailed ||
         run.outcome == Outcome::kDeleted || run.outcome == Outcome::kSuperseded;
}

/// The reason of a workload's end says what became of its job; any other, that it is not the job's.
Outcome outcome_of(std::string_view reason) {
  if (reason == "Succeeded") return Outcome::kFinished;
  if (reason == "Failed" || reason == "FailedToStart") return Outcome::kFailed;
  return Outcome::kSuperseded;
}

bool holds_these(const Run& run, const std::vector<HeldAmount>& amounts) {
  const auto holds = [](const HeldAmount& each) { return each.now != 0; };
  std::size_t matched = 0;
  for (const HeldAmount& wanted : amounts)
    for (const HeldAmount& held : run.holds)
      if (held.flavor == wanted.flavor && held.resource == wanted.resource) {
        if (held.now != wanted.now) return false;
        if (held.now != 0) ++matched;
      }
  return matched ==
             static_cast<std::size_t>(std::count_if(amounts.begin(), amounts.end(), holds)) &&
         matched ==
             static_cast<std::size_t>(std::count_if(run.holds.begin(), run.holds.end(), holds));
}

}  // namespace

RunLog::Known& RunLog::known(std::string_view uid) {
  const auto [at, fresh] = known_.try_emplace(std::string(uid));
  if (fresh) {
    at->second.runs = past_.of(uid);
    at->second.changed.assign(at->second.runs.size(), false);
  }
  return at->second;
}

Run& RunLog::touch(Known& known, std::size_t i) {
  known.changed[i] = true;
  return known.runs[i];
}

Run* RunLog::open_run(Known& known) {
  if (known.runs.empty() || !known.runs.back().goes_on()) return nullptr;
  return &known.runs.back();
}

Run& RunLog::add(Known& known, const WorkloadFacts& facts) {
  Run run;
  run.uid = facts.uid;
  run.ns = facts.ns;
  run.name = facts.name;
  run.job_kind = facts.owner_kind;
  run.job = facts.owner;
  run.queue = facts.queue;
  run.user = facts.user;
  run.priority_class = facts.priority_class;
  run.created = facts.created;
  run.queued = facts.created;
  if (!known.runs.empty()) {
    run.number = known.runs.back().number + 1;
    run.queued = known.runs.back().ended;
  }
  known.runs.push_back(std::move(run));
  known.changed.push_back(true);
  return known.runs.back();
}

void RunLog::changed(const WorkloadFacts& facts, Millis now) {
  const api::WorkloadStatus& status = facts.status;
  Known& known = this->known(facts.uid);
  const std::size_t last = known.runs.size() - 1;  // where there is one
  Run* open = open_run(known);
  const api::Condition* reserved = if_true(status, "QuotaReserved");
  const bool holds = status.admission && reserved;
  const api::Condition* finished = if_true(status, "Finished");

  // Given back and taken anew since the last look.
  if (open && holds && since(reserved) > open->reserved) {
    end_as_evicted(touch(known, last), status, since(reserved));
    open = nullptr;
  }
  if (holds && !open && !facts.part &&
      !(finished && !known.runs.empty() && is_over(known.runs.back()))) {
    Run& run = add(known, facts);
    open = &run;
    run.cluster_queue = status.admission->cluster_queue;
    run.reserved = run.since = std::max(since(reserved), run.queued);
    hold(run, held_amounts(status), run.reserved);
  }
  if (open) {
    const std::size_t place = known.runs.size() - 1;
    const api::Condition* admitted = if_true(status, "Admitted");
    if (admitted && open->admitted == 0)
      touch(known, place).admitted = std::max(since(admitted), open->reserved);
    if (holds && !holds_these(*open, held_amounts(status)))
      hold(touch(known, place), held_amounts(status), now);
  }
  if (finished) {
    const Outcome how = outcome_of(finished->reason);
    if (open)
      end(touch(known, known.runs.size() - 1), since(finished), how, finished->reason);
    else if (!facts.part && (known.runs.empty() || !is_over(known.runs.back())))
      end(add(known, facts), since(finished), how, finished->reason);
  } else if (open && !holds) {
    const Millis lost = since(status.condition("QuotaReserved"));
    end_as_evicted(touch(known, last), status, lost > open->reserved ? lost : now);
  }
}

void RunLog::removed(const WorkloadFacts& last, Millis now) {
  changed(last, now);
  Known& known = this->known(last.uid);
  if (open_run(known))
    end(touch(known, known.runs.size() - 1), now, Outcome::kDeleted, {});
  else if (!last.part && (known.runs.empty() || !is_over(known.runs.back())))
    end(add(known, last), now, Outcome::kDeleted, {});
}

void RunLog::lost_sight(std::string_view uid, Millis last_seen) {
  Known& known = this->known(uid);
  if (open_run(known)) end(touch(known, known.runs.size() - 1), last_seen, Outcome::kDeleted, {});
}

void RunLog::used(std::string_view uid, const PodUse& use) {
  Known& known = this->known(uid);
  for (std::size_t i = known.runs.size(); i-- > 0;) {
    const Run& run = known.runs[i];
    // Pods of a run end before those of the next are started.
    if (run.admitted == 0 || run.admitted > use.since) continue;
    UsedAmount& used = touch(known, i).used;
    ++used.pods;
    used.cpu_us += use.cpu_us;
    used.memory_peak = std::max(used.memory_peak, use.memory_peak);
    return;
  }
}

std::vector<Run> RunLog::take() {
  std::vector<Run> out;
  for (auto& [uid, known] : known_)
    for (std::size_t i = 0; i < known.runs.size(); ++i)
      if (known.changed[i]) out.push_back(std::move(known.runs[i]));
  known_.clear();
  std::sort(out.begin(), out.end(), [](const Run& a, const Run& b) {
    return std::tie(a.queued, a.uid, a.number) < std::tie(b.queued, b.uid, b.number);
  });
  return out;
}

}  // namespace sluice::host
