#include "plan.hpp"

#include <algorithm>

#include "names.hpp"

namespace clusters {

namespace {

using What = Step::What;
using State = Verdict::State;

class Planner {
 public:
  Planner(const Local& local, const std::vector<Place>& places, const Policy& policy)
      : local_(local), places_(places), policy_(policy) {}

  Plan run() {
    if (!local_.wants)
      give_up();
    else if (local_.growth)
      follow_growth();
    else if (local_.chosen.empty())
      find_place();
    else
      follow_chosen();
    return std::move(plan_);
  }

 private:
  const Place* find(const std::string& name) const {
    const auto it = std::find_if(places_.begin(), places_.end(),
                                 [&](const Place& place) { return place.name == name; });
    return it == places_.end() ? nullptr : &*it;
  }
  bool is_present(const Place& place) const {
    return place.workload.there && place.workload.attempt == local_.attempt &&
           !place.workload.deleting;
  }
  static bool is_empty(const Place& place) {
    return !place.workload.there && !place.job.there && !place.workload_write.waiting &&
           !place.job_write.waiting;
  }
  bool keeps(const Place& place) const {
    const WorkloadCopy& copy = place.workload;
    if (!place.reachable || !place.nominal || !is_present(place) || copy.finished || copy.stopped)
      return false;
    return policy_.wait_for_admission ? copy.admitted : copy.reserved;
  }

  void step(const Place& place, What what) { plan_.steps.push_back({place.name, what}); }
  void again(std::int64_t ms) {
    const std::int64_t at_least = std::max<std::int64_t>(ms, 1);
    plan_.again_ms = plan_.again_ms == 0 ? at_least : std::min(plan_.again_ms, at_least);
  }
  /// Whether a write may be made now: none is under way, and one that failed rests for a while.
  bool may_write(const Writing& writing) {
    if (writing.waiting) return false;
    if (writing.rests_ms > 0) again(writing.rests_ms);
    return writing.rests_ms <= 0;
  }

  /// The job first: with it goes the workload that it owns.
  void withdraw(const Place& place) {
    if (!place.reachable) return;
    if (place.job.there) {
      if (!place.job.deleting && may_write(place.job_write)) step(place, What::kRemoveJob);
      return;
    }
    if (!place.workload.there || place.job_write.waiting) return;
    if (place.workload.deleting) {
      if (place.workload.held && may_write(place.workload_write)) step(place, What::kLetGo);
      return;
    }
    if (may_write(place.workload_write)) step(place, What::kRemoveWorkload);
  }

  /// Nothing of it may be anywhere, but what is another workload's now.
  void give_up() {
    if (local_.goes_on) {
      // A copy that no job took is nobody's, and may hold what the other one waits for.
      for (const Place& place : places_)
        if (!place.job.there && place.workload.owner.empty()) withdraw(place);
      if (local_.there && !local_.finished && !local_.chosen.empty()) plan_.choose.emplace();
      return;
    }
    for (const Place& place : places_) withdraw(place);
    if (!local_.there || local_.finished) return;
    note_whether_gone();
    if (!local_.nominated.empty()) plan_.nominate.emplace();
    if (local_.chosen.empty()) return;
    const Place* chosen = find(local_.chosen);
    if (chosen == nullptr || is_over(*chosen))
      plan_.choose.emplace();
    else if (!chosen->reachable)
      again(policy_.lost_timeout_ms - chosen->lost_for_ms);
  }

  /// A job whose status says that pods run is not started here, and until it is started it gets no
  /// other status: so the last one goes with the job there, whatever comes next.
  void note_whether_gone() {
    const bool running = std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
      return place.job.there && (place.reachable || is_within_patience(place));
    });
    plan_.job_is_gone = local_.job_active && !running;
  }

  bool is_within_patience(const Place& place) const {
    return !place.reachable && place.lost_for_ms < policy_.lost_timeout_ms;
  }
  /// Nothing of the workload runs there, as far as one can know.
  bool is_over(const Place& place) const {
    return place.reachable ? is_empty(place) : !is_within_patience(place);
  }

  /// What earlier attempts, or another workload of the name, left: whether there is any.
  bool clear_leftovers() {
    bool any = false;
    for (const Place& place : places_) {
      if (!place.reachable) continue;
      const bool old_workload = place.workload.there && !is_present(place);
      if (!old_workload && !place.job.there && place.nominal) continue;
      if (is_empty(place)) continue;
      withdraw(place);
      any = true;
    }
    return any;
  }

  void find_place() {
    if (local_.ready) return tell(State::kRetry, "Admitting remote no longer exists");
    if (clear_leftovers()) return;
    note_whether_gone();
    if (!local_.other_checks.empty()) return wait_for_others();
    for (const Place& place : places_)
      if (keeps(place)) return choose(place);
    dispatch();
  }

  void wait_for_others() {
    tell(State::kPending, "The workload is sent to a cluster when its other checks are Ready: " +
                              local_.other_checks);
  }

  void choose(const Place& place) {
    plan_.choose = place.name;
    if (!local_.nominated.empty()) plan_.nominate.emplace();
    for (const Place& other : places_)
      if (&other != &place) withdraw(other);
    if (may_write(place.job_write)) step(place, What::kMakeJob);
  }

  bool is_nominated(const Place& place) const {
    return std::find(local_.nominated.begin(), local_.nominated.end(), place.name) !=
           local_.nominated.end();
  }

  /// nullopt: the places are to be asked. Those that have a copy already had been nominated.
  std::optional<std::vector<std::string>> best_places() const {
    if (!local_.nominated.empty()) return local_.nominated;
    std::vector<std::string> out;
    for (const Place& place : places_)
      if (place.nominal && is_present(place)) out.push_back(place.name);
    return out.empty() ? local_.suggested : std::optional(out);
  }

  /// Those that were nominated had their chance, or cannot be reached.
  bool falls_back() const {
    const bool any = std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
      return place.reachable && is_nominated(place);
    });
    return !local_.nominated.empty() && (!any || local_.nominated_for_ms >= policy_.round_ms);
  }

  std::vector<std::string> nominees() const {
    std::vector<std::string> out;
    for (const Place& place : places_)
      if (place.nominal) out.push_back(place.name);
    if (policy_.asks_first && !falls_back()) return best_places().value_or(out);
    if (!policy_.one_by_one) return out;
    std::size_t count = local_.nominated.size();
    if (count == 0 || local_.nominated_for_ms >= policy_.round_ms) count += policy_.step;
    out.resize(std::min(out.size(), count));
    return out;
  }

  void dispatch() {
    if (policy_.asks_first && !best_places()) {
      plan_.ask = true;
      return tell(State::kPending, "The clusters are asked when they would start the workload");
    }
    const std::vector<std::string> nominated = nominees();
    if (nominated != local_.nominated) plan_.nominate = nominated;
    if (policy_.one_by_one || policy_.asks_first)
      again(nominated == local_.nominated ? policy_.round_ms - local_.nominated_for_ms
                                          : policy_.round_ms);
    std::string refused;
    for (const Place& place : places_) {
      if (std::find(nominated.begin(), nominated.end(), place.name) == nominated.end()) continue;
      if (!place.reachable) continue;
      if (is_present(place)) {
        // One that was lowered meanwhile is waited for in its new size.
        const bool other_size = local_.elastic && place.workload.size != local_.own_size;
        if (place.workload.finished || other_size)
          withdraw(place);
        else if (place.workload.priority != local_.priority && may_write(place.workload_write))
          step(place, What::kPriority);
        continue;
      }
      if (place.workload_write.failed)
        refused += (refused.empty() ? "" : "; ") + place.name + ": " + place.workload_write.message;
      if (may_write(place.workload_write)) step(place, What::kMakeWorkload);
    }
    tell(State::kPending, refused.empty() ? waiting_message(nominated)
                                          : "The workload cannot be copied to " + refused);
  }

  static std::string waiting_message(const std::vector<std::string>& nominated) {
    std::string out;
    for (const std::string& name : nominated) out += (out.empty() ? "" : ", ") + name;
    return "The workload waits for quota at " + out;
  }

  void follow_chosen() {
    const Place* chosen = find(local_.chosen);
    if (chosen == nullptr || !chosen->reachable) return wait_for(chosen);
    for (const Place& other : places_)
      if (&other != chosen) withdraw(other);
    const WorkloadCopy& copy = chosen->workload;
    if (!is_present(*chosen)) return chosen_has_nothing(*chosen);
    if (copy.finished) return finish(*chosen);
    // A size that is only just to take over from the last one has no quota yet, and is not evicted.
    if (local_.elastic && !copy.stopped && !copy.reserved) return;
    if (copy.stopped || !copy.reserved)
      return tell(State::kRetry, "Workload evicted on worker cluster: \"" + chosen->name +
                                     "\", resetting for re-admission");
    if (copy.priority != local_.priority && may_write(chosen->workload_write))
      step(*chosen, What::kPriority);
    follow_job(*chosen);
  }

  void wait_for(const Place* chosen) {
    if (chosen == nullptr || chosen->lost_for_ms >= policy_.lost_timeout_ms)
      return tell(State::kRetry, "Admitting remote lost");
    again(policy_.lost_timeout_ms - chosen->lost_for_ms);
  }

  /// What was chosen has no copy of this attempt: it went, or the choice is one of an earlier one.
  void chosen_has_nothing(const Place& chosen) {
    if (local_.ready) return tell(State::kRetry, "Admitting remote no longer exists");
    if (is_empty(chosen))
      plan_.choose.emplace();  // and then all places are asked anew
    else
      withdraw(chosen);
  }

  void finish(const Place& chosen) {
    if (chosen.workload.reason == kOutOfSync)
      return tell(State::kRetry, "Remote workload on worker cluster \"" + chosen.name +
                                     "\" is out of sync with its user job, resetting for "
                                     "re-dispatch");
    // What comes of the two comes in any order: the job's last status is still to be shown.
    if (chosen.job.there && !chosen.job.ended && !chosen.job.suspended) return;
    plan_.finish = true;
    plan_.show_status_of = chosen.name;
  }

  void follow_job(const Place& chosen) {
    const JobCopy& job = chosen.job;
    if (!job.there) {
      if (local_.ready) {
        if (!chosen.job_write.waiting) tell(State::kRetry, "Admitting remote no longer exists");
        return;
      }
      if (chosen.job_write.failed) refused(chosen);
      if (plan_.verdict && plan_.verdict->state == State::kRetry) return;
      if (!local_.other_checks.empty()) return wait_for_others();
      if (may_write(chosen.job_write)) step(chosen, What::kMakeJob);
      return;
    }
    if (job.attempt != local_.attempt || job.deleting) return withdraw(chosen);
    resize(chosen);
    tell(State::kReady, "The workload got reservation on \"" + chosen.name + "\"");
    // While the job waits here, the status of one that runs there would forbid to start it.
    if (!local_.job_suspended || job.suspended) plan_.show_status_of = chosen.name;
  }

  /// Somebody else's of the same name, another manager's perhaps, is waited for, because it ends;
  /// but not for ever, while the quota of here is held. Where there is another place it goes there;
  /// else it waits for as long without quota.
  void refused(const Place& chosen) {
    const std::string why =
        "The job cannot be made at \"" + chosen.name + "\": " + chosen.job_write.message;
    if (chosen.refused_for_ms < policy_.lost_timeout_ms) {
      again(policy_.lost_timeout_ms - chosen.refused_for_ms);
      return tell(State::kPending, why);
    }
    const bool elsewhere = std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
      return &place != &chosen && place.nominal;
    });
    plan_.verdict = {State::kRetry,
                     why + (elsewhere ? "; it is tried elsewhere" : "; it is tried again later"),
                     elsewhere ? 0 : policy_.lost_timeout_ms};
  }

  /// Once the job has taken the copy: until then it has to have the copy's size.
  void resize(const Place& place) {
    const std::int64_t size = place.stiff ? local_.own_size : local_.size;
    if (local_.elastic && !place.workload.owner.empty() && place.job.size != size &&
        may_write(place.job_write))
      step(place, What::kResize);
  }

  /// It goes where the job runs, by the size of the job there. What becomes of that place is the
  /// affair of the workload that it is to replace.
  void follow_growth() {
    if (local_.runs_at.empty())
      return tell(State::kPending,
                  "The workload waits until the one that it replaces has a cluster");
    if (!local_.ready && !local_.other_checks.empty()) return wait_for_others();
    if (local_.chosen != local_.runs_at) plan_.choose = local_.runs_at;
    const Place* place = find(local_.runs_at);
    if (place == nullptr || !place->reachable || !place->job.there) return;
    if (place->stiff) return refuse_growth(*place);
    resize(*place);
    if (place->grown)
      tell(State::kReady, "The workload has its size on \"" + place->name + "\"");
    else
      tell(State::kPending,
           "The workload waits for quota at " + place->name + ", where its job runs");
  }

  /// Its job would be ended there, and lose what it has done.
  void refuse_growth(const Place& place) {
    tell(State::kRejected,
         "Cluster \"" + place.name +
             "\" ends jobs that change their size while they run, because Kueue decides there, or "
             "Sluice without the plugin elastic-jobs: the job goes on in its size there. To have "
             "another size, submit it anew, or to clusters where Sluice decides with the plugin");
  }

  void tell(State state, std::string message) { plan_.verdict = {state, std::move(message), 0}; }

  const Local& local_;
  const std::vector<Place>& places_;
  const Policy& policy_;
  Plan plan_;
};

}  // namespace

Plan plan_of(const Local& local, const std::vector<Place>& places, const Policy& policy) {
  return Planner(local, places, policy).run();
}

}  // namespace clusters
