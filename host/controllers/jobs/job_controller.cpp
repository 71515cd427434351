#include "host/controllers/jobs/job_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <utility>

#include "api/codec/status_text.hpp"
#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "host/controllers/jobs/in_use.hpp"
#include "host/controllers/jobs/job_policy.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/controllers/jobs/running_pods.hpp"
#include "host/controllers/jobs/workload_spec.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

void tell(ObjectAccess& objects, const ObjectRef& about, std::string_view reason,
          std::string message, bool warning = false) {
  objects.emit({about, warning, std::string(reason), std::move(message)});
}

/// Whether a workload with this status waits for quota, and nothing was ever said of it but why.
bool waits(std::string_view status) {
  if (status.empty()) return true;
  bool alone = true;
  api::each_member(status, [&](std::string_view part, std::string_view) {
    return alone = part == "conditions";
  });
  const auto conditions = api::conditions_in(status);
  return alone &&
         std::all_of(conditions.begin(), conditions.end(), [](const api::ConditionText& each) {
           return each.type == "QuotaReserved" && each.status == "False";
         });
}

/// A workload goes on to wait, at most for another reason, which is nothing to its job.
bool only_waits(const ObjectChange& change) {
  return change.stored && change.before && same_but_status(*change.stored, *change.before) &&
         waits(change.stored->status) && waits(change.before->status);
}

/// One that serves was scaled to nothing: it has no end, and nothing to run either.
bool is_at_rest(const JobView& view) {
  return !view.kind->ends() &&
         std::all_of(view.pod_sets.begin(), view.pod_sets.end(),
                     [](const api::JobPodSet& set) { return set.count == 0; });
}

/// As many pods of each pod set as before are still needed, or all that are left; what has given
/// nothing back is not listed, nor a pod set that is gone. False: nothing is to be changed.
bool lower_reclaimable(json::object& status, const json::array& before, const json::array& after) {
  json::array* list = api::find_array(status, "reclaimablePods");
  if (!list) return false;
  json::array fitting;
  for (const json::value& each : *list) {
    json::object one = each.get_object();
    const std::string_view name = api::find_text(each.get_object(), "name");
    const std::int32_t freed = api::find_int32(one, "count").value_or(0);
    const auto was = count_of(before, name), is = count_of(after, name);
    if (!was || !is) continue;
    const std::int32_t left = std::clamp(*is - (*was - freed), 0, freed);
    if (left == 0) continue;
    one["count"] = left;
    fitting.push_back(std::move(one));
  }
  if (fitting == *list) return false;
  *list = std::move(fitting);
  return true;
}

/// By a workload, or by another than this one.
bool is_admitted(const JobView& view, const WorkloadOfJob* but = nullptr) {
  return std::any_of(view.workloads.begin(), view.workloads.end(),
                     [&](const WorkloadOfJob& each) { return each.admitted && &each != but; });
}

}  // namespace

JobController::JobController(const api::Scheme& scheme, MappingHooks mapping, ManagedJobs managed)
    : mapping_(std::move(mapping)),
      managed_(std::move(managed)),
      workload_kind_(&api::kueue_kind(scheme, "Workload")),
      kinds_(job_kinds(scheme)) {}

std::vector<std::string> JobController::watches() const {
  std::vector<std::string> out = {"kueue.x-k8s.io/Workload", "kueue.x-k8s.io/WorkloadPriorityClass",
                                  "scheduling.k8s.io/PriorityClass"};
  for (const api::KindInfo* kind : kinds_) out.push_back(kind->group_kind());
  if (holds_for_pods_) out.push_back("/Pod");
  return out;
}

void JobController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (shrinking_.name(change, keys)) return;
  if (change.kind->job) {
    keys.push_back({change.kind, change.key});
  } else if (change.kind == workload_kind_) {
    if (change.key == creating_) return;
    const std::size_t named = keys.size();
    if (change.stored) name_owners(kinds_, *change.stored, keys);
    if (change.before) name_owners(kinds_, *change.before, keys);
    if (keys.size() != named && only_waits(change))
      keys.erase(std::remove_if(keys.begin() + static_cast<std::ptrdiff_t>(named), keys.end(),
                                [&](const WorkKey& job) { return !mapped_.contains(job); }),
                 keys.end());
    const std::set<WorkKey>& waiting = waiting_for_workload_.of(change.key);
    keys.insert(keys.end(), waiting.begin(), waiting.end());
  } else {
    keys.insert(keys.end(), waiting_for_class_.begin(), waiting_for_class_.end());
  }
}

bool JobController::follows(const StoredObject& workload) const {
  return !workload.metadata.owners().empty() || !waiting_for_workload_.of(workload.key).empty();
}

// Jobs name themselves: a workload of a job that is not there changes nothing.
void JobController::loaded(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind != workload_kind_) changed(change, keys);
}

void JobController::resumed(const ObjectChange& change, bool owns, std::vector<WorkKey>& keys) {
  if (change.kind != workload_kind_ && !owns) return changed(change, keys);
  if (change.kind == workload_kind_ && !change.stored->metadata.claims().empty())
    name_owners(kinds_, *change.stored, keys);
}

Result<Time> JobController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  waiting_for_class_.erase(key);
  waiting_for_workload_.erase(key);
  shrinking_.erase(key);
  auto view = reader_.read(key.object(), objects);
  if (!view) mapped_.erase(key);
  if (!view) missed_.erase(key);
  if (!view) return kNever;
  if (is_terminating(view->job)) {
    if (auto done = end_with_quota(*view, objects); !done) return done.error();
    return kNever;
  }
  const auto covered = managed_.covers(view->ns, objects);
  if (!covered) return Error{fmt::format("namespace {} is not there yet", view->ns)};
  const bool managed = *covered && managed_.without_queue;
  const bool open = std::any_of(view->workloads.begin(), view->workloads.end(),
                                [](const WorkloadOfJob& each) { return !each.finished; });
  if (!managed && !(*covered && is_queued(view->job))) {
    if (!open) return kNever;
    if (view->kind->suspended(view->job)) {
      const char* why = *covered ? "without a queue" : "of a namespace that is left out";
      if (auto done = leave_queue(*view, why, objects); !done) return done.error();
      return kNever;
    }  // one that runs holds quota, and goes on as it came
  }
  // One that was given such an owner later keeps the workload that it has.
  if (!open && runs_with_owner(view->job, objects, managed)) return kNever;
  if (const auto done = keep_in_line(*view, objects); !done) return done.error();
  return kNever;
}

/// Nothing waits for a suspended job any more: the name of its queue was taken from it, or it is at
/// rest. What ran before holds its quota until it has ended.
JobController::Done JobController::leave_queue(JobView& view, const char* why,
                                               ObjectAccess& objects) {
  if (view.kind->active(view.job)) return {};
  for (const WorkloadOfJob& workload : view.workloads) {
    if (workload.finished) continue;
    if (auto done = remove(workload, objects); !done) return done;
    tell(objects, view.ref, "DeletedWorkload",
         fmt::format("Deleted workload of a job {}: {}", why, workload.key));
  }
  if (view.annotation(kStartedWith).empty()) return {};
  return give_back(view, objects);
}

/// A deleted job that something else holds cannot be stopped any more: where it has lost its quota
/// its pods end.
JobController::Done JobController::end_with_quota(const JobView& view, ObjectAccess& objects) {
  if (!holds_for_pods_ || view.workloads.empty()) return {};
  return is_admitted(view) ? Done() : end_running_pods(objects, view.uid, view.ns);
}

/// Deleted workloads that wait for their pods (in_use.hpp): one by which the job runs stops it, and
/// goes when all of it has ended. True: it has not yet.
Result<bool> JobController::let_deleted_go(JobView& view, ObjectAccess& objects) {
  bool waits = false;
  for (const WorkloadOfJob& workload : view.workloads) {
    if (!waits_for_pods_to_end(workload.object)) continue;
    const bool ended = view.kind->end(view.job).has_value();
    const bool runs_by_it = workload.reserving && !is_admitted(view, &workload) &&
                            has_condition(part(workload.object, "status"), "Admitted");
    if (runs_by_it && !ended && !view.kind->suspended(view.job))
      if (auto done = stop(view, "Its workload was deleted", objects); !done) return done.error();
    if (runs_by_it && (holds_for_pods_ || !ended) && view.kind->active(view.job)) {
      waits = true;
      continue;
    }
    if (auto done = plain(release(workload.object, objects)); !done) return done.error();
    waits = true;  // its going brings us back
  }
  return waits;
}

JobController::Done JobController::keep_in_line(JobView& view, ObjectAccess& objects) {
  const auto waits = let_deleted_go(view, objects);
  if (!waits) return waits.error();
  if (*waits) return {};
  if (const auto end = view.kind->end(view.job)) return end_workloads(view, *end, objects);
  if (is_at_rest(view)) {
    if (!view.kind->suspended(view.job))
      if (auto done = stop(view, "It has no pods", objects); !done) return done;
    return leave_queue(view, is_queued(view.job) ? "without pods" : "without a queue", objects);
  }
  // A stop was not finished.
  if (!is_admitted(view) && view.kind->suspended(view.job) &&
      !view.annotation(kStartedWith).empty())
    if (auto done = give_back(view, objects); !done) return done;
  std::string why = view.kind->unfit(view.job);
  if (why.empty() && makes_pods_) why = view.kind->unfit_on_host(view.job);
  if (!why.empty()) return hold(view, "ErrWorkloadCompose", why, objects);
  const bool prebuilt = !prebuilt_of(view.job).empty();
  if (prebuilt && view.workloads.empty()) return follow_prebuilt(view, objects);
  const MappingPlan plan = plan_workloads(mapping_, reader_, view, objects);
  if (prebuilt && plan.is_classic()) return follow_prebuilt(view, objects);
  const WorkKey key = WorkKey::of(view.ref);
  if (plan.plan.provider.empty() && plan.waits_because.empty())
    mapped_.erase(key);
  else
    mapped_.insert(key);
  if (!plan.waits_because.empty()) {
    tell(objects, view.ref, "ErrWorkloadCompose", plan.waits_because, true);
    return Error{plan.waits_because};  // tried again, later and later
  }
  return carry_out(view, plan, objects);
}

JobController::Done JobController::end_workloads(JobView& view, const api::JobEnd& end,
                                                 ObjectAccess& objects) {
  if (has_to_end(view)) return {};  // that brings us back
  for (const WorkloadOfJob& workload : view.workloads) {
    if (workload.finished) continue;
    auto done = plain(
        objects.finish_workload(workload.key, end.succeeded ? "Succeeded" : "Failed", end.message));
    if (!done) return done;
    tell(objects, view.ref, "FinishedWorkload",
         fmt::format("Workload '{}' is declared finished", workload.key));
  }
  return {};
}

/// Nothing can be queued: the job must not run, and says why.
JobController::Done JobController::hold(JobView& view, std::string_view reason,
                                        const std::string& message, ObjectAccess& objects) {
  tell(objects, view.ref, reason, message, true);
  return view.kind->suspended(view.job) ? Done() : stop(view, message, objects);
}

JobController::Done JobController::follow_prebuilt(JobView& view, ObjectAccess& objects) {
  const std::string name(prebuilt_of(view.job));
  WorkloadOfJob* speaker = view.find(name);
  if (!speaker) {
    const std::string key = join_key(view.ns, name);
    waiting_for_workload_.set(WorkKey::of(view.ref), key);
    if (auto workload = objects.get(*workload_kind_, key)) {
      missed_.erase(WorkKey::of(view.ref));
      return adopt_prebuilt(view, std::move(*workload), objects);
    }
    const std::string why = fmt::format("The prebuilt workload {} doesn't exist", name);
    if (std::exchange(missed_[WorkKey::of(view.ref)], name) != name)
      tell(objects, view.ref, "PrebuiltWorkloadNotFound", why, true);
    return view.kind->suspended(view.job) ? Done() : stop(view, why, objects);
  }
  if (!speaker->finished && speaker->match != hooks::JobMatch::kSame) {
    if (!view.kind->suspended(view.job))
      if (auto done = stop(view, "No matching Workload", objects); !done) return done;
    if (has_to_end(view)) return {};  // that brings us back
    return plain(objects.finish_workload(speaker->key, "OutOfSync",
                                         "The prebuilt workload is out of sync with its user job"));
  }
  return follow(view, *speaker, objects);
}

JobController::Done JobController::adopt_prebuilt(JobView& view, json::object workload,
                                                  ObjectAccess& objects) {
  json::object& metadata = object_of(workload, "metadata");
  bool owned = false;
  for_each_object(metadata, "ownerReferences", [&](const json::object& owner) {
    owned |= api::find_bool(owner, "controller", false);
  });
  if (owned)
    return hold(view, "ErrWorkloadCompose",
                fmt::format("The prebuilt workload {} belongs to another object",
                            api::find_text(metadata, "name")),
                objects);
  // Before it is the job's: a job that only names a workload must not end it.
  if (reader_.match(view, workload) != hooks::JobMatch::kSame)
    return hold(view, "ErrWorkloadCompose",
                fmt::format("The prebuilt workload {} has other pod sets than the job",
                            api::find_text(metadata, "name")),
                objects);
  array_of(metadata, "ownerReferences").push_back(owner_reference(view));
  object_of(metadata, "labels")[api::json_view(kJobUidLabel)] = view.uid;
  return plain(objects.update(std::move(workload)));  // the change brings us back
}

JobController::Done JobController::carry_out(JobView& view, const MappingPlan& mapping,
                                             ObjectAccess& objects) {
  const hooks::JobPlan& plan = mapping.plan;
  if (plan.recreate) return recreate(view, objects);
  for (const std::string& name : mapping.remove) {
    const WorkloadOfJob* workload = view.find(name);
    if (!workload) continue;
    if (auto done = remove(*workload, objects); !done) return done;
    tell(objects, view.ref, "DeletedWorkload",
         fmt::format("Deleted not matching Workload: {}/{}", view.ns, name));
  }
  for (const auto& [name, reason, message] : plan.finish) {
    WorkloadOfJob* workload = view.find(name);
    if (!workload || workload->finished) continue;
    auto done = plain(objects.finish_workload(workload->key, reason, message));
    if (!done) return done;
    workload->finished = true;
    workload->admitted = workload->reserving = false;
  }
  for (const std::string& name : plan.resize) {
    WorkloadOfJob* workload = view.find(name);
    if (!workload || workload->finished || workload->match != hooks::JobMatch::kCounts) continue;
    if (auto done = resize(view, *workload, objects); !done) return done;
  }
  for (const std::string& name : plan.remove)
    if (const WorkloadOfJob* workload = view.find(name); workload && workload->finished)
      if (auto done = remove(*workload, objects); !done) return done;
  for (const auto& wanted : plan.create)
    if (!view.find(name_of_new(view, wanted)))
      if (auto done =
              create(view, own_marks_alone(*workload_kind_, plan.provider, wanted), objects);
          !done)
        return done;
  for (WorkloadOfJob& workload : view.workloads)
    if (!workload.finished)
      if (auto done = follow_class(view, workload, objects); !done) return done;
  if (WorkloadOfJob* speaker = view.find(plan.speaker)) return follow(view, *speaker, objects);
  return view.kind->suspended(view.job) ? Done() : stop(view, "Missing Workload", objects);
}

/// The class that the job names is not there; `why` says so.
void JobController::await_class(const JobView& view, const std::string& why,
                                ObjectAccess& objects) {
  waiting_for_class_.insert(WorkKey::of(view.ref));
  tell(objects, view.ref, "WorkloadPriorityClassNotFound", why, true);
}

JobController::Done JobController::create(JobView& view, const hooks::NewJobWorkload& wanted,
                                          ObjectAccess& objects) {
  const auto wishes = wishes_of(view, objects);
  if (!wishes) {
    await_class(view, wishes.error().text, objects);
    return {};
  }
  json::object workload = make_workload(*workload_kind_, view, wanted, reader_.pod_sets_of(view),
                                        *wishes, managed_.copied_labels);
  if (holds_for_pods_) add_finalizer(workload, kInUseFinalizer);
  const std::string key = join_key(view.ns, name_of_new(view, wanted));
  // What it makes by its own plan is as it wants it: nothing to look at before it is admitted.
  if (!mapped_.contains(WorkKey::of(view.ref))) creating_ = key;
  auto done = plain(objects.create(std::move(workload)));
  creating_.clear();
  if (!done) {
    tell(objects, view.ref, "ErrWorkloadCompose", done.error().text, true);
    return done;
  }
  tell(objects, view.ref, "CreatedWorkload", "Created Workload: " + key);
  return {};
}

/// On a host at once: nothing that runs needs it. On a cluster a finalizer of Kueue's holds it
/// until its pods have ended.
JobController::Done JobController::remove(const WorkloadOfJob& workload, ObjectAccess& objects) {
  if (holds_for_pods_ && has_finalizer(workload.object, kInUseFinalizer))
    if (auto done = plain(release(workload.object, objects)); !done) return done;
  return plain(objects.remove(*workload_kind_, workload.key));
}

/// It was stopped or has ended, and pods run on; its quota is held for them.
bool JobController::has_to_end(const JobView& view) const {
  return holds_for_pods_ && view.kind->active(view.job);
}

JobController::Done JobController::recreate(JobView& view, ObjectAccess& objects) {
  const auto is_open = [](const WorkloadOfJob& w) { return !w.finished; };
  if (view.kind->suspended(view.job) && view.workloads.size() == 1 && is_open(view.workloads[0])) {
    WorkloadOfJob& workload = view.workloads[0];
    // One that is off, or has its place in the queue, keeps that: what ends here brings us back.
    if (view.kind->active(view.job) || workload.ending) return {};
    if (!workload.reserving) return rewrite_pod_sets(view, workload, objects);
  }
  if (!view.kind->suspended(view.job))
    if (auto done = stop(view, "No matching Workload", objects); !done) return done;
  if (has_to_end(view)) return {};  // that brings us back
  for (const WorkloadOfJob& workload : view.workloads) {
    if (auto done = remove(workload, objects); !done) return done;
    tell(objects, view.ref, "DeletedWorkload", "Deleted not matching Workload: " + workload.key);
  }
  view.workloads.clear();
  return create(view, {}, objects);
}

/// What was given back first, because there cannot be more pods that are not needed than there are.
JobController::Done JobController::write_pod_sets(WorkloadOfJob& workload, json::array pod_sets,
                                                  ObjectAccess& objects) {
  json::array& present = array_of(object_of(workload.object, "spec"), "podSets");
  json::object status = part(workload.object, "status");
  if (lower_reclaimable(status, present, pod_sets)) {
    if (auto done = plain(objects.update_status(*workload_kind_, workload.key, status)); !done)
      return done;
    workload.object["status"] = std::move(status);
  }
  array_of(object_of(workload.object, "spec"), "podSets") = std::move(pod_sets);
  return plain(objects.update(workload.object));
}

/// Gives the workload the pod sets that the suspended job has now.
JobController::Done JobController::rewrite_pod_sets(JobView& view, WorkloadOfJob& workload,
                                                    ObjectAccess& objects) {
  auto done = write_pod_sets(workload, reader_.pod_sets_of(view), objects);
  if (!done) return done;
  workload.match = hooks::JobMatch::kSame;
  tell(objects, view.ref, "UpdatedWorkload",
       "Updated not matching Workload for suspended job: " + workload.key);
  return {};
}

/// Gives the workload the counts that the job has now; one that holds quota only lower ones, and
/// not lower than what runs.
JobController::Done JobController::resize(JobView& view, WorkloadOfJob& workload,
                                          ObjectAccess& objects) {
  json::array sets = array_of(object_of(workload.object, "spec"), "podSets");
  bool changed = false;
  std::map<std::string, std::int32_t, std::less<>> running;
  if (holds_for_pods_ && workload.reserving) running = running_pods(objects, view.uid, view.ns);
  for (std::size_t i = 0; i < sets.size() && i < view.pod_sets.size(); ++i) {
    json::object& set = sets[i].get_object();
    const std::int32_t before = api::find_int32(set, "count").value_or(1);
    const auto runs = running.find(view.pod_sets[i].name);
    const std::int32_t least = runs == running.end() ? 0 : runs->second;
    const std::int32_t after = std::max(view.pod_sets[i].count, least);
    if (after > view.pod_sets[i].count) shrinking_.set(WorkKey::of(view.ref), view.uid);
    if (after == before || (workload.reserving && after > before)) continue;
    set["count"] = after;
    changed = true;
  }
  if (!changed) return {};
  if (auto done = write_pod_sets(workload, std::move(sets), objects); !done) return done;
  tell(objects, view.ref, "UpdatedWorkload", "Updated not matching Workload: " + workload.key);
  return {};
}

}  // namespace sluice::host
