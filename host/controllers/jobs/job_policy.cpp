#include "host/controllers/jobs/job_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/jobs/job_kind.hpp"
#include "api/json/json.hpp"
#include "api/schema/formats.hpp"
#include "api/schema/no_effect.hpp"
#include "api/schema/rules.hpp"
#include "api/scheme/controlling_job.hpp"
#include "host/controllers/jobs/job_view.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/controllers/jobs/start_info.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/marks.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "sluice/cpp/marks.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int kMostGenerations = 10;  // of jobs that own jobs

using Problems = std::vector<api::Problem>;

void refuse(Problems& problems, std::string field, std::string detail,
            api::Problem::Kind kind = api::Problem::Kind::kInvalid) {
  problems.push_back({kind, std::move(field), std::move(detail)});
}

std::string label_path(std::string_view name) { return fmt::format("metadata.labels[{}]", name); }
std::string annotation_path(std::string_view name) {
  return fmt::format("metadata.annotations[{}]", name);
}

std::optional<std::int32_t> as_number(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Where prebuilt_of() has it from.
std::string prebuilt_path(const json::object& job) {
  return annotation_of(job, kPrebuilt).empty() ? label_path(kPrebuilt) : annotation_path(kPrebuilt);
}

/// What a job names is an object, or may become one. What was stored otherwise stays.
void check_names(const json::object& job, const json::object& old, Problems& problems) {
  const auto check_name = [&](std::string_view name, std::string_view before, std::string path) {
    if (!name.empty() && name != before && !api::is_dns_subdomain(name))
      refuse(problems, std::move(path),
             fmt::format("Invalid value: \"{}\": {}", name, api::kSubdomainRule));
  };
  check_name(label_of(job, kQueueLabel), label_of(old, kQueueLabel), label_path(kQueueLabel));
  check_name(prebuilt_of(job), prebuilt_of(old), prebuilt_path(job));
}

void check(const json::object& job, bool is_new_start, Problems& problems) {
  const auto at_least_one = [&](std::string_view text, const std::string& path) {
    if (text.empty()) return;
    if (const auto number = as_number(text); number && *number > 0) return;
    refuse(problems, path,
           fmt::format("Invalid value: \"{}\": should be an integer greater than 0", text));
  };
  at_least_one(label_of(job, kMaxExecutionLabel), label_path(kMaxExecutionLabel));
  const std::string_view least = annotation_of(job, kMinParallelism);
  at_least_one(least, annotation_path(kMinParallelism));
  const auto parallelism = api::find_int32(part(job, "spec"), "parallelism").value_or(1);
  // While it runs, the host itself may have lowered it.
  if (const auto number = as_number(least);
      number && is_new_start && *number >= parallelism && parallelism > 0)
    refuse(problems, annotation_path(kMinParallelism),
           fmt::format("Invalid value: {}: should be between 0 and {}", *number, parallelism - 1));
  const std::string_view equal = annotation_of(job, kCompletionsEqual);
  if (!equal.empty() && equal != "true" && equal != "false")
    refuse(problems, annotation_path(kCompletionsEqual),
           fmt::format("Invalid value: \"{}\": should be true or false", equal));
}

/// A class may become another one, which its workload follows, but not none.
void check_class(const api::JobKind& kind, const json::object& job, const json::object& old,
                 Problems& problems) {
  const std::string_view before = label_of(old, kPriorityClassLabel);
  const std::string_view now = label_of(job, kPriorityClassLabel);
  if (!before.empty() && now.empty())
    refuse(problems, label_path(kPriorityClassLabel),
           "Invalid value: \"\": a WorkloadPriorityClass cannot be removed, only replaced");
  if (before.empty() && !now.empty() && !kind.suspended(old) && !kind.suspended(job))
    refuse(problems, label_path(kPriorityClassLabel),
           fmt::format("Invalid value: \"{}\": a WorkloadPriorityClass cannot be added while the "
                       "job is not suspended",
                       now));
}

void check_change(const api::JobKind& kind, const json::object& job, const json::object& old,
                  Problems& problems) {
  check_class(kind, job, old, problems);
  if (kind.suspended(old) || kind.suspended(job)) return;
  const auto stays = [&](std::string_view now, std::string_view before, std::string path) {
    if (now != before)
      refuse(problems, std::move(path),
             fmt::format("Invalid value: \"{}\": field is immutable while the job is not suspended",
                         now));
  };
  stays(label_of(job, kQueueLabel), label_of(old, kQueueLabel), label_path(kQueueLabel));
  stays(prebuilt_of(job), prebuilt_of(old), prebuilt_path(job));
  stays(label_of(job, kMaxExecutionLabel), label_of(old, kMaxExecutionLabel),
        label_path(kMaxExecutionLabel));
  const json::value* before = api::find(part(old, "spec"), "parallelism");
  const json::value* now = api::find(part(job, "spec"), "parallelism");
  const bool same = before == now || (before && now && *before == *now);
  // Of one that runs with fewer pods that is said already, with the reason.
  const bool said = std::any_of(problems.begin(), problems.end(), [](const api::Problem& each) {
    return each.field == "spec.parallelism";
  });
  if (!annotation_of(old, kMinParallelism).empty() && !same && !said)
    refuse(
        problems, "spec.parallelism",
        "Forbidden: cannot change when partial admission is enabled and the job is not suspended",
        api::Problem::Kind::kForbidden);
}

/// The label by which pods are counted to a pod set says the truth, or nothing.
void check_pod_set_labels(const api::JobKind& kind, json::object& job, Problems& problems) {
  const std::vector<api::JobPodSet> sets = kind.pod_sets(job);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    json::object made;
    const json::object* own = kind.described(job, i, made);
    const std::string_view label = own ? label_of(*own, kPodSetLabel) : std::string_view();
    if (!label.empty() && label != sets[i].name)
      refuse(problems, fmt::format("spec: template of pod set {}", sets[i].name),
             fmt::format("label {} is \"{}\"; it is set by the host, to \"{}\"", kPodSetLabel,
                         label, sets[i].name));
  }
}

/// The scheduling gates that a pod has and `after` has not.
std::vector<std::string> lifted_gates(const json::object& before, const json::object& after) {
  std::vector<std::string> kept, out;
  for_each_object(part(after, "spec"), "schedulingGates", [&](const json::object& gate) {
    kept.emplace_back(api::find_text(gate, "name"));
  });
  for_each_object(part(before, "spec"), "schedulingGates", [&](const json::object& gate) {
    const std::string_view name = api::find_text(gate, "name");
    if (std::find(kept.begin(), kept.end(), name) == kept.end()) out.emplace_back(name);
  });
  return out;
}

/// One that only the system lifts, whoever wrote it.
bool is_of_the_system(std::string_view gate) {
  const std::string_view domain = domain_of(gate);
  return is_within(domain, kQueueGroup) || is_within(domain, kOwnGroup);
}

/// Those that its user wrote.
std::vector<std::string> gates_of_templates(const api::JobKind& kind, json::object& job) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kind.pod_sets(job).size(); ++i) {
    json::object made;
    if (const json::object* pod_template = kind.described(job, i, made))
      for (std::string& gate : lifted_gates(*pod_template, {}))
        if (!is_of_the_system(gate)) out.push_back(std::move(gate));
  }
  return out;
}

/// A gate that its job's template does not have was put there by the system: until it is lifted
/// there is no quota for the pod.
void check_gates(const json::object& pod, const json::object& old, const ObjectReader& objects,
                 Problems& problems) {
  const std::vector<std::string> lifted = lifted_gates(old, pod);
  if (lifted.empty()) return;
  const std::string_view ns = api::find_text(part(old, "metadata"), "namespace");
  for (const api::ControllingJob& owner : api::controlling_jobs(old, objects.scheme())) {
    auto job = objects.get(*owner.kind, join_key(ns, owner.name));
    if (!job) continue;
    const std::vector<std::string> own = gates_of_templates(*owner.kind->job, *job);
    for (const std::string& gate : lifted)
      if (std::find(own.begin(), own.end(), gate) == own.end())
        refuse(problems, "spec.schedulingGates",
               fmt::format("Forbidden: gate {} is lifted by the system, when the workload of {} {} "
                           "has quota for the pod",
                           gate, owner.kind->kind, owner.name),
               api::Problem::Kind::kForbidden);
  }
}

bool has_default_queue(std::string_view ns, const ObjectReader& objects) {
  return objects.exists(api::kueue_kind(objects.scheme(), "LocalQueue"),
                        join_key(ns, kDefaultQueue));
}

/// Somebody who submits made it, not a controller.
bool is_of_a_user(const json::object& job) {
  return !is_controller(annotation_of(job, kCreatedBy),
                        api::find_text(part(job, "metadata"), "namespace"));
}

}  // namespace

bool is_queued(const json::object& job) {
  return !label_of(job, kQueueLabel).empty() || !prebuilt_of(job).empty();
}

bool runs_with_owner(const json::object& job, const ObjectReader& objects, bool managed) {
  // Where jobs without a queue are held, an owner that a user names does not spare them that.
  const std::string_view ns = api::find_text(part(job, "metadata"), "namespace");
  if (is_of_a_user(job) && (managed || has_default_queue(ns, objects))) return false;
  std::vector<JobInControl> owners = jobs_in_control(job, objects);
  for (int generation = 0; generation < kMostGenerations; ++generation) {
    const auto there = std::find_if(owners.begin(), owners.end(),
                                    [](const auto& each) { return each.object.has_value(); });
    if (there == owners.end()) return false;
    if (managed || !label_of(*there->object, kQueueLabel).empty()) return true;
    owners = jobs_in_control(*there->object, objects);
  }
  return false;
}

bool JobPolicy::wants(const api::KindInfo& kind) const {
  return kind.job != nullptr || is_pod(kind);
}

void JobPolicy::creating(const api::KindInfo& kind, json::object& object,
                         const ObjectReader& objects, bool by_system,
                         std::vector<api::Problem>& problems) const {
  if (!kind.job) return;
  const std::string_view ns = api::find_text(part(object, "metadata"), "namespace");
  // One of which nothing is known yet waits.
  if (!managed_.covers(ns, objects).value_or(true)) return;
  const bool managed = managed_.without_queue;
  if (runs_with_owner(object, objects, managed)) return;
  if (!is_queued(object)) {
    const bool by_default = has_default_queue(ns, objects);
    if (!by_default && !managed) return;
    if (by_default)
      object_of(object_of(object, "metadata"), "labels")[api::json_view(kQueueLabel)] =
          api::json_view(kDefaultQueue);
  }
  check_names(object, {}, problems);
  check(object, true, problems);
  if (!by_system) check_pod_set_labels(*kind.job, object, problems);
  // One that runs already, or comes with a record of its start (from a dump, a backup), goes on.
  const bool runs = by_system && kind.job->active(object);
  if (!runs && annotation_of(object, kStartedWith).empty()) kind.job->set_suspended(object, true);
}

void JobPolicy::updating(const api::KindInfo& info, json::object& object, const json::object& old,
                         const ObjectReader& objects, bool by_system,
                         std::vector<api::Problem>& problems) const {
  if (by_system) return;
  const api::JobKind* kind = info.job.get();
  if (!kind) return check_gates(object, old, objects, problems);
  for (const std::string& count : keep_start(*kind, old, object))
    refuse(problems, "spec." + count,
           "Forbidden: cannot change while the job runs with fewer pods than it asked for",
           api::Problem::Kind::kForbidden);
  const std::string_view ns = api::find_text(part(object, "metadata"), "namespace");
  if (!managed_.covers(ns, objects).value_or(true)) return;
  if (managed_.without_queue || is_queued(old))
    if (auto late = api::late_gate(old, object)) problems.push_back(*std::move(late));
  if (!is_queued(object) && !is_queued(old)) return;
  check_pod_set_labels(*kind, object, problems);
  check_names(object, old, problems);
  check(object, kind->suspended(old), problems);
  check_change(*kind, object, old, problems);
  if (!is_queued(object) && has_default_queue(ns, objects))
    refuse(problems, label_path(kQueueLabel),
           "Invalid value: \"\": queue-name must not be empty in namespace with default queue");
}

}  // namespace sluice::host
