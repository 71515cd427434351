#include "host/controllers/jobs/workload_spec.hpp"

#include <fmt/format.h>

#include <charconv>

#include "api/json/json.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/managed_jobs.hpp"
#include "host/objects/marks.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kSchedulingGroup = "scheduling.k8s.io";
constexpr std::size_t kLongestLabel = 63;

void set_priority(json::object& spec, std::string_view group, std::string_view kind,
                  std::string_view name, std::int64_t value) {
  spec["priority"] = value;
  if (name.empty()) return;
  spec["priorityClassRef"] = {{"group", api::json_view(group)},
                              {"kind", api::json_view(kind)},
                              {"name", api::json_view(name)}};
}

/// The PriorityClass that Kubernetes takes where an object names none: (name, value).
std::optional<std::pair<std::string, std::int64_t>> global_default(const ObjectAccess& objects) {
  const api::KindInfo* kind = objects.scheme().find("scheduling.k8s.io/v1", "PriorityClass");
  if (!kind) return std::nullopt;
  std::optional<std::pair<std::string, std::int64_t>> found;
  for (const std::string& key : objects.keys(*kind)) {
    const auto object = objects.get(*kind, key);
    if (!object || !api::find_bool(*object, "globalDefault", false)) continue;
    const std::int64_t value = api::find_int(*object, "value").value_or(0);
    if (!found || value < found->second) found = {key, value};
  }
  return found;
}

Result<void> fill_priority(const JobView& view, const ObjectAccess& objects, json::object& spec) {
  const std::string_view label = view.label(kPriorityClassLabel);
  if (!label.empty()) {
    const auto value =
        priority_class_value(objects, api::kKueueVersion, "WorkloadPriorityClass", label);
    if (!value) return Error{fmt::format("WorkloadPriorityClass {} doesn't exist", label)};
    set_priority(spec, kQueueGroup, "WorkloadPriorityClass", label, *value);
    return {};
  }
  const std::string pods = view.kind->priority_class(view.restored);
  if (!pods.empty()) {
    const auto value = priority_class_value(objects, "scheduling.k8s.io/v1", "PriorityClass", pods);
    if (!value) return Error{fmt::format("PriorityClass {} doesn't exist", pods)};
    set_priority(spec, kSchedulingGroup, "PriorityClass", pods, *value);
    return {};
  }
  if (const auto value = priority_class_value(objects, api::kKueueVersion, "WorkloadPriorityClass",
                                              kDefaultQueue)) {
    set_priority(spec, kQueueGroup, "WorkloadPriorityClass", kDefaultQueue, *value);
  } else if (const auto common = global_default(objects)) {
    set_priority(spec, kSchedulingGroup, "PriorityClass", common->first, common->second);
  } else {
    spec["priority"] = 0;
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> priority_class_value(const ObjectReader& objects,
                                                 std::string_view api_version,
                                                 std::string_view kind, std::string_view name) {
  const api::KindInfo* info = objects.scheme().find(api_version, kind);
  const auto object = info ? objects.get(*info, name) : std::nullopt;
  if (!object) return std::nullopt;
  return api::find_int(*object, "value").value_or(0);
}

std::int64_t pod_priority(const ObjectAccess& objects, std::string_view class_name) {
  if (!class_name.empty())
    return priority_class_value(objects, "scheduling.k8s.io/v1", "PriorityClass", class_name)
        .value_or(0);
  const auto common = global_default(objects);
  return common ? common->second : 0;
}

Result<json::object> wishes_of(const JobView& view, const ObjectAccess& objects) {
  json::object spec;
  if (const auto queue = view.label(kQueueLabel); !queue.empty())
    spec["queueName"] = api::json_view(queue);
  if (auto filled = fill_priority(view, objects, spec); !filled) return filled.error();
  const std::string_view limit = view.label(kMaxExecutionLabel);
  std::int32_t seconds = 0;
  std::from_chars(limit.data(), limit.data() + limit.size(), seconds);
  if (seconds > 0) spec["maximumExecutionTimeSeconds"] = seconds;
  return spec;
}

std::string name_of_new(const JobView& view, const hooks::NewJobWorkload& wanted) {
  if (!wanted.name.empty()) return wanted.name;
  const api::KindInfo& kind = *view.ref.kind;
  return workload_name(kind.kind, kind.group, view.name, view.uid, wanted.revision);
}

json::object owner_reference(const JobView& view) {
  const api::KindInfo& kind = *view.ref.kind;
  return {{"apiVersion", kind.hub_api_version()},
          {"kind", kind.kind},
          {"name", view.name},
          {"uid", view.uid},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

hooks::NewJobWorkload own_marks_alone(const api::KindInfo& workloads, std::string_view plugin,
                                      hooks::NewJobWorkload wanted) {
  const auto is_others = [&](const std::pair<std::string, std::string>& each) {
    if (each.first == kClaimedBy) return each.second != plugin;
    return is_mark(workloads, each.first) && !is_mark_of(workloads, plugin, each.first);
  };
  std::erase_if(wanted.labels, is_others);
  std::erase_if(wanted.annotations, is_others);
  return wanted;
}

json::object make_workload(const api::KindInfo& workloads, const JobView& view,
                           const hooks::NewJobWorkload& wanted, json::array pod_sets,
                           const json::object& wishes, const std::vector<std::string>& copied) {
  json::object labels;
  for (const std::string& key : copied)
    if (const json::value* value = api::find(part(part(view.job, "metadata"), "labels"), key);
        value && !is_mark(workloads, key))
      labels[key] = *value;
  if (view.uid.size() <= kLongestLabel) labels[api::json_view(kJobUidLabel)] = view.uid;
  for (const auto& [key, value] : wanted.labels) labels[key] = value;
  json::object annotations;
  for (const auto& [key, value] : part(part(view.job, "metadata"), "annotations"))
    if (is_of_queues(api::view(key)) && !is_mark(workloads, api::view(key)))
      annotations[key] = value;
  if (const std::string_view user = view.annotation(kCreatedBy); !user.empty())
    annotations[api::json_view(kCreatedBy)] = api::json_view(user);
  for (const auto& [key, value] : wanted.annotations) annotations[key] = value;
  json::object metadata{{"name", name_of_new(view, wanted)},
                        {"namespace", view.ns},
                        {"labels", std::move(labels)},
                        {"ownerReferences", json::array{owner_reference(view)}}};
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  json::object spec = wishes;
  spec["podSets"] = std::move(pod_sets);
  return {{"apiVersion", api::json_view(api::kKueueVersion)},
          {"kind", "Workload"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

std::optional<std::int32_t> count_of(const json::array& pod_sets, std::string_view name) {
  for (const json::value& each : pod_sets)
    if (api::find_text(each.get_object(), "name") == name)
      return api::find_int32(each.get_object(), "count").value_or(1);
  return std::nullopt;
}

}  // namespace sluice::host
