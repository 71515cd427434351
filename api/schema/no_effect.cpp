#include "api/schema/no_effect.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "api/json/parts.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace sluice::api {
namespace {

namespace json = boost::json;

constexpr std::string_view kQueueGroup = "kueue.x-k8s.io";
constexpr std::string_view kRequired = "kueue.x-k8s.io/podset-required-topology";
constexpr std::string_view kSliceRequired = "kueue.x-k8s.io/podset-slice-required-topology";
constexpr std::string_view kSliceConstraints =
    "kueue.x-k8s.io/podset-slice-required-topology-constraints";

struct NoEffect {
  std::string_view group, kind;
  std::string_view path;  ///< `[]`: each item of a list; a last step with dots stands in brackets
  std::string_view why;
};

constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

constexpr std::string_view kPlaces = "pods are not placed by topology";
constexpr std::string_view kOrder =
    "past use does not decide about the order: priority and time do";
constexpr std::string_view kWaits = "the workload waits, since the demand could not be kept";

constexpr std::array kFields = {
    NoEffect{kQueueGroup, "ResourceFlavor", "spec.topologyName", kPlaces},
    NoEffect{kQueueGroup, "ClusterQueue", "spec.admissionScope", kOrder},
    NoEffect{kQueueGroup, "LocalQueue", "spec.fairSharing", kOrder},
    NoEffect{kQueueGroup, "Workload", "spec.podSets[].topologyRequest.required", kWaits},
    NoEffect{kQueueGroup, "Workload", "spec.podSets[].topologyRequest.preferred", kPlaces},
    NoEffect{kQueueGroup, "Workload", "spec.podSets[].topologyRequest.unconstrained", kPlaces},
    NoEffect{kQueueGroup, "Workload", "spec.podSets[].topologyRequest.podSetSliceRequiredTopology",
             kWaits},
    NoEffect{kQueueGroup, "Workload",
             "spec.podSets[].topologyRequest.podsetSliceRequiredTopologyConstraints", kWaits},
    NoEffect{kQueueGroup, "Workload", "spec.preemptionGates", kWaits},
};

/// Names on the object itself.
constexpr std::array kNames = {
    NoEffect{kQueueGroup, "Workload", "kueue.x-k8s.io/priority-boost",
             "the priority is that of spec.priority"},
};

/// Names on pod templates.
constexpr std::array kTemplateNames = {
    NoEffect{"", "", kRequired, kWaits},
    NoEffect{"", "", kSliceRequired, kWaits},
    NoEffect{"", "", kSliceConstraints, kWaits},
    NoEffect{"", "", "kueue.x-k8s.io/podset-preferred-topology", kPlaces},
    NoEffect{"", "", "kueue.x-k8s.io/podset-unconstrained-topology", kPlaces},
    NoEffect{"", "", "kueue.x-k8s.io/safe-to-forcefully-delete",
             "pods end within their grace period"},
};

bool is_given(const json::value* value) {
  if (!value || value->is_null()) return false;
  if (const auto* list = value->if_array()) return !list->empty();
  if (const auto* flag = value->if_bool()) return *flag;
  return true;
}

/// Is there anything at this path, in any item of the lists on the way?
bool has_at(const json::object& object, std::string_view path) {
  const std::size_t end = path.find_first_of(".[");
  const json::value* value = find(object, path.substr(0, end));
  if (end == path.npos) return is_given(value);
  if (path[end] == '.') {
    const json::object* next = value ? value->if_object() : nullptr;
    return next && has_at(*next, path.substr(end + 1));
  }
  const json::array* list = value ? value->if_array() : nullptr;
  for (std::size_t i = 0; list && i < list->size(); ++i)
    if (const auto* next = (*list)[i].if_object(); next && has_at(*next, path.substr(end + 3)))
      return true;
  return false;
}

/// Calls `f(where, pod template)` for each pod template of a kind that has some. `where` is the
/// list, with the number of the entry behind it.
template <typename F>
void each_template(std::string_view kind, const json::object& object, F&& f) {
  const json::object& spec = find_part(object, "spec");
  const auto add = [&](const json::object& holder, std::string_view where, std::size_t i) {
    if (const json::object* pod = find_object(holder, "template")) f(where, i, *pod);
  };
  if (kind == "Job") return add(spec, "spec", kNoIndex);
  if (kind == "RayCluster") add(find_part(spec, "headGroupSpec"), "spec.headGroupSpec", kNoIndex);
  const bool workload = kind == "Workload";
  const json::array* groups = find_array(spec, workload ? "podSets" : "workerGroupSpecs");
  for (std::size_t i = 0; groups && i < groups->size(); ++i)
    if (const auto* group = (*groups)[i].if_object())
      add(*group, workload ? "spec.podSets" : "spec.workerGroupSpecs", i);
}

bool claims_devices(const json::object& pod) {
  const json::object& spec = find_part(pod, "spec");
  return has_at(spec, "resourceClaims") || has_at(spec, "containers[].resources.claims") ||
         has_at(spec, "initContainers[].resources.claims");
}

std::string advice_of(std::string_view path, std::string_view why) {
  return std::string(path) + ": has no effect: " + std::string(why);
}

void advise_template(const std::string& where, const json::object& pod,
                     std::vector<std::string>& out) {
  const json::object& annotations = find_part(find_part(pod, "metadata"), "annotations");
  for (const NoEffect& name : kTemplateNames)
    if (find(annotations, name.path))
      out.push_back(
          advice_of(where + ".metadata.annotations[" + std::string(name.path) + "]", name.why));
  if (claims_devices(pod))
    out.push_back(advice_of(where + ".spec: resource claims",
                            "devices that are claimed are not counted; the workload waits"));
}

}  // namespace

std::vector<std::string> without_effect(std::string_view group, std::string_view kind,
                                        const json::object& object,
                                        std::span<const std::string> effective) {
  std::vector<std::string> out;
  const auto means_nothing = [&](std::string_view path) {
    return std::find(effective.begin(), effective.end(), path) == effective.end();
  };
  for (const NoEffect& field : kFields)
    if (field.kind == kind && field.group == group && means_nothing(field.path) &&
        has_at(object, field.path))
      out.push_back(advice_of(field.path, field.why));
  const json::object& annotations = find_part(find_part(object, "metadata"), "annotations");
  for (const NoEffect& name : kNames)
    if (name.kind == kind && name.group == group && find(annotations, name.path))
      out.push_back(advice_of("metadata.annotations[" + std::string(name.path) + "]", name.why));
  const bool of_pods = (kind == "Workload" && group == kQueueGroup) ||
                       (kind == "Job" && group == "batch") ||
                       (kind == "RayCluster" && group == "ray.io");
  if (!of_pods) return out;
  each_template(kind, object, [&](std::string_view where, std::size_t i, const json::object& pod) {
    std::string place(where);
    if (i != kNoIndex) place += "[" + std::to_string(i) + "]";
    advise_template(place + ".template", pod, out);
  });
  return out;
}

namespace {

std::string_view gates_of(const json::object& workload) {
  return find_text(find_part(find_part(workload, "metadata"), "annotations"), kGatedBy);
}

std::set<std::string_view> gate_names(const json::object& object) {
  std::set<std::string_view> out;
  for (const std::string_view piece : split(gates_of(object), ','))
    if (const auto name = trim(piece, " "); !name.empty()) out.insert(name);
  return out;
}

constexpr std::size_t kLongestShown = 32'000;  // a condition's message has room for it

}  // namespace

bool is_gated(const json::object& workload) { return !gates_of(workload).empty(); }

std::optional<Problem> late_gate(const json::object& before, const json::object& after) {
  const auto had = gate_names(before), has = gate_names(after);
  if (std::includes(had.begin(), had.end(), has.begin(), has.end())) return std::nullopt;
  return Problem{Problem::Kind::kForbidden, "metadata.annotations[" + std::string(kGatedBy) + "]",
                 "Forbidden: gates may be added only when the object is created"};
}

std::string gates_left(const json::object& workload, const json::object& job) {
  const auto has = gate_names(workload), wanted = gate_names(job);
  std::string out;
  std::size_t left = 0;
  for (const std::string_view name : has) {
    if (!wanted.contains(name)) continue;
    out.append(left++ == 0 ? "" : ",").append(name);
  }
  return left == has.size() ? std::string(gates_of(workload)) : out;
}

std::string held_because(const json::object& workload) {
  const std::string_view gates = gates_of(workload);
  if (!gates.empty())
    return "Admission is gated by: " + std::string(cut_utf8(gates, kLongestShown));
  const json::object& spec = find_part(workload, "spec");
  if (has_at(spec, "preemptionGates"))
    return "It has spec.preemptionGates, which nobody here opens";
  bool is_placed = false;
  for_each_object(spec, "podSets", [&](const json::object& pod_set) {
    const json::object* topology = find_object(pod_set, "topologyRequest");
    is_placed |=
        topology != nullptr &&
        (has_at(*topology, "required") || has_at(*topology, "podSetSliceRequiredTopology") ||
         has_at(*topology, "podsetSliceRequiredTopologyConstraints"));
  });
  if (!is_placed) return {};
  return "It requires a topology (topologyRequest), and pods are not placed by topology here";
}

std::string unmet_by_pods(const json::object& pod_template) {
  const json::object& annotations = find_part(find_part(pod_template, "metadata"), "annotations");
  for (const std::string_view name : {kRequired, kSliceRequired, kSliceConstraints})
    if (find(annotations, name))
      return "It requires a topology (annotation " + std::string(name) +
             "), and pods are not placed by topology here";
  if (!claims_devices(pod_template)) return {};
  return "It claims devices (resource claims), which are not counted here: to admit it could hand "
         "out more than there is";
}

}  // namespace sluice::api
