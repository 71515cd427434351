#include "plan.hpp"

#include <algorithm>
#include <tuple>

namespace pods {
namespace {

using List = std::vector<const Pod*>;

/// Whether it runs, will run, or has done its part.
bool counts(const Pod& pod) {
  if (pod.phase == Phase::kSucceeded) return !pod.serving && !pod.stopped;
  return pod.open() && !pod.terminating;
}

/// Those that are kept first: that are tracked, that are started, the oldest.
bool kept_before(const Pod* a, const Pod* b) {
  return std::tuple(!a->tracked, a->gated, a->created, a->name) <
         std::tuple(!b->tracked, b->gated, b->created, b->name);
}

/// Of pods that failed: what ended last is replaced last.
bool replaced_after(const Pod* a, const Pod* b) {
  return std::tie(a->ended, a->created, a->name) > std::tie(b->ended, b->created, b->name);
}

std::int64_t size_of(const List& list) { return static_cast<std::int64_t>(list.size()); }

std::string of(std::int64_t some, std::int64_t all) {
  return std::to_string(some) + "/" + std::to_string(all);
}

class Planner {
 public:
  Planner(const std::vector<Pod>& pods, const Held* workload) : workload_(workload) {
    for (const Pod& pod : pods) {
      // One that was stopped keeps its group's place, and how often it was tried, until it is made
      // anew; of one that serves the next may have its name.
      const bool holds_place = pod.stopped && pod.tracked && !pod.group.empty() && !pod.serving;
      if (pod.never_ran() && !holds_place) {
        release(pod);
        continue;
      }
      all_.push_back(&pod);
      (counts(pod) ? counted_ : lost_).push_back(&pod);
    }
    std::sort(all_.begin(), all_.end(), kept_before);
    std::sort(counted_.begin(), counted_.end(), kept_before);
  }

  Plan made() {
    if (all_.empty()) return nothing_left();
    alone_ = all_.front()->group.empty();
    serving_ = all_.front()->serving;
    if (!workload_ || workload_->terminating)
      without_workload();
    else if (!alone_ && !workload_->of_group)
      foreign_workload();
    else if (workload_->finished)
      after_the_end();
    else
      with_workload();
    return std::move(out_);
  }

 private:
  /// Whoever was evicted holds quota no longer, also where somebody else keeps the pod's object.
  Plan nothing_left() {
    out_.ended = workload_ && workload_->ending && !workload_->finished;
    return out_;
  }

  void release(const Pod& pod) {
    if (pod.tracked) out_.release.push_back(pod.name);
  }
  void stop(const Pod& pod) {
    if (!pod.terminating) out_.stop.push_back(pod.name);
  }
  void drop(const Pod& pod) {
    release(pod);
    if (!pod.terminating) out_.excess.push_back(pod.name);
  }
  void tell(const Pod& pod, std::string problem) {
    out_.told = pod.name;
    out_.problem = std::move(problem);
  }

  // ---- no workload yet, or no more

  void without_workload() {
    // Only a workload lets pods start: where one has, it was there and was deleted.
    if (any_started()) return end_all({"WorkloadDeleted", "Its workload was deleted"});
    if (std::none_of(all_.begin(), all_.end(), [](const Pod* pod) { return pod->open(); })) {
      for (const Pod* pod : all_) release(*pod);
      return;
    }
    for (const Pod* pod : lost_) release(*pod);
    if (!workload_) compose();
  }

  void end_all(Ending why) {
    out_.stop_because = std::move(why);
    for (const Pod* pod : all_) {
      release(*pod);
      if (pod->open()) stop(*pod);
    }
  }

  void compose() {
    if (alone_) {
      track_all(counted_);
      if (!counted_.empty()) out_.create = pod_sets(counted_);
      return;
    }
    if (!agree()) return;
    const std::int64_t total = all_.front()->total;
    while (size_of(counted_) > total) {
      drop(*counted_.back());
      counted_.pop_back();
    }
    track_all(counted_);
    if (counted_.empty()) return;
    if (size_of(counted_) < total && !fast()) {
      if (counted_.size() == 1)
        tell(*counted_.front(), "Waits until all " + std::to_string(total) + " pods of group " +
                                    counted_.front()->group + " are there");
      return;
    }
    std::vector<NewPodSet> sets = pod_sets(counted_);
    if (sets.size() > kMostPodSets)
      return tell(*counted_.front(), "The pods of group " + counted_.front()->group + " are of " +
                                         std::to_string(sets.size()) +
                                         " shapes; a group may have " +
                                         std::to_string(kMostPodSets));
    out_.create = std::move(sets);
  }

  /// All pods that count say the same of their group.
  bool agree() {
    const auto differs = [this](const char* what, auto of) {
      for (const Pod* pod : counted_) {
        if (of(*pod) == of(*counted_.front())) continue;
        tell(*pod, "Pods " + counted_.front()->name + " and " + pod->name + " of group " +
                       pod->group + " have different " + what);
        out_.told_too = counted_.front()->name;  // it was told that it waits for the others
        return true;
      }
      return false;
    };
    return !differs("values of kueue.x-k8s.io/pod-group-total-count", [](const Pod& pod) {
      return pod.total;
    }) && !differs("queues", [](const Pod& pod) { return pod.queue; });
  }

  bool fast() const { return all_.front()->fast; }

  std::vector<NewPodSet> pod_sets(const List& of) const {
    if (fast() && !alone_ && !of.front()->sets.empty()) return said_pod_sets(of);
    std::vector<NewPodSet> out;
    for (const Pod* pod : of) {
      const auto same = [&](const NewPodSet& set) { return set.name == pod->role; };
      const auto found = std::find_if(out.begin(), out.end(), same);
      if (found != out.end())
        ++found->count;
      else
        out.push_back({pod->role, pod->name, 1});
      if (fast() && !alone_) {  // the others will be as this one
        out.front().count = pod->total;
        break;
      }
    }
    std::sort(out.begin(), out.end(),
              [](const NewPodSet& a, const NewPodSet& b) { return a.name < b.name; });
    return out;
  }

  /// Those that the pods themselves tell of: some may come only when others are ready.
  static std::vector<NewPodSet> said_pod_sets(const List& of) {
    std::vector<NewPodSet> out;
    for (const PodSetCount& set : of.front()->sets) {
      const auto model =
          std::find_if(of.begin(), of.end(), [&](const Pod* pod) { return pod->role == set.name; });
      out.push_back({set.name, model == of.end() ? std::string() : (*model)->name, set.count});
    }
    return out;
  }

  void track_all(const List& list) {
    for (const Pod* pod : list)
      if (pod->open() && !pod->tracked && !pod->terminating) out_.track.push_back(pod->name);
  }

  void foreign_workload() {
    out_.foreign = true;
    for (const Pod* pod : lost_) release(*pod);
    tell(*all_.front(), "A workload of the group's name, " + all_.front()->group +
                            ", is there already, and is not that of a group of pods");
  }

  // ---- with a workload

  /// Whoever made those that serve would make one that is dropped again at once: they get another
  /// workload when nothing runs for this one any more.
  void after_the_end() {
    out_.remove_workload = serving_ && !any_started();
    out_.stop_because = {"WorkloadFinished", "Its workload has finished"};
    for (const Pod* pod : all_) {
      if (pod->open() && pod->gated && serving_) continue;
      if (pod->open() && pod->gated) {
        drop(*pod);
        continue;
      }
      release(*pod);
      if (pod->open()) stop(*pod);
    }
  }

  void with_workload() {
    if ((!workload_->reserved && other_pod_sets()) || is_of_another_size()) {
      out_.remove_workload = true;
      return;
    }
    if (is_of_a_set_before()) {
      for (const Pod* pod : lost_) release(*pod);
      out_.remove_workload = !any_started();
      return;
    }
    if (alone_ && all_.front()->terminating) release(*all_.front());
    for (const PodSetCount& set : workload_->pod_sets) settle(set);
    if (fast() && !any_present_) out_.absent = 1;
    track_all(counted_);
    stop_what_may_not_run();
    tell_strangers();
    if (workload_->reserved && !alone_ && !serving_) give_back();
    judge_end();
    if (workload_->admitted) out_.ready = all_ready();
    out_.ended = workload_->ending && !any_started();
  }

  /// While it waits, it is replaced by one of the pods that are there now.
  bool other_pod_sets() const {
    if (alone_ || fast() || size_of(counted_) != all_.front()->total) return false;
    const std::vector<NewPodSet> wanted = pod_sets(counted_);
    return !std::equal(wanted.begin(), wanted.end(), workload_->pod_sets.begin(),
                       workload_->pod_sets.end(), [](const NewPodSet& a, const PodSetCount& b) {
                         return a.name == b.name && a.count == b.count;
                       });
  }

  bool any_started() const {
    return std::any_of(all_.begin(), all_.end(), [](const Pod* pod) { return pod->started(); });
  }

  /// It serves, and begins anew with more pods or fewer.
  bool is_of_another_size() const {
    if (!serving_ || !fast()) return false;
    std::int64_t counted = 0;
    for (const PodSetCount& set : workload_->pod_sets) counted += set.count;
    return counted != all_.front()->total && !any_started();
  }

  /// It serves, and was deleted and made anew under its name: what waits is another one's, which
  /// may have another queue or size. Pods of the one before end first.
  bool is_of_a_set_before() const {
    if (!serving_ || workload_->sets.empty()) return false;
    bool others = false;
    for (const Pod* pod : all_) {
      if (pod->set_uid.empty()) continue;
      const auto& sets = workload_->sets;
      const bool own = std::find(sets.begin(), sets.end(), pod->set_uid) != sets.end();
      if (own || pod->started()) return false;
      others = true;
    }
    return others;
  }

  List of_set(const List& list, const PodSetCount& set) const {
    List out;
    for (const Pod* pod : list)
      if (pod->role == set.name) out.push_back(pod);
    return out;
  }

  void settle(const PodSetCount& set) {
    List present = of_set(counted_, set);
    while (size_of(present) > set.count) {
      // Whoever made it for one that serves would make it again at once.
      if (serving_ && present.back()->gated)
        tell(*present.back(), "Its group has no more than " + std::to_string(set.count) + " pods");
      else
        drop(*present.back());
      counted_.erase(std::find(counted_.begin(), counted_.end(), present.back()));
      present.pop_back();
    }
    const std::int64_t lacking = set.count - size_of(present);
    any_present_ |= !present.empty();
    if (!fast()) out_.absent += static_cast<std::int32_t>(lacking);
    List lost = of_set(lost_, set);
    // Of one that serves the next one may have its name, and comes when it is gone.
    std::erase_if(lost, [this](const Pod* pod) {
      const bool goes = serving_ && pod->terminating;
      if (goes) release(*pod);
      return goes;
    });
    std::sort(lost.begin(), lost.end(), replaced_after);
    for (; size_of(lost) > lacking; lost.pop_back()) release(*lost.back());
    if (workload_->admitted) start(set, present);
  }

  /// No more at a time than the pod set has: what is being stopped runs still. The place of one
  /// that was given back is not taken again, whether its pod is there still or was deleted.
  void start(const PodSetCount& set, const List& present) {
    std::int64_t left = set.count, over = 0;
    for (const Pod* pod : all_)
      if (pod->role == set.name && pod->started()) --left;
    for (const Pod* pod : present)
      if (!pod->open()) ++over;
    left -= std::max(over, workload_->returned_of(set.name));
    for (const Pod* pod : present)
      if (pod->open() && pod->gated && left-- > 0) out_.start.push_back(pod->name);
  }

  /// Also what ran before the last eviction, if quota is there again already.
  void stop_what_may_not_run() {
    out_.stop_because = {"NotAdmitted", "Its workload holds no quota"};
    if (!workload_->stop_reason.empty())
      out_.stop_because = {"WorkloadEvictedDueTo" + workload_->stop_reason,
                           workload_->stop_message};
    for (const Pod* pod : all_) {
      const bool of_an_earlier_run = pod->evictions >= 0 && pod->evictions < workload_->evictions;
      if (pod->started() && (!workload_->admitted || of_an_earlier_run)) stop(*pod);
    }
    if (out_.stop.empty()) out_.stop_because = {};
  }

  bool is_of_a_pod_set(const Pod& pod) const {
    return std::any_of(workload_->pod_sets.begin(), workload_->pod_sets.end(),
                       [&](const PodSetCount& set) { return set.name == pod.role; });
  }

  /// A stranger had no quota, so it leaves none.
  void give_back() {
    for (const Pod* pod : counted_)
      if (pod->phase == Phase::kSucceeded && is_of_a_pod_set(*pod)) ++out_.reclaimable[pod->role];
  }

  void tell_strangers() {
    for (const Pod* pod : counted_) {
      if (is_of_a_pod_set(*pod)) continue;
      return tell(*pod, "Its shape is that of no pod set of the workload of group " + pod->group);
    }
  }

  void judge_end() {
    const auto open = [](const Pod* pod) { return pod->open(); };
    if (alone_) {
      const Pod& pod = *all_.front();
      if (pod.open() || pod.stopped) return;
      const bool good = pod.phase == Phase::kSucceeded;
      const std::string text = good ? "The pod succeeded" : "The pod failed";
      out_.finish = {good ? "Succeeded" : "Failed",
                     pod.message.empty() ? text : text + ": " + pod.message};
      return;
    }
    if (serving_) return;
    const std::int64_t total = all_.front()->total;
    const auto done = std::count_if(counted_.begin(), counted_.end(),
                                    [](const Pod* pod) { return pod->phase == Phase::kSucceeded; });
    const bool last = std::any_of(all_.begin(), all_.end(),
                                  [](const Pod* pod) { return !pod->retriable && !pod->open(); }) &&
                      std::none_of(all_.begin(), all_.end(), open);
    if (done >= total || last)
      out_.finish = {done >= total ? "Succeeded" : "Failed",
                     "Pods succeeded: " + of(done, total) + "."};
  }

  bool all_ready() const {
    const auto good = std::count_if(counted_.begin(), counted_.end(), [](const Pod* pod) {
      return pod->ready || pod->phase == Phase::kSucceeded;
    });
    std::int64_t wanted = 0;
    for (const PodSetCount& set : workload_->pod_sets) wanted += set.count;
    return good >= wanted;
  }

  const Held* const workload_;
  bool alone_ = false, serving_ = false;
  bool any_present_ = false;  // of those that it has pod sets for
  List all_;                  // but for those that never ran
  List counted_;              // of these: that run, will run, or have done their part
  List lost_;                 // the others
  Plan out_;
};

}  // namespace

Plan plan(const std::vector<Pod>& pods, const Held* workload) {
  return Planner(pods, workload).made();
}

}  // namespace pods
