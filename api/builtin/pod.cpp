// Pod: defaults, checks, and the few things that an update may change.
#include "api/builtin/builtin.hpp"
#include "api/builtin/rules.hpp"
#include "api/schema/rules.hpp"

namespace sluice::api::builtin {

namespace json = boost::json;

namespace {

/// A limit without a request asks for as much.
void request_what_is_limited(json::object& container) {
  json::object* resources = find_object(container, "resources");
  const json::object* limits = resources != nullptr ? find_object(*resources, "limits") : nullptr;
  if (limits == nullptr) return;
  const json::object copy = *limits;  // adding members moves the others
  json::value& requests = (*resources)["requests"];
  if (!requests.is_object()) requests.emplace_object();
  for (const auto& member : copy) {
    requests.get_object().emplace(member.key(), member.value());
  }
}

/// The spec with everything taken out that an update may change.
json::object frozen(const json::object& pod, bool gated) {
  json::object spec = part(pod, "spec");
  for (const char* field : {"activeDeadlineSeconds", "tolerations", "schedulingGates",
                            "terminationGracePeriodSeconds", "ephemeralContainers", "nodeName"}) {
    spec.erase(field);
  }
  if (gated) {
    spec.erase("nodeSelector");
    spec.erase("affinity");
  }
  for (const char* list : {"containers", "initContainers"}) {
    for_objects(spec, list, [](std::size_t, json::object& container) {
      container.erase("image");
      container.erase("imagePullPolicy");  // follows the image
    });
  }
  return spec;
}

void check_tolerations_kept(const json::object& spec, const json::object& before,
                            Outcome& outcome) {
  const json::array* old = find_array(before, "tolerations");
  if (old == nullptr || old->empty() || same(spec, before, "tolerations")) return;
  const EntrySet now(find_array(spec, "tolerations"));
  for (const auto& each : *old) {
    if (now.contains(each)) continue;
    add_forbidden(outcome, "spec.tolerations", "existing tolerations cannot be changed or removed");
    return;
  }
}

void check_gates(const json::object& spec, const json::object& before, Outcome& outcome) {
  const EntrySet old(find_array(before, "schedulingGates"));
  for_objects(spec, "schedulingGates", [&](std::size_t i, const json::object& gate) {
    if (old.contains(json::value(gate))) return;
    add_forbidden(outcome, indexed("spec.schedulingGates", i),
                  "gates can be removed from a pod that exists, not added");
  });
}

void check_node_selector_kept(const json::object& spec, const json::object& before,
                              Outcome& outcome) {
  for (const auto& member : part(before, "nodeSelector")) {
    const json::value* value = find(part(spec, "nodeSelector"), view(member.key()));
    if (value != nullptr && *value == member.value()) continue;
    add_invalid(outcome, "spec.nodeSelector", json::value(part(spec, "nodeSelector")),
                "only additions are allowed (no changes or deletions)");
    return;
  }
}

void check_pod_update(const json::object& pod, const json::object& old, Outcome& outcome) {
  const json::object& spec = part(pod, "spec");
  const json::object& before = part(old, "spec");
  const bool gated = has_scheduling_gates(before);
  if (const auto node = find_text(before, "nodeName");
      !node.empty() && node != find_text(spec, "nodeName")) {
    add_forbidden(outcome, "spec.nodeName", "a pod that has a node keeps it");
  }
  if (gated && !find_text(spec, "nodeName").empty()) {
    add_forbidden(outcome, "spec.nodeName",
                  "a pod with scheduling gates cannot be bound to a node");
  }
  check_tolerations_kept(spec, before, outcome);
  check_gates(spec, before, outcome);
  if (gated) check_node_selector_kept(spec, before, outcome);
  const auto deadline = find_int(spec, "activeDeadlineSeconds");
  const auto old_deadline = find_int(before, "activeDeadlineSeconds");
  if (old_deadline && (!deadline || *deadline > *old_deadline)) {
    const json::value shown = deadline ? json::value(*deadline) : json::value();
    add_invalid(
        outcome, "spec.activeDeadlineSeconds", shown,
        "can only be lowered: must be less than or equal to " + std::to_string(*old_deadline));
  }
  if (frozen(pod, gated) != frozen(old, gated)) {
    add_forbidden(outcome, "spec",
                  "of a pod that exists only `spec.containers[*].image`, "
                  "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds` and "
                  "`spec.tolerations` (additions) can be changed");
  }
}

}  // namespace

void fill_in_pod(json::object& pod) {
  json::object* spec = find_object(pod, "spec");
  if (spec == nullptr) return;
  if (find(*spec, "enableServiceLinks") == nullptr) (*spec)["enableServiceLinks"] = true;
  fill_in_pod_spec(*spec);
  for (const char* list : {"containers", "initContainers"}) {
    for_objects(*spec, list,
                [](std::size_t, json::object& container) { request_what_is_limited(container); });
  }
}

void check_pod(const json::object& pod, const json::object* old, Outcome& outcome) {
  const json::object& spec = part(pod, "spec");
  check_pod_spec(spec, "spec", outcome);
  if (old != nullptr) return check_pod_update(pod, *old, outcome);
  check_new_pod_spec(spec, "spec", outcome);
  if (has_scheduling_gates(spec) && !find_text(spec, "nodeName").empty())
    add_forbidden(outcome, "spec.nodeName", "cannot be set while there are scheduling gates");
}

}  // namespace sluice::api::builtin

bool sluice::api::has_scheduling_gates(const boost::json::object& pod_spec) {
  const boost::json::array* gates = find_array(pod_spec, "schedulingGates");
  return gates != nullptr && !gates->empty();
}
