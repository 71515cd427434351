#include "makers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "facts.hpp"
#include "names.hpp"
#include "shape.hpp"

namespace pods {
namespace {

using sluice::Json;

/// How the pods of an object wait.
enum class Waits : std::uint8_t { kEach, kTogether, kByReplica };

struct Maker {
  std::string_view group, version, kind, plural;
  Waits waits;
  std::string_view template_path;
  std::string_view size_path;       ///< so many pods has a group
  std::string_view first_template;  ///< of the first pod of each group, where it is another one
  std::string_view name_label, index_label;  ///< of pods: the object, and which replica of it
};

constexpr const char* kReplicas = "spec.replicas";
constexpr std::string_view kFirst = "leader", kOthers = "worker";

constexpr std::array<Maker, 3> kMakers = {{
    {"apps", "v1", "Deployment", "deployments", Waits::kEach, "spec.template", "", "", "", ""},
    {"apps", "v1", "StatefulSet", "statefulsets", Waits::kTogether, "spec.template", kReplicas, "",
     "", ""},
    {"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", Waits::kByReplica,
     "spec.leaderWorkerTemplate.workerTemplate", "spec.leaderWorkerTemplate.size",
     "spec.leaderWorkerTemplate.leaderTemplate", "leaderworkerset.sigs.k8s.io/name",
     "leaderworkerset.sigs.k8s.io/group-index"},
}};

const Maker* maker_of(std::string_view api_version, std::string_view kind) {
  const std::string_view group = api_version.substr(0, api_version.find('/'));
  const auto* found = std::find_if(kMakers.begin(), kMakers.end(), [&](const Maker& each) {
    return each.group == group && each.kind == kind;
  });
  return found == kMakers.end() ? nullptr : found;
}

Json& at(Json& object, std::string_view path) {
  const std::size_t dot = path.find('.');
  Json& member = object[path.substr(0, dot)];
  return dot == path.npos ? member : at(member, path.substr(dot + 1));
}

std::int64_t replicas_of(const Json& object) { return object.int_or(kReplicas, 1); }
/// Of a Scale, which leaves out a 0.
std::int64_t scale_of(const Json& scale) { return scale.int_or(kReplicas, 0); }
std::int64_t size_of(const Maker& maker, const Json& object) {
  return object.int_or(maker.size_path, 1);
}

std::vector<std::string_view> templates_of(const Maker& maker, const Json& object) {
  std::vector<std::string_view> out{maker.template_path};
  if (!maker.first_template.empty() && object.find(maker.first_template) != nullptr)
    out.push_back(maker.first_template);
  return out;
}

/// What the template of the pods says: of their queue, of their group.
std::string queue_by_template(const Maker& maker, const Json& object) {
  const Json* pods = object.find(maker.template_path);
  return pods == nullptr ? std::string() : sluice::label_of(*pods, kQueue);
}
std::string group_by_template(const Maker& maker, const Json& object) {
  const Json* pods = object.find(maker.template_path);
  return pods == nullptr ? std::string() : sluice::identifier_of(*pods, kGroup);
}

Json set_of(std::string_view name, std::int64_t count, const Json* pods) {
  Json out = Json::object();
  out["name"] = name;
  out["count"] = count;
  const Json* spec = pods == nullptr ? nullptr : pods->member("spec");
  out["template"]["spec"] = spec == nullptr ? Json::object() : shown_spec(*spec);
  return out;
}

/// Its pods are told by the object itself: its template says no more than that (parents.hpp).
void hold_by_parent(const Maker& maker, Json& object) {
  at(object, maker.template_path)["metadata"]["annotations"][kSuspendedBy] = kOfStatefulSet;
}

/// Whether its template was given queue and group, as Kueue did before 0.18: it keeps them, because
/// with another template all pods would be made anew.
bool tells_by_template(const Maker& maker, const Json& old) {
  return !queue_by_template(maker, old).empty() && !group_by_template(maker, old).empty();
}

/// The group keeps the name that it has, and has it where it had it.
void keep_group(const Maker& maker, Json& object, const Json& old) {
  const bool annotated = !sluice::annotation_of(*old.find(maker.template_path), kGroup).empty();
  Json& metadata = at(object, maker.template_path)["metadata"];
  metadata[annotated ? "annotations" : "labels"][kGroup] = group_by_template(maker, old);
}

/// Which replica a pod is of it learns when it is made (group_of_part()). The others of a group may
/// come only when the first one is ready, so each pod tells what all of them are like.
void make_groups(const Maker& maker, Json& object) {
  const Json* first = object.find(maker.first_template);
  std::string sets;
  if (first != nullptr) {
    Json list = Json::array();
    list.push_back(set_of(kFirst, 1, first));
    if (size_of(maker, object) > 1)
      list.push_back(set_of(kOthers, size_of(maker, object) - 1, object.find(maker.template_path)));
    sets = list.dump();
  }
  for (const std::string_view path : templates_of(maker, object)) {
    Json& annotations = at(object, path)["metadata"]["annotations"];
    annotations[kPartOf] = maker.kind;
    annotations[kNamedSet] = path == maker.first_template ? kFirst : sets.empty() ? kMain : kOthers;
    if (sets.empty())
      annotations.erase(kSets);
    else
      annotations[kSets] = sets;
  }
}

/// The queue that it is to wait in; empty: none. What makes pods already that wait in none goes on.
std::string queue_of(const sluice::Write& write, const Maker& maker, const Json& object,
                     const Settings& settings, const HasDefaultQueue& has_default_queue) {
  if (std::string queue = sluice::label_of(object, kQueue); !queue.empty()) return queue;
  const std::string ns = object.string_or("metadata.namespace", "");
  const bool others = !queue_by_template(maker, object).empty();  // of another maker
  if (write.operation() != sluice::Operation::kCreate || others ||
      settings.except_namespaces.contains(ns) || !has_default_queue(ns))
    return {};
  return std::string(kDefaultQueue);
}

/// The path of what may not be another while groups are there; empty: all of it is the same.
std::string_view changed_shape(const Maker& maker, const Json& object, const Json& old) {
  if (maker.waits == Waits::kByReplica && size_of(maker, object) != size_of(maker, old))
    return maker.size_path;
  for (const std::string_view path : {maker.template_path, maker.first_template}) {
    const Json* now = path.empty() ? nullptr : object.find(path);
    const Json* before = path.empty() ? nullptr : old.find(path);
    if ((now == nullptr) != (before == nullptr)) return path;
    const Json* spec = now == nullptr ? nullptr : now->member("spec");
    const Json* spec_before = before == nullptr ? nullptr : before->member("spec");
    if (spec != nullptr && spec_before != nullptr && asks_of(*spec) != asks_of(*spec_before))
      return path;
  }
  return {};
}

constexpr const char* kThroughNothing =
    "the pods of a StatefulSet that waits in a queue have their quota together: scale it to 0 "
    "first";

constexpr const char* kStillThere = "pods of its last run are there still";

void check_number(const Json& object, const Json& old, sluice::FieldErrors& errors) {
  const std::int64_t before = replicas_of(old), now = replicas_of(object);
  if (before == now || now == 0) return;
  if (before != 0)
    errors.forbidden(kReplicas, kThroughNothing);
  else if (old.int_or("status.replicas", 0) > 0)
    errors.forbidden(kReplicas, kStillThere);
}

const Maker* maker_of_part(const Json& pod) {
  const std::string kind = sluice::annotation_of(pod, kPartOf);
  const auto* found = std::find_if(kMakers.begin(), kMakers.end(), [&](const Maker& each) {
    return each.waits == Waits::kByReplica && each.kind == kind;
  });
  return found == kMakers.end() ? nullptr : found;
}

/// The number at the end of the name of a pod that is one of several.
std::string ordinal_of(std::string_view pod) {
  const std::string_view digits = pod.substr(pod.rfind('-') + 1);
  const bool number =
      !digits.empty() && digits.size() < pod.size() &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number ? std::string(digits) : std::string();
}

}  // namespace

std::vector<std::string> judged_makers(const Settings& settings) {
  std::vector<std::string> out;
  const std::string label(kQueue), except = except_words(settings);
  for (const Maker& maker : kMakers) {
    std::string kind(maker.group);
    kind.append("/").append(maker.kind).append(" resource:").append(maker.version).append("/");
    kind.append(maker.plural).append(except);
    out.push_back(kind + " label:" + label);
    out.push_back(kind + " label:!" + label + " if-answered");
    // Those that scale by groups or single pods may: each of these waits by itself.
    if (maker.waits != Waits::kTogether) continue;
    std::string scale = "autoscaling/Scale resource:";
    scale.append(maker.group).append("/").append(maker.version).append("/").append(maker.plural);
    out.push_back(scale + "/scale if-answered" + except);
  }
  return out;
}

bool is_maker(const sluice::Write& write) {
  return maker_of(write.api_version(), write.kind()) != nullptr;
}

std::optional<std::string> pass_on(const sluice::Write& write, const Settings& settings,
                                   const HasDefaultQueue& has_default_queue) {
  const Maker* maker = maker_of(write.api_version(), write.kind());
  if (maker == nullptr || write.operation() == sluice::Operation::kDelete) return std::nullopt;
  Json object = Json::parse(write.object());
  if (!settings.namespaces.cover(object.string_or("metadata.namespace", ""))) return std::nullopt;
  const std::string queue = queue_of(write, *maker, object, settings, has_default_queue);
  if (queue.empty()) return std::nullopt;
  object["metadata"]["labels"][kQueue] = queue;
  const Json old = write.old().empty() ? Json() : Json::parse(write.old());
  if (maker->waits == Waits::kTogether && !tells_by_template(*maker, old)) {
    hold_by_parent(*maker, object);
    return object.dump();
  }
  const bool groups = maker->waits != Waits::kEach;
  for (const std::string_view path : templates_of(*maker, object)) {
    Json& metadata = at(object, path)["metadata"];
    for (const std::string_view label : {kQueue, kPriorityClass, kMaxSeconds})
      if (const std::string value = sluice::label_of(object, label); !value.empty())
        metadata["labels"][label] = value;
    if (!groups) continue;
    metadata["annotations"][kTotal] = std::to_string(size_of(*maker, object));
    metadata["annotations"][kFast] = "true";
    metadata["annotations"][kServing] = "true";
  }
  if (maker->waits == Waits::kTogether) keep_group(*maker, object, old);
  if (maker->waits == Waits::kByReplica) make_groups(*maker, object);
  return object.dump();
}

void check_maker(const sluice::Write& write, sluice::FieldErrors& errors) {
  const Maker* maker = maker_of(write.api_version(), write.kind());
  if (maker == nullptr || write.operation() != sluice::Operation::kUpdate) return;
  const Json object = Json::parse(write.object()), old = Json::parse(write.old());
  const std::string queue = sluice::label_of(old, kQueue);
  if (queue.empty()) return;
  const std::string now = sluice::label_of(object, kQueue);
  const std::string path_of_queue = "metadata.labels[" + std::string(kQueue) + "]";
  if (now != queue && old.int_or("status.readyReplicas", 0) > 0)
    errors.invalid(path_of_queue, Json(now).dump(), "field is immutable while pods are ready");
  else if (now.empty() && maker->waits == Waits::kTogether)
    errors.invalid(path_of_queue, Json(now).dump(), "must name a queue: its pods wait there");
  if (maker->waits == Waits::kEach) return;
  if (const std::string_view path = changed_shape(*maker, object, old);
      !path.empty() && replicas_of(old) > 0 && replicas_of(object) > 0)
    errors.forbidden(path,
                     "groups that wait in a queue keep what they ask for: scale it to 0 first");
  if (maker->waits == Waits::kTogether) check_number(object, old, errors);
}

bool is_scale(const sluice::Write& write) { return write.kind() == "Scale"; }

void check_scale(const sluice::Write& write, const FindPods& find_pods,
                 sluice::FieldErrors& errors) {
  if (write.operation() != sluice::Operation::kUpdate) return;
  const Json scale = Json::parse(write.object()), old = Json::parse(write.old());
  const std::int64_t before = scale_of(old), now = scale_of(scale);
  const std::string selector = scale.string_or("status.selector", "");
  if (before == now || now == 0 || selector.empty()) return;
  const std::vector<Json> pods = find_pods(scale.string_or("metadata.namespace", ""), selector);
  const bool queued = std::any_of(pods.begin(), pods.end(), [](const Json& pod) {
    const Pod facts = pod_of(pod);
    return is_managed(pod) && facts.serving && facts.fast;
  });
  if (!queued) return;
  errors.forbidden(kReplicas, before != 0 ? kThroughNothing : kStillThere);
}

std::string whole_of_part(const Json& pod) {
  const Maker* maker = maker_of_part(pod);
  return maker == nullptr ? std::string() : sluice::label_of(pod, maker->name_label);
}

std::string group_of_part(const Json& pod) {
  const Maker* maker = maker_of_part(pod);
  if (maker == nullptr) return {};
  const std::string name = sluice::label_of(pod, maker->name_label);
  std::string replica = sluice::label_of(pod, maker->index_label);
  // Who gives it the label may be asked later than we are; the first pod is called by its replica.
  if (replica.empty()) replica = ordinal_of(pod.string_or("metadata.name", ""));
  if (name.empty() || replica.empty()) return {};
  return workload_name(maker->kind, maker->group, name + "-" + replica, "", kLongestLabel);
}

}  // namespace pods
