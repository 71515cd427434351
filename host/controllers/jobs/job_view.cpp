#include "host/controllers/jobs/job_view.hpp"

#include <algorithm>
#include <utility>

#include "api/json/json.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/pod_templates.hpp"
#include "host/objects/workload_quota.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Labels by which a job finds its own pods; every job has others. Its name stays once, as in
/// Kueue: by that pods say beside which others they want to be.
constexpr std::string_view kOwnLabels[] = {"controller-uid", "job-name",
                                           "batch.kubernetes.io/controller-uid"};

json::object without_own_labels(json::object pod_template) {
  auto* metadata = api::find_object(pod_template, "metadata");
  auto* labels = metadata ? api::find_object(*metadata, "labels") : nullptr;
  if (!labels) return pod_template;
  for (const std::string_view label : kOwnLabels) labels->erase(api::json_view(label));
  if (labels->empty()) metadata->erase("labels");
  if (metadata->empty()) pod_template.erase("metadata");
  return pod_template;
}

WorkloadOfJob workload_of(const ObjectRef& ref, json::object object) {
  WorkloadOfJob out;
  out.key = ref.key;
  out.name = ref.name();
  const json::object& status = part(object, "status");
  out.finished = has_condition(status, "Finished");
  out.reserving = holds_quota(status);
  out.admitted =
      !out.finished && has_condition(status, "Admitted") && !has_condition(status, "Evicted");
  out.ending = is_ending(status);
  out.object = std::move(object);
  return out;
}

std::string age_of(const WorkloadOfJob& workload) {
  return std::string(api::find_text(part(workload.object, "metadata"), "creationTimestamp"));
}

/// What the job was started with, and what it is without. Without a record its templates may have
/// the admission of a workload all the same: another one started it, and is not done with stopping
/// it where the workload is being evicted.
void read_start(JobView& view, const ObjectAccess& objects) {
  view.restored = view.job;
  view.started = restore(*view.kind, view.restored);
  if (!view.started.workload_uid.empty()) return;
  const bool runs = !view.kind->suspended(view.job);
  view.assumed =
      std::any_of(view.workloads.begin(), view.workloads.end(), [&](const WorkloadOfJob& workload) {
        return (workload.ending || (runs && workload.admitted)) &&
               assume_started(*view.kind, view.job, workload.object, objects);
      });
  if (!view.assumed) return;
  view.restored = view.job;
  view.started = restore(*view.kind, view.restored);
}

}  // namespace

std::string_view label_of(const json::object& object, std::string_view name) {
  return api::find_text(part(part(object, "metadata"), "labels"), name);
}

std::string_view annotation_of(const json::object& object, std::string_view name) {
  return api::find_text(part(part(object, "metadata"), "annotations"), name);
}

std::string_view prebuilt_of(const json::object& job) {
  return identifier_in(part(job, "metadata"), kPrebuilt);
}

std::string_view JobView::label(std::string_view label_name) const {
  return label_of(job, label_name);
}
std::string_view JobView::annotation(std::string_view annotation_name) const {
  return annotation_of(job, annotation_name);
}

WorkloadOfJob* JobView::find(std::string_view workload) {
  const auto it = std::find_if(workloads.begin(), workloads.end(),
                               [&](const WorkloadOfJob& w) { return w.name == workload; });
  return it == workloads.end() ? nullptr : &*it;
}

std::optional<JobView> JobReader::read(const ObjectRef& ref, const ObjectAccess& objects) {
  auto job = objects.get(*ref.kind, ref.key);
  if (!job) return std::nullopt;
  JobView view;
  view.ref = ref;
  view.kind = ref.kind->job.get();
  view.ns = ref.ns();
  view.name = ref.name();
  view.uid = api::find_text(part(*job, "metadata"), "uid");
  view.job = std::move(*job);
  for (const ObjectRef& owned : objects.owned_by(view.uid, view.ns)) {
    if (!is_workload(*owned.kind)) continue;
    auto object = objects.get(*owned.kind, owned.key);
    if (object) view.workloads.push_back(workload_of(owned, std::move(*object)));
  }
  std::stable_sort(view.workloads.begin(), view.workloads.end(),
                   [](const WorkloadOfJob& a, const WorkloadOfJob& b) {
                     return std::pair(age_of(a), a.name) < std::pair(age_of(b), b.name);
                   });
  read_start(view, objects);
  view.pod_sets = view.kind->pod_sets(view.restored);
  for (WorkloadOfJob& workload : view.workloads) workload.match = match(view, workload.object);
  return view;
}

json::array JobReader::pod_sets_of(const JobView& view) const {
  json::array out;
  json::object job = view.restored;
  for (std::size_t i = 0; i < view.pod_sets.size(); ++i) {
    const api::JobPodSet& set = view.pod_sets[i];
    json::object one{{"name", set.name}, {"count", set.count}};
    if (set.min_count) one["minCount"] = *set.min_count;
    json::object made;
    const json::object* pod_template = view.kind->described(job, i, made);
    json::object described = without_own_labels(pod_template ? *pod_template : json::object());
    drop_doubles(described);
    one["template"] = std::move(described);
    out.push_back(std::move(one));
  }
  return out;
}

hooks::JobMatch JobReader::match(const JobView& view, const json::object& workload) {
  const auto* sets = api::find_array(part(workload, "spec"), "podSets");
  if (!sets || sets->size() != view.pod_sets.size()) return hooks::JobMatch::kOther;
  json::object job = view.restored;
  bool same_counts = true;
  for (std::size_t i = 0; i < sets->size(); ++i) {
    const json::object* set = (*sets)[i].if_object();
    const api::JobPodSet& wanted = view.pod_sets[i];
    if (!set || api::find_text(*set, "name") != wanted.name) return hooks::JobMatch::kOther;
    json::object made;
    const json::object* pod_template = view.kind->described(job, i, made);
    const auto own = templates_.get(pod_template ? *pod_template : json::object());
    const auto held = templates_.get(part(*set, "template"));
    if (own->shape != held->shape) return hooks::JobMatch::kOther;
    same_counts &= api::find_int32(*set, "count").value_or(1) == wanted.count &&
                   api::find_int32(*set, "minCount") == wanted.min_count;
  }
  return same_counts ? hooks::JobMatch::kSame : hooks::JobMatch::kCounts;
}

hooks::JobQuery JobReader::query(const JobView& view, const ObjectAccess& objects) {
  job_text_ = api::to_json(view.job);
  query_sets_.clear();
  for (const api::JobPodSet& set : view.pod_sets)
    query_sets_.push_back({set.name, set.count, set.min_count});
  query_workloads_.clear();
  for (const WorkloadOfJob& workload : view.workloads)
    query_workloads_.push_back({std::make_shared<const api::Workload>(api::decode_workload(
                                    workload.object, templates_, objects.scheme())),
                                workload.match});
  return {view.kind->group_kind(), job_text_, query_sets_, query_workloads_};
}

}  // namespace sluice::host
