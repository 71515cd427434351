#include "rules.hpp"

#include <algorithm>

#include "facts.hpp"
#include "makers.hpp"
#include "names.hpp"
#include "shape.hpp"
#include "sluice/cpp/marks.hpp"

namespace pods {
namespace {

using sluice::Json;

std::string label_path(std::string_view name) {
  return "metadata.labels[" + std::string(name) + "]";
}
std::string annotation_path(std::string_view name) {
  return "metadata.annotations[" + std::string(name) + "]";
}

/// A workload is called so.
bool is_name(std::string_view text) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (text.empty() || text.size() > kLongestName || !plain(text.front()) || !plain(text.back()))
    return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return plain(c) || c == '-' || c == '.'; }) &&
         text.find("..") == text.npos && text.find(".-") == text.npos &&
         text.find("-.") == text.npos;
}

/// Where the pod says in which group it is.
std::string group_path(const Json& pod) {
  return sluice::annotation_of(pod, kGroup).empty() ? label_path(kGroup) : annotation_path(kGroup);
}

void check_group(const Json& pod, sluice::FieldErrors& errors) {
  const std::string group = sluice::identifier_of(pod, kGroup);
  const std::string total = sluice::annotation_of(pod, kTotal);
  const std::string both = "both the annotation " + std::string(kTotal) + " and " +
                           std::string(kGroup) + ", an annotation or a label, should be set";
  if (group.empty() && !total.empty()) errors.required(group_path(pod), both);
  if (group.empty()) return;
  if (!is_name(group))
    errors.invalid(group_path(pod), Json(group).dump(),
                   "must be the name of a Workload: a-z, 0-9, - and ., a letter or digit at both "
                   "ends");
  if (total.empty()) return errors.required(annotation_path(kTotal), both);
  if (pod_of(pod).total < 1)
    errors.invalid(annotation_path(kTotal), Json(total).dump(),
                   "should be an integer greater than 0");
}

void check_sets(const Json& pod, sluice::FieldErrors& errors) {
  const std::string text = sluice::annotation_of(pod, kSets);
  if (text.empty()) return;
  const auto sets = said_sets(pod);
  if (!sets)
    return errors.invalid(annotation_path(kSets), Json(text).dump(),
                          "must be a list of objects with name, count (1 or more) and template");
  std::int64_t count = 0;
  for (const Json& set : sets->items()) count += set.int_or("count", 0);
  if (const std::int32_t total = pod_of(pod).total; count != total)
    errors.invalid(
        annotation_path(kSets), Json(text).dump(),
        "has " + std::to_string(count) + " pods, and the group has " + std::to_string(total));
}

void check_change(const Json& pod, const Json& old, sluice::FieldErrors& errors) {
  const Pod before = pod_of(old), now = pod_of(pod);
  const bool joins = before.group.empty() && before.gated;  // while it waits
  if (!joins && before.group != now.group)
    errors.invalid(group_path(pod), Json(now.group).dump(), "field is immutable");
  if (!joins && before.total != now.total)
    errors.invalid(annotation_path(kTotal), Json(sluice::annotation_of(pod, kTotal)).dump(),
                   "field is immutable");
  if (before.gated && !now.gated)
    errors.forbidden("spec.schedulingGates", "gate " + std::string(kGate) +
                                                 " is lifted by the system, when the workload of "
                                                 "the pod has quota");
  if (!before.gated && before.queue != now.queue)
    errors.invalid(label_path(kQueue), Json(now.queue).dump(),
                   "field is immutable once the pod was started");
  // What the group was counted by.
  for (const std::string_view name : {kFast, kServing, kSets})
    if (!joins && sluice::annotation_of(pod, name) != sluice::annotation_of(old, name))
      errors.invalid(annotation_path(name), Json(sluice::annotation_of(pod, name)).dump(),
                     "field is immutable");
  if (!before.group.empty() && !before.retriable && now.retriable)
    errors.forbidden(annotation_path(kRetriable), "a group that may not be tried again stays so");
}

/// The job that controls the object, if it is there: the reference has to name it, not a namesake.
std::optional<Json> job_of(const Json& object, const std::string& ns, const FindJob& find_job) {
  const Json* owner = sluice::controller_of(object);
  if (owner == nullptr || !find_job) return std::nullopt;
  auto job = find_job({owner->string_or("apiVersion", ""), owner->string_or("kind", ""), ns,
                       owner->string_or("name", "")});
  const std::string uid = owner->string_or("uid", "");
  if (!job || uid.empty() || job->string_or("metadata.uid", "") != uid) return std::nullopt;
  return job;
}

/// Of a job that names no queue, and that a job which does owns: it runs with that one, so its pods
/// do. Whoever gives a pod of his own such an owner gets nothing by that.
bool runs_with_owner(const Json& pod, const std::string& ns, const Origin& origin) {
  constexpr int kMostGenerations = 10;  // of jobs that own jobs
  if (!sluice::is_controller(origin.user, ns)) return false;
  std::optional<Json> job = job_of(pod, ns, origin.find_job);
  if (!job || !sluice::label_of(*job, kQueue).empty()) return false;
  for (int generation = 0; generation < kMostGenerations; ++generation) {
    job = job_of(*job, ns, origin.find_job);
    if (!job) return false;
    if (!sluice::label_of(*job, kQueue).empty()) return true;
  }
  return false;
}

/// No more than "perhaps": users write the text.
bool mentions(std::string_view text, std::string_view name) { return text.find(name) != text.npos; }

}  // namespace

Settings settings_of(const Json& config, LabelsOf labels_of) {
  Settings out;
  if (const Json* names = config.find("exceptNamespaces"))
    for (const Json& name : names->items()) out.except_namespaces.insert(name.as_string());
  out.without_queue = config.bool_or("withoutQueueName", false);
  if (const Json* selector = config.find("namespaceSelector"))
    out.namespaces = Namespaces(*selector, std::move(labels_of));
  if (const Json* keys = config.find("labelKeysToCopy"))
    for (const Json& key : keys->items()) out.label_keys.push_back(key.as_string());
  return out;
}

std::string except_words(const Settings& settings) {
  std::string out;
  for (const std::string& ns : settings.except_namespaces)
    out.append(out.empty() ? " except:" : ",").append(ns);
  return out;
}

std::vector<std::string> judged_pods(const Settings& settings) {
  const std::string except = except_words(settings);
  if (settings.without_queue) return {"Pod" + except};
  const std::string label(kQueue), parent(kSuspendedBy);
  const std::string by_itself = " annotation:!" + parent + except;
  return {"Pod label:" + label + by_itself, "Pod label:!" + label + by_itself + " if-answered",
          "Pod annotation:" + parent + except};
}

std::optional<std::string> hold(std::string_view text, const Settings& settings,
                                const HasDefaultQueue& has_default_queue, const Origin& origin) {
  Json pod = Json::parse(text);
  const std::string ns = pod.string_or("metadata.namespace", "");
  const bool by_parent = !sluice::annotation_of(pod, kSuspendedBy).empty();
  if (settings.except_namespaces.contains(ns)) return std::nullopt;
  if (!by_parent && !settings.namespaces.cover(ns)) return std::nullopt;
  // Only the system says so, of one that it brings back from a backup.
  if (is_managed(pod)) return std::nullopt;
  // The pods of a job that is queued itself: its template got the label when it was started. A
  // user's label is left out before, and what else of the pod is called like it says nothing.
  if (!sluice::label_of(pod, kPodSet).empty()) return std::nullopt;
  if (!by_parent && sluice::label_of(pod, kQueue).empty()) {
    if (has_default_queue(ns))
      pod["metadata"]["labels"][kQueue] = kDefaultQueue;
    else if (!settings.without_queue)
      return std::nullopt;
  }
  if (!by_parent && runs_with_owner(pod, ns, origin)) return std::nullopt;
  pod["metadata"]["labels"][kManaged] = "true";
  std::string role = sluice::annotation_of(pod, kNamedSet);
  if (role.empty()) role = role_of(pod["spec"]);
  pod["metadata"]["annotations"][kRole] = role;
  if (const std::string group = group_of_part(pod); !group.empty())
    pod["metadata"]["labels"][kGroup] = group;
  if (!pod_of(pod).gated) {
    Json gate = Json::object();
    gate["name"] = kGate;
    pod["spec"]["schedulingGates"].push_back(std::move(gate));
  }
  return pod.dump();
}

void check(const sluice::Write& write, sluice::FieldErrors& errors) {
  if (write.operation() == sluice::Operation::kDelete) return;
  if (!mentions(write.object(), kManaged) && !mentions(write.old(), kManaged)) return;
  const Json pod = Json::parse(write.object());
  if (write.operation() == sluice::Operation::kCreate) {
    if (!is_managed(pod)) return;
    check_group(pod, errors);
    check_sets(pod, errors);
    return;
  }
  const Json old = Json::parse(write.old());
  if (!is_managed(old)) return;
  check_group(pod, errors);
  check_change(pod, old, errors);
}

}  // namespace pods
