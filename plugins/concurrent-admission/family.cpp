#include "family.hpp"

#include <algorithm>
#include <charconv>

namespace options {
namespace {

using sluice::Json;
using State = Option::State;

constexpr std::string_view kOurs[] = {kParentMark,
                                      kRecord,
                                      kOption,
                                      kRank,
                                      kHeld,
                                      sluice::mark::kClaimedBy,
                                      sluice::mark::kTakesNoPart};

const Json* part(const Json& object, std::string_view a, std::string_view b) {
  const Json* found = object.member(a);
  return found == nullptr ? nullptr : found->member(b);
}

Json copy_of(const Json* value, Json otherwise) { return value != nullptr ? *value : otherwise; }

/// 0: it is none.
Nanoseconds time_in(const std::string& text) { return sluice::parse_time(text).value_or(0); }

std::string condition_text(const Json& workload, std::string_view type, std::string_view field) {
  const Json* found = sluice::find_condition(workload, type);
  return found == nullptr ? std::string() : found->string_or(field, "");
}

State state_of(const Json& option) {
  if (sluice::condition_is_true(option, "Finished")) return State::kFinished;
  if (!option.bool_or("spec.active", true)) return State::kInactive;
  if (sluice::condition_is_true(option, "Admitted")) return State::kAdmitted;
  return sluice::condition_is_true(option, "QuotaReserved") ? State::kReserved : State::kPending;
}

Placement placement_of(const Json& option) {
  Placement out;
  const Json* assigned = option.find("status.admission.podSetAssignments");
  if (assigned == nullptr) return out;
  for (const Json& each : assigned->items()) {
    PodSetPlace& place = out.emplace_back();
    if (const Json* flavors = each.member("flavors"))
      for (const auto& [resource, flavor] : flavors->members())
        if (flavor.is_string()) place.emplace_back(resource, flavor.as_string());
  }
  return out;
}

/// What is not said anew with each decision.
std::string message_of(const Json& option, const Option& read) {
  switch (read.state) {
    case State::kFinished:
      return condition_text(option, "Finished", "message");
    case State::kAdmitted:
      return "Admitted by ClusterQueue " + option.string_or("status.admission.clusterQueue", "");
    case State::kReserved:
      return "Waits for its admission checks";
    case State::kPending: {
      const std::string why = condition_text(option, "QuotaReserved", "message");
      return why.empty() ? "Waits for its turn" : why;
    }
    case State::kInactive:
      break;
  }
  const std::string why = condition_text(option, "Evicted", "message");
  return why.empty() ? "Its spec.active was set to false" : why;
}

}  // namespace

std::vector<std::string> allowed_flavors(const Json& workload) {
  std::vector<std::string> out;
  if (const Json* list = workload.find("spec.admissionConstraints.allowedResourceFlavors"))
    for (const Json& each : list->items()) out.push_back(each.as_string());
  return out;
}

Record read_record(const Json& parent) {
  Record out;
  out.since = time_in(parent.string_or("metadata.creationTimestamp", ""));
  const std::string text = sluice::annotation_of(parent, kRecord);
  if (text.empty()) return out;
  try {
    const Json json = Json::parse(text);
    out.since = json.int_or("since", out.since);
    if (const Json* first = json.member("first"))
      for (const Json& each : first->items())
        out.first.emplace_back(each.string_or("option", ""), each.int_or("at", 0));
    out.admitted = json.string_or("admitted", "");
    out.preempts = json.string_or("preempts", "");
    out.off = json.bool_or("off", false);
  } catch (const sluice::JsonError&) {
    return out;  // unreadable: it begins anew
  }
  return out;
}

std::string write_record(const Record& record) {
  Json out = Json::object();
  out["since"] = Json(record.since);
  if (!record.first.empty()) {
    out["first"] = Json::array();
    for (const auto& [option, at] : record.first) {
      Json entry = Json::object();
      entry["option"] = Json(option);
      entry["at"] = Json(at);
      out["first"].push_back(entry);
    }
  }
  if (!record.admitted.empty()) out["admitted"] = Json(record.admitted);
  if (!record.preempts.empty()) out["preempts"] = Json(record.preempts);
  if (record.off) out["off"] = Json(true);
  return out.dump();
}

Option read_option(const Json& option, const Json& parent) {
  Option out;
  out.name = option.string_or("metadata.name", "");
  out.spec_name = sluice::annotation_of(option, kOption);
  out.flavors = allowed_flavors(option);
  const std::string rank = sluice::annotation_of(option, kRank);
  std::from_chars(rank.data(), rank.data() + rank.size(), out.rank);
  out.state = state_of(option);
  out.held = sluice::annotation_of(option, kHeld);
  if (sluice::condition_is_true(option, "Evicted"))
    out.evicted = condition_text(option, "Evicted", "reason");
  if (sluice::condition_is_true(option, "Preempted"))
    out.preempted_at = time_in(condition_text(option, "Preempted", "lastTransitionTime"));
  out.waits_for_victims =
      condition_text(option, "QuotaReserved", "reason") == "WaitingForPreemptedWorkloads";
  const Json* own = part(option, "spec", "podSets");
  const Json* wanted = part(parent, "spec", "podSets");
  out.outdated = own == nullptr || wanted == nullptr || !(*own == *wanted) ||
                 option.string_or("spec.queueName", "") != parent.string_or("spec.queueName", "");
  if (out.state == State::kReserved || out.state == State::kAdmitted)
    out.placement = placement_of(option);
  out.message = message_of(option, out);
  return out;
}

Json make_option(const Json& parent, const Creation& creation) {
  Json out = Json::object();
  out["apiVersion"] = Json(kApi);
  out["kind"] = Json("Workload");
  Json& metadata = out["metadata"];
  metadata["name"] = Json(creation.name);
  metadata["namespace"] = Json(parent.string_or("metadata.namespace", ""));
  if (const Json* labels = part(parent, "metadata", "labels")) metadata["labels"] = *labels;
  Json annotations = copy_of(part(parent, "metadata", "annotations"), Json::object());
  for (const std::string_view ours : kOurs) annotations.erase(ours);
  annotations[kOption] = Json(creation.spec.name);
  annotations[kRank] = Json(std::to_string(creation.rank));
  if (!creation.held.empty()) annotations[kHeld] = Json(creation.held);
  metadata["annotations"] = std::move(annotations);
  Json owner = Json::object();
  owner["apiVersion"] = Json(kApi);
  owner["kind"] = Json("Workload");
  owner["name"] = Json(parent.string_or("metadata.name", ""));
  owner["uid"] = Json(parent.string_or("metadata.uid", ""));
  owner["controller"] = Json(true);
  owner["blockOwnerDeletion"] = Json(true);
  metadata["ownerReferences"].push_back(owner);
  out["spec"] = copy_of(parent.member("spec"), Json::object());
  out["spec"]["active"] = Json(creation.held.empty());
  Json flavors = Json::array();
  for (const std::string& flavor : creation.spec.flavors) flavors.push_back(Json(flavor));
  out["spec"]["admissionConstraints"] = Json::object();
  out["spec"]["admissionConstraints"]["allowedResourceFlavors"] = std::move(flavors);
  return out;
}

Json inherited_spec(const Json& parent, const Json& option) {
  Json out = Json::object();
  for (const std::string_view field : {"priority", "priorityClassRef"}) {
    const Json* wanted = part(parent, "spec", field);
    const Json* own = part(option, "spec", field);
    if (wanted != nullptr && (own == nullptr || !(*own == *wanted))) out[field] = *wanted;
    if (wanted == nullptr && own != nullptr) out[field] = Json();
  }
  return out;
}

Json told_options(const Json& parent, const Plan& plan, Nanoseconds now) {
  if (plan.status.empty() || (plan.collapse && plan.record.admitted.empty())) return {};
  const Json* before = part(parent, "status", "options");
  Json list = Json::array();
  for (const OptionStatus& each : plan.status) {
    Json entry = Json::object();
    entry["name"] = Json(each.name);
    entry["resourceFlavors"] = Json::array();
    for (const std::string& flavor : each.flavors) entry["resourceFlavors"].push_back(Json(flavor));
    entry["state"] = Json(each.state);
    entry["message"] = Json(each.message.substr(0, 32768));
    entry["lastTransitionTime"] = Json(sluice::time_text(now));
    if (before != nullptr)
      for (const Json& old : before->items())
        if (old.string_or("name", "") == each.name && old.string_or("state", "") == each.state)
          entry["lastTransitionTime"] = Json(old.string_or("lastTransitionTime", ""));
    list.push_back(entry);
  }
  if (before != nullptr && *before == list) return *before;
  return list;
}

}  // namespace options
