#include "host/executor/jobs/declared_pods_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "api/jobs/job_kind.hpp"
#include "api/json/json.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/executor/jobs/job_pods_controller.hpp"
#include "host/executor/jobs/pod_making.hpp"
#include "host/executor/jobs/views.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// One reconcile of one job.
class DeclaredSync {
 public:
  DeclaredSync(ObjectRef ref, json::object job, ObjectAccess& objects, const api::KindInfo& pods,
               const GatesOfNewPods& gates, PodPace& pace)
      : ref_(std::move(ref)),
        kind_(*ref_.kind->job),
        by_host_(*kind_.pods_by_host()),
        job_(std::move(job)),
        objects_(objects),
        pods_(pods),
        gates_(gates),
        pace_(pace),
        uid_(text_in(part(job_, "metadata"), "uid")) {}

  Result<Time> run() {
    if (!api::find_text(part(job_, "metadata"), "deletionTimestamp").empty()) return kNever;
    read_pods();
    const bool ended = kind_.end(job_).has_value();
    const bool stopped = !ended && kind_.suspended(job_);
    if (stopped && by_set_.empty() && !part(job_, "status").contains("podSets")) return kNever;
    if (!ended && !stopped && (!kind_.unfit(job_).empty() || !kind_.unfit_on_host(job_).empty()))
      return kNever;
    const std::vector<api::JobPodSet> sets = kind_.pod_sets(job_);
    api::JobReport report;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      auto counted = serve(sets[i], i, ended, stopped);
      if (!counted) return Error{counted.error().text};
      report.pods.push_back(std::move(*counted));
    }
    // Pod sets that the job has no more.
    for (const auto& [name, left] : by_set_)
      for (const JobPod& pod : left)
        if (auto done = remove(pod); !done) return Error{done.error().text};
    report.stage = stopped ? api::JobStage::kStopped : stage_of(report.pods);
    report.message = failure_;
    const auto written = objects_.update_status(*ref_.kind, ref_.key,
                                                kind_.status_with(job_, report, objects_.now()));
    if (!written) return Error{written.error().text};
    return again_;
  }

 private:
  void read_pods() {
    for (const ObjectRef& owned : objects_.owned_by(uid_, ref_.ns())) {
      if (owned.kind != &pods_) continue;
      const auto pod = objects_.get(pods_, owned.key);
      if (!pod || !is_controlled_by(*pod, objects_.scheme(), ref_, uid_)) continue;
      const json::object& labels = part(part(*pod, "metadata"), "labels");
      JobPod view = read_pod(*pod);
      if (view.gated && view.active()) ++gated_;
      by_set_[text_in(labels, kDeclaredPodSet)].push_back(std::move(view));
    }
  }

  ApiResult<void> remove(const JobPod& pod) {
    return pod.deleting ? ApiResult<void>() : objects_.remove(pods_, pod.key);
  }

  /// Brings one pod set to what is wanted now, and counts it.
  ApiResult<api::PodCounts> serve(const api::JobPodSet& set, std::size_t number, bool ended,
                                  bool stopped) {
    std::vector<JobPod> pods = std::move(by_set_[set.name]);
    by_set_.erase(set.name);
    std::sort(pods.begin(), pods.end(), [](const JobPod& a, const JobPod& b) {
      return std::tie(a.created, a.uid) < std::tie(b.created, b.uid);
    });
    // The next ones run in the place of those that succeeded, until as many as wanted have.
    const std::int64_t total = by_host_.ends ? set.to_succeed() : set.count;
    api::PodCounts counts{set.name, set.count, static_cast<std::int32_t>(total)};
    std::set<std::int64_t> there;
    std::int64_t running = 0;
    for (const JobPod& pod : pods) {
      if (!pod.ended()) ++counts.active;
      const std::int64_t index = pod.index.value_or(-1);
      const bool known = index >= 0 && index < total && there.insert(index).second;
      if (stopped || !known) {
        if (auto done = remove(pod); !done) return done.error();
        continue;
      }
      if (!pod.ended()) ++running;
      count(pod, counts);
      if (ended && !pod.ended())
        if (auto done = remove(pod); !done) return done.error();
      if (!by_host_.ends && pod.ended())
        if (auto done = replace(pod); !done) return done.error();
    }
    const std::int64_t gone = stopped ? 0 : forgotten(set.name, counts.succeeded);
    counts.succeeded += static_cast<std::int32_t>(gone);
    if (ended || stopped || !failure_.empty()) return counts;
    const std::int64_t left = total - static_cast<std::int64_t>(there.size()) - gone;
    const std::int64_t missing = std::min(left, set.count - running);
    if (missing <= 0) return counts;
    if (auto done = create(set, number, there, static_cast<std::size_t>(missing), pods.size());
        !done)
      return done.error();
    return counts;
  }

  /// Pods that had succeeded, as the status of this run says, and were deleted since. Their quota
  /// is given back: others do not run in their place.
  std::int64_t forgotten(const std::string& pod_set, std::int64_t succeeded) const {
    std::int64_t told = 0;
    for_each_object(part(job_, "status"), "podSets", [&](const json::object& each) {
      if (api::find_text(each, "name") == pod_set)
        told = api::find_int(each, "succeeded").value_or(0);
    });
    return by_host_.ends ? std::max<std::int64_t>(0, told - succeeded) : 0;
  }

  void count(const JobPod& pod, api::PodCounts& counts) {
    if (pod.active() && pod.ready) ++counts.ready;
    if (pod.phase == JobPod::Phase::kSucceeded) ++counts.succeeded;
    if (pod.phase != JobPod::Phase::kFailed) return;
    ++counts.failed;
    if (!by_host_.ends || !failure_.empty()) return;
    failure_ = fmt::format("Pod {} failed", pod.key);
    if (!pod.exits.empty())
      failure_ += fmt::format(": container {} ended with {}", pod.exits.front().container,
                              pod.exits.front().code);
  }

  /// What ended is replaced, but not at once: it may end again the same way.
  ApiResult<void> replace(const JobPod& pod) {
    const Time due = pod.finished.value_or(pod.created) + kReplaceAfter;
    if (due <= objects_.now()) return remove(pod);
    again_ = std::min(again_, due);
    return {};
  }

  ApiResult<void> create(const api::JobPodSet& set, std::size_t set_number,
                         const std::set<std::int64_t>& there, std::size_t missing,
                         std::size_t known) {
    std::vector<std::string> gates;
    if (gates_) gates = gates_(ref_, objects_);
    json::object described;
    const json::object* pod_template = kind_.described(job_, set_number, described);
    const PodPace::Allowed allowed = pace_.allow({.pods = missing,
                                                  .gets_gate = !gates.empty(),
                                                  .gated = gated_,
                                                  .there = known,
                                                  .bytes = api::to_json(*pod_template).size()},
                                                 objects_.now());
    if (!gates.empty()) gated_ += allowed.pods;
    if (allowed.more_soon) again_ = std::min(again_, objects_.now() + PodPace::kPause);
    const std::string ns(ref_.ns());
    const std::string prefix = std::string(ref_.name()) + "-" + set.name;
    auto number = static_cast<std::uint64_t>(known);
    std::size_t made = 0;
    for (std::int64_t index = 0; made < std::min(missing, allowed.pods); ++index) {
      if (there.contains(index)) continue;
      ++made;
      const std::string name =
          free_pod_name(objects_, ns, fmt::format("{}-{}", prefix, index), uid_ + set.name, number);
      json::object pod = pod_from_template(job_, *pod_template, name);
      json::object& metadata = object_of(pod, "metadata");
      object_of(metadata, "labels")[api::json_view(kDeclaredPodSet)] = set.name;
      give_index(pod, index, prefix);
      add_gates(pod, gates);
      if (auto done = objects_.create(std::move(pod)); !done) {
        objects_.emit(
            {ref_, true, "FailedCreate",
             fmt::format("Error creating: pods \"{}\" was refused: {}", name, done.error().text)});
        return done;
      }
      objects_.emit({ref_, false, "SuccessfulCreate", "Created pod: " + name});
    }
    return {};
  }

  api::JobStage stage_of(const std::vector<api::PodCounts>& sets) const {
    if (!failure_.empty()) return api::JobStage::kFailed;
    const auto counts_for_end = [&](const api::PodCounts& set) {
      return std::find(by_host_.successful.begin(), by_host_.successful.end(), set.pod_set) !=
             by_host_.successful.end();
    };
    const bool all = std::none_of(sets.begin(), sets.end(), counts_for_end);
    std::int64_t wanted = 0, succeeded = 0;
    bool ready = true;
    for (const api::PodCounts& set : sets) {
      ready &= set.ready + set.succeeded >= set.wanted;
      if (!all && !counts_for_end(set)) continue;
      wanted += set.total;
      succeeded += set.succeeded;
    }
    if (by_host_.ends && wanted > 0 && succeeded >= wanted) return api::JobStage::kSucceeded;
    return ready ? api::JobStage::kReady : api::JobStage::kStarted;
  }

  const ObjectRef ref_;
  const api::JobKind& kind_;
  const api::PodsByHost& by_host_;
  json::object job_;
  ObjectAccess& objects_;
  const api::KindInfo& pods_;
  const GatesOfNewPods& gates_;
  PodPace& pace_;
  const std::string uid_;
  std::map<std::string, std::vector<JobPod>> by_set_;
  std::string failure_;  // the first pod that failed, of a kind that ends
  std::size_t gated_ = 0;
  Time again_ = kNever;
};

}  // namespace

DeclaredPodsController::DeclaredPodsController(const api::Scheme& scheme, GatesOfNewPods gates)
    : gates_(std::move(gates)) {
  for (const api::KindInfo* kind : job_kinds(scheme))
    if (kind->job->pods_by_host()) kinds_.push_back(kind);
}

std::vector<std::string> DeclaredPodsController::watches() const {
  std::vector<std::string> out = {"/Pod"};
  for (const api::KindInfo* kind : kinds_) out.push_back(kind->group_kind());
  return out;
}

void DeclaredPodsController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind->job) {
    if (!change.deleted()) keys.push_back({change.kind, change.key});
    return;
  }
  if (const StoredObject* pod = change.stored ? change.stored : change.before)
    name_owners(kinds_, *pod, keys);
}

Result<Time> DeclaredPodsController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  const api::KindInfo* pods = objects.scheme().find("v1", "Pod");
  auto job = pods ? objects.get(*key.kind, key.name) : std::nullopt;
  if (!job) return kNever;
  return DeclaredSync(key.object(), std::move(*job), objects, *pods, gates_, pace_).run();
}

}  // namespace sluice::host
