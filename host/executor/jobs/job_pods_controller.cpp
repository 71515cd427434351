#include "host/executor/jobs/job_pods_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "host/executor/jobs/job_plan.hpp"
#include "host/executor/jobs/pod_making.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// One reconcile: the Job, its Pods, and carrying out the plan.
class Sync {
 public:
  Sync(json::object job, ObjectAccess& objects, const api::KindInfo& jobs,
       const api::KindInfo& pods, const GatesOfNewPods& gates, PodPace& pace)
      : job_(std::move(job)),
        view_(read_job(job_)),
        objects_(objects),
        jobs_(jobs),
        pods_(pods),
        gates_(gates),
        pace_(pace) {}

  Result<Time> run() {
    if (view_.managed_elsewhere || view_.deleting) return kNever;
    std::vector<JobPod> pods;
    for (const ObjectRef& ref : objects_.owned_by(view_.uid, view_.ns)) {
      view_.has_workload |= is_workload(*ref.kind);
      if (ref.kind != &pods_) continue;
      const auto pod = objects_.get(pods_, ref.key);
      if (pod && is_controlled_by(*pod, objects_.scheme(), {&jobs_, view_.key}, view_.uid))
        pods.push_back(read_pod(*pod));
    }
    JobPlan plan = plan_job(view_, pods, objects_.now());
    std::vector<std::string> gates;
    if (!plan.create.empty() && gates_) gates = gates_({&jobs_, view_.key}, objects_);
    keep_pace(pods, !gates.empty(), plan);
    if (plan.remove_job) return ended(objects_.remove(jobs_, view_.key), kNever);
    return ended(apply(plan, gates, pods.size()), plan.again);
  }

 private:
  static Result<Time> ended(const ApiResult<void>& done, Time again) {
    if (!done) return Error{done.error().text};
    return again;
  }

  /// Many pods are made in pieces.
  void keep_pace(const std::vector<JobPod>& pods, bool gets_gate, JobPlan& plan) {
    if (plan.create.empty()) return;
    PodPace::Wish wish{.pods = plan.create.size(), .gets_gate = gets_gate};
    for (const JobPod& pod : pods) {
      if (!pod.active()) continue;
      ++wish.there;
      if (pod.gated)
        ++wish.gated;
      else if (!pod.bound && pod.phase == JobPod::Phase::kPending)
        ++wish.unplaced;
    }
    wish.bytes = api::to_json(part(part(job_, "spec"), "template")).size();
    const PodPace::Allowed allowed = pace_.allow(wish, objects_.now());
    if (allowed.too_large)
      objects_.emit(
          {{&jobs_, view_.key},
           true,
           "PodsTooLarge",
           fmt::format("Its pods have {} bytes each, and at a time those of a job have at "
                       "most {} in all: further ones are made when some have ended",
                       wish.bytes, PodPace::kJobBytes)});
    if (allowed.pods < plan.create.size())
      plan = plan_job(view_, pods, objects_.now(), allowed.pods);
    if (allowed.more_soon) plan.again = std::min(plan.again, objects_.now() + PodPace::kPause);
  }

  ApiResult<void> apply(const JobPlan& plan, const std::vector<std::string>& gates,
                        std::size_t known) {
    for (const std::string& key : plan.untrack) {
      ApiResult<void> done = drop_finalizer(objects_, pods_, key, kTrackingFinalizer);
      if (!done) return done;
    }
    for (const std::string& key : plan.remove) {
      ApiResult<void> done = objects_.remove(pods_, key);
      if (!done) return done;
    }
    ApiResult<void> created = create(plan, gates, known);
    if (!created) return created;
    for (const JobNote& note : plan.notes) {
      objects_.emit({{&jobs_, view_.key}, note.warning, note.reason, note.message});
    }
    return objects_.update_status(jobs_, view_.key, plan.status);
  }

  ApiResult<void> create(const JobPlan& plan, const std::vector<std::string>& gates,
                         std::size_t known) {
    auto number = static_cast<std::uint64_t>(known) +
                  static_cast<std::uint64_t>(view_.succeeded + view_.failed);
    for (const NewPod& pod : plan.create) {
      std::string prefix = view_.name;
      if (pod.index) prefix += "-" + std::to_string(*pod.index);
      const std::string name = free_pod_name(objects_, view_.ns, prefix, view_.uid, number);
      json::object made = job_pod(job_, view_, pod, name);
      add_gates(made, gates);
      ApiResult<void> done = objects_.create(std::move(made));
      if (!done) {
        objects_.emit({{&jobs_, view_.key},
                       true,
                       "FailedCreate",
                       "Error creating: pods \"" + name + "\" was refused: " + done.error().text});
        return done;
      }
      objects_.emit({{&jobs_, view_.key}, false, "SuccessfulCreate", "Created pod: " + name});
    }
    return {};
  }

  const json::object job_;
  BatchJob view_;
  ObjectAccess& objects_;
  const api::KindInfo& jobs_;
  const api::KindInfo& pods_;
  const GatesOfNewPods& gates_;
  PodPace& pace_;
};

}  // namespace

std::vector<std::string> JobPodsController::watches() const { return {"batch/Job", "/Pod"}; }

void JobPodsController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind->kind == "Job") {
    if (!change.deleted()) keys.push_back({nullptr, change.key});
    return;
  }
  const StoredObject* stored = change.stored ? change.stored : change.before;
  if (!stored) return;
  std::string key = key_of_controller(*stored, "batch", "Job");
  if (!key.empty()) keys.push_back({nullptr, std::move(key)});
}

Result<Time> JobPodsController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  const api::KindInfo* jobs = objects.scheme().find("batch/v1", "Job");
  const api::KindInfo* pods = objects.scheme().find("v1", "Pod");
  if (!jobs || !pods) return Error{"the kinds Job and Pod are not known"};
  std::optional<json::object> job = objects.get(*jobs, key.name);
  if (!job) return kNever;
  return Sync(std::move(*job), objects, *jobs, *pods, gates_, pace_).run();
}

void add_gates(json::object& pod, const std::vector<std::string>& gates) {
  if (gates.empty()) return;
  json::array& present = array_of(object_of(pod, "spec"), "schedulingGates");
  for (const std::string& gate : gates) {
    const bool there = std::any_of(present.begin(), present.end(), [&](const json::value& entry) {
      return entry.is_object() && api::find_text(entry.get_object(), "name") == gate;
    });
    if (!there) present.push_back(json::object{{"name", gate}});
  }
}

std::string key_of_controller(const StoredObject& stored, std::string_view group,
                              std::string_view kind) {
  const OwnerReference* owner = stored.metadata.controller();
  if (!owner || owner->kind != kind || owner->group() != group) return {};
  return join_key(stored.ns(), owner->name);
}

ApiResult<void> drop_finalizer(ObjectAccess& objects, const api::KindInfo& kind,
                               const std::string& key, std::string_view finalizer) {
  std::optional<json::object> object = objects.get(kind, key);
  if (!object) return {};
  json::object& metadata = object_of(*object, "metadata");
  json::array* finalizers = api::find_array(metadata, "finalizers");
  if (!finalizers) return {};
  json::array left;
  for (const json::value& value : *finalizers) {
    if (!value.is_string() || api::view(value.get_string()) != finalizer) left.push_back(value);
  }
  if (left.size() == finalizers->size()) return {};
  if (left.empty()) {
    metadata.erase("finalizers");
  } else {
    *finalizers = std::move(left);
  }
  return objects.update(std::move(*object));
}

}  // namespace sluice::host
