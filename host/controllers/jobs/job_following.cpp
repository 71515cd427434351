// JobController: what a job does because of the workload that speaks for it, and what that
// workload learns from the job.
#include <fmt/format.h>

#include <algorithm>

#include "api/json/json.hpp"
#include "api/schema/no_effect.hpp"
#include "host/controllers/jobs/in_use.hpp"
#include "host/controllers/jobs/job_controller.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/controllers/jobs/pods_ready.hpp"
#include "host/controllers/jobs/workload_spec.hpp"
#include "host/objects/parts.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Pods once given back stay given back while quota is held.
bool raise_reclaimable(json::object& status, const std::vector<api::FinishedPods>& finished) {
  bool changed = false;
  for (const auto& [pod_set, count] : finished) {
    json::array& list = array_of(status, "reclaimablePods");
    const auto it = std::find_if(list.begin(), list.end(), [&name = pod_set](const auto& each) {
      return each.is_object() && api::find_text(each.get_object(), "name") == name;
    });
    if (it == list.end()) {
      list.push_back(json::object{{"name", pod_set}, {"count", count}});
      changed = true;
    } else if (api::find_int32(it->get_object(), "count").value_or(0) < count) {
      it->get_object()["count"] = count;
      changed = true;
    }
  }
  return changed;
}

/// Pods of the workload's size that are not needed any more. A job that grew beyond it needs its
/// last ones for longer: with 2 of 3 pods over, the one that a workload of one pod has still runs.
std::vector<api::FinishedPods> finished_pods(const JobView& view, const json::object& workload) {
  std::vector<api::FinishedPods> out = view.kind->finished_pods(view.job);
  const json::array* sets = api::find_array(part(workload, "spec"), "podSets");
  for (auto& [name, count] : out)
    for (const api::JobPodSet& wanted : view.pod_sets)
      if (wanted.name == name && sets)
        count -= std::max(0, wanted.count - count_of(*sets, name).value_or(0));
  std::erase_if(out, [](const api::FinishedPods& each) { return each.count <= 0; });
  return out;
}

}  // namespace

JobController::Done JobController::follow(JobView& view, WorkloadOfJob& speaker,
                                          ObjectAccess& objects) {
  // Without quota, whichever writer ended the workload, the job must not run on.
  if (speaker.finished)
    return view.kind->suspended(view.job) ? Done()
                                          : stop(view, "Its workload is finished", objects);
  if (speaker.admitted) return follow_admitted(view, speaker, objects);
  if (!view.kind->suspended(view.job)) {
    const json::object& status = part(speaker.object, "status");
    const json::object* evicted = find_condition(status, "Evicted");
    const bool was_evicted = evicted && api::find_text(*evicted, "status") == "True";
    auto done = stop(view,
                     was_evicted ? api::find_text(*evicted, "message")
                                 : std::string_view("Not admitted by cluster queue"),
                     objects);
    if (!done) return done;
  }
  if (speaker.reserving) return {};
  return sync_wishes(view, speaker, objects);
}

/// What the labels of a waiting job say now.
JobController::Done JobController::sync_wishes(JobView& view, WorkloadOfJob& speaker,
                                               ObjectAccess& objects) {
  if (view.label(kQueueLabel).empty()) return {};
  const auto wishes = wishes_of(view, objects);
  if (!wishes) return {};  // the workload keeps what it has
  json::object& spec = object_of(speaker.object, "spec");
  const json::object before = spec;
  const bool prebuilt = !prebuilt_of(view.job).empty();
  for (const std::string_view field :
       {"queueName", "priorityClassRef", "priority", "maximumExecutionTimeSeconds"}) {
    const auto* wanted = api::find(*wishes, field);
    if (prebuilt && field != "queueName") continue;
    if (field == "priority" && api::find(*wishes, "priorityClassRef") == nullptr) continue;
    if (wanted)
      spec[api::json_view(field)] = *wanted;
    else
      spec.erase(api::json_view(field));
  }
  // Gates are only ever taken away: from the job, or from its workload.
  const std::string gates = api::gates_left(speaker.object, view.job);
  const bool opened = !prebuilt && gates != annotation_of(speaker.object, api::kGatedBy);
  if (opened) {
    json::object& annotations = object_of(object_of(speaker.object, "metadata"), "annotations");
    if (gates.empty())
      annotations.erase(api::json_view(api::kGatedBy));
    else
      annotations[api::json_view(api::kGatedBy)] = gates;
  }
  if (spec == before && !opened) return {};
  return plain(objects.update(speaker.object));
}

/// A job may be given another class at any time, also while it runs: its priority is that one's.
JobController::Done JobController::follow_class(JobView& view, WorkloadOfJob& workload,
                                                ObjectAccess& objects) {
  const std::string_view name = view.label(kPriorityClassLabel);
  json::object& spec = object_of(workload.object, "spec");
  const json::object& ref = part(spec, "priorityClassRef");
  if (name.empty() || api::find_text(ref, "kind") != "WorkloadPriorityClass" ||
      api::find_text(ref, "name") == name)
    return {};
  const auto wishes = wishes_of(view, objects);
  if (!wishes) {
    await_class(view, wishes.error().text, objects);
    return {};
  }
  for (const char* field : {"priorityClassRef", "priority"}) spec[field] = wishes->at(field);
  return plain(objects.update(workload.object));
}

/// From before its first pod on: also one that somebody else made, or a host of before.
JobController::Done JobController::hold_in_use(WorkloadOfJob& speaker, ObjectAccess& objects) {
  if (!holds_for_pods_ || is_terminating(speaker.object) ||
      has_finalizer(speaker.object, kInUseFinalizer))
    return {};
  add_finalizer(speaker.object, kInUseFinalizer);
  return plain(objects.update(speaker.object));
}

JobController::Done JobController::follow_admitted(JobView& view, WorkloadOfJob& speaker,
                                                   ObjectAccess& objects) {
  if (auto done = hold_in_use(speaker, objects); !done) return done;
  const StartInfo wanted = start_info(speaker.object);
  if (view.kind->suspended(view.job)) {
    if (view.kind->active(view.job)) return {};  // the last run has not ended yet
    return start(view, speaker, wanted, objects);
  }
  const StartInfo& present = view.started;
  if (present.workload_uid.empty())  // it runs, but not because of us
    return stop(view, "Not admitted by cluster queue", objects);
  const bool again =
      present.workload_uid == wanted.workload_uid && present.evictions != wanted.evictions;
  // A further workload took over where the job runs: only new pods learn what its checks want.
  const bool took_over =
      present.workload_uid != wanted.workload_uid && wanted.same_flavors(present);
  if (again || (!took_over && !present.same_place(wanted)))
    return stop(view, "The admission of its workload changed", objects);
  if (view.assumed || present.workload_uid != wanted.workload_uid) {
    note_workload(view.job, wanted);
    if (auto done = plain(objects.update(view.job)); !done) return done;
  }
  return report_pods(view, speaker, objects);
}

/// The templates of a Job can change only while it has not started, and its last run is over.
JobController::Done JobController::forget_start(const JobView& view, ObjectAccess& objects) {
  json::object status = part(view.job, "status");
  if (status.erase("startTime") == 0) return {};
  return plain(objects.update_status(*view.ref.kind, view.ref.key, std::move(status)));
}

JobController::Done JobController::start(JobView& view, WorkloadOfJob& speaker,
                                         const StartInfo& info, ObjectAccess& objects) {
  json::object job = view.restored;
  if (const auto injected = inject(*view.kind, job, speaker.object, info, objects); !injected) {
    objects.emit({view.ref, true, "FailedToStart", injected.error().text});
    return plain(objects.finish_workload(speaker.key, "FailedToStart", injected.error().text));
  }
  view.kind->set_suspended(job, false);
  if (auto done = forget_start(view, objects); !done) return done;
  if (auto done = plain(objects.update(std::move(job))); !done) return done;
  const json::object& status = part(speaker.object, "status");
  objects.emit({view.ref, false, "Started",
                fmt::format("Admitted by clusterQueue {}",
                            api::find_text(part(status, "admission"), "clusterQueue"))});
  return {};
}

/// Suspends the job, and then gives it its own templates back: they can change only while it is.
JobController::Done JobController::stop(JobView& view, std::string_view message,
                                        ObjectAccess& objects) {
  const bool started = !view.started.workload_uid.empty();
  json::object job = started ? view.job : view.restored;
  view.kind->set_suspended(job, true);
  if (auto done = plain(objects.update(job)); !done) return done;
  objects.emit({view.ref, false, "Stopped", std::string(message)});
  view.job = std::move(job);
  view.kind->set_suspended(view.restored, true);
  return started ? give_back(view, objects) : forget_start(view, objects);
}

/// Takes out of a suspended job what its last start put in.
JobController::Done JobController::give_back(JobView& view, ObjectAccess& objects) {
  if (auto done = forget_start(view, objects); !done) return done;
  if (auto done = plain(objects.update(view.restored)); !done) return done;
  view.job = view.restored;
  return {};
}

JobController::Done JobController::report_pods(const JobView& view, const WorkloadOfJob& speaker,
                                               ObjectAccess& objects) {
  json::object status = part(speaker.object, "status");
  std::int64_t granted = 0;
  for_each_object(part(status, "admission"), "podSetAssignments", [&](const json::object& each) {
    granted += api::find_int(each, "count").value_or(0);
  });
  const bool ready = view.kind->pods_ready(view.job, granted);
  const bool told = set_pods_ready(status, ready, objects.now());
  const bool raised = raise_reclaimable(status, finished_pods(view, speaker.object));
  if (!told && !raised) return {};
  return plain(objects.update_status(*workload_kind_, speaker.key, std::move(status)));
}

}  // namespace sluice::host
