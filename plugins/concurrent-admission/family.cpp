#include "family.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace options {
namespace {

using sluice::Json;
using State = Option::State;

constexpr std::string_view kOurs[] = {kParentMark,
                                      kRecord,
                                      kOption,
                                      kRank,
                                      kHeld,
                                      "sluice.dev/claimed-by",
                                      "sluice.dev/takes-no-part"};

const Json* part(const Json& object, std::string_view a, std::string_view b) {
  const Json* found = object.member(a);
  return found == nullptr ? nullptr : found->member(b);
}

Json copy_of(const Json* value, Json otherwise) { return value != nullptr ? *value : otherwise; }

int digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  if (at + count > text.size()) return -1;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + count, value);
  return error == std::errc() && end == text.data() + at + count ? value : -1;
}

std::string condition_text(const Json& workload, std::string_view type, std::string_view field) {
  const Json* found = condition(workload, type);
  return found == nullptr ? std::string() : found->string_or(field, "");
}

/// Replaces or adds the condition; the time changes with the status only.
void set_condition(Json& list, std::string_view type, bool value, std::string_view reason,
                   std::string_view message, Nanoseconds now) {
  Json fresh = Json::object();
  fresh["type"] = Json(type);
  fresh["status"] = Json(value ? "True" : "False");
  fresh["reason"] = Json(reason);
  fresh["message"] = Json(message);
  fresh["lastTransitionTime"] = Json(time_text(now));
  Json out = Json::array();
  bool found = false;
  for (const Json& each : list.items()) {
    if (each.string_or("type", "") != type) {
      out.push_back(each);
      continue;
    }
    found = true;
    if (each.string_or("status", "") == fresh.string_or("status", ""))
      fresh["lastTransitionTime"] = Json(each.string_or("lastTransitionTime", ""));
    out.push_back(fresh);
  }
  if (!found) out.push_back(fresh);
  list = std::move(out);
}

void count_eviction(Json& status, std::string_view reason) {
  constexpr std::string_view kDueTo = "DeactivatedDueTo";
  const bool due = reason.starts_with(kDueTo);
  const std::string why(due ? std::string_view("Deactivated") : reason);
  const std::string cause(due ? reason.substr(kDueTo.size()) : std::string_view());
  Json list = Json::array();
  bool found = false;
  if (const Json* before = status.find("schedulingStats.evictions"))
    for (Json each : before->items()) {
      if (each.string_or("reason", "") == why && each.string_or("underlyingCause", "") == cause) {
        each["count"] = Json(each.int_or("count", 0) + 1);
        found = true;
      }
      list.push_back(each);
    }
  if (!found) {
    Json fresh = Json::object();
    fresh["reason"] = Json(why);
    fresh["underlyingCause"] = Json(cause);
    fresh["count"] = Json(1);
    list.push_back(fresh);
  }
  status["schedulingStats"]["evictions"] = std::move(list);
}

State state_of(const Json& option) {
  if (is_true(option, "Finished")) return State::kFinished;
  if (!option.bool_or("spec.active", true)) return State::kInactive;
  if (is_true(option, "Admitted")) return State::kAdmitted;
  return is_true(option, "QuotaReserved") ? State::kReserved : State::kPending;
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

void write_options(Json& status, const Plan& plan, Nanoseconds now) {
  const Json before = copy_of(status.member("options"), Json::array());
  Json list = Json::array();
  for (const OptionStatus& each : plan.status) {
    Json entry = Json::object();
    entry["name"] = Json(each.name);
    entry["resourceFlavors"] = Json::array();
    for (const std::string& flavor : each.flavors) entry["resourceFlavors"].push_back(Json(flavor));
    entry["state"] = Json(each.state);
    entry["message"] = Json(each.message.substr(0, 32768));
    entry["lastTransitionTime"] = Json(time_text(now));
    for (const Json& old : before.items())
      if (old.string_or("name", "") == each.name && old.string_or("state", "") == each.state)
        entry["lastTransitionTime"] = Json(old.string_or("lastTransitionTime", ""));
    list.push_back(entry);
  }
  if (list.size() > 0)
    status["options"] = std::move(list);
  else
    status.erase("options");
}

void write_admitted(Json& status, Json& conditions, const Plan& plan, const Json& option,
                    Nanoseconds now) {
  const std::string queue = option.string_or("status.admission.clusterQueue", "");
  set_condition(conditions, "QuotaReserved", true, "QuotaReserved",
                "Quota reserved in ClusterQueue " + queue, now);
  set_condition(conditions, "Admitted", true, "Admitted",
                "The option " + plan.record.admitted + " is admitted", now);
  for (const std::string_view type : {"Evicted", "Preempted"})
    for (const Json& each : std::vector<Json>(conditions.items()))
      if (each.string_or("type", "") == type && each.string_or("status", "") == "True")
        set_condition(conditions, type, false, "QuotaReserved",
                      "Previously: " + each.string_or("message", ""), now);
  for (const std::string_view field : {"admission", "admissionChecks"}) {
    const Json* value = part(option, "status", field);
    if (value != nullptr)
      status[field] = *value;
    else
      status.erase(field);
  }
}

std::string waiting_message(const Plan& plan) {
  std::string out = "None of its options is admitted:";
  for (const OptionStatus& each : plan.status)
    out += (&each == &plan.status.front() ? " " : ", ") + each.name + " (" + each.state + ")";
  if (!plan.status.empty()) return out;
  return plan.no_option.empty() ? "It has no option yet" : plan.no_option;
}

void write_waiting(Json& status, Json& conditions, const Json& parent, const Plan& plan,
                   const Json* lost, Nanoseconds now) {
  const bool active = parent.bool_or("spec.active", true) && plan.rejected.empty();
  std::string why = waiting_message(plan);
  if (!plan.rejected.empty()) why = plan.rejected;
  if (!plan.lost.empty()) {
    std::string message =
        lost != nullptr ? condition_text(*lost, "Evicted", "message") : std::string();
    if (message.empty()) message = "The option " + plan.lost + " is gone";
    set_condition(conditions, "Evicted", true, plan.lost_reason, message, now);
    if (lost != nullptr && is_true(*lost, "Preempted"))
      set_condition(conditions, "Preempted", true, condition_text(*lost, "Preempted", "reason"),
                    message, now);
    set_condition(conditions, "Admitted", false, "NoReservation", "The workload has no reservation",
                  now);
    for (const Json& each : std::vector<Json>(conditions.items()))
      if (each.string_or("type", "") == "PodsReady" && each.string_or("status", "") == "True")
        set_condition(conditions, "PodsReady", false, "WaitForStart",
                      "Not all pods are ready or succeeded", now);
    count_eviction(status, plan.lost_reason);
  }
  if (!plan.rejected.empty() && plan.lost.empty())
    set_condition(conditions, "Evicted", true, "DeactivatedDueToAdmissionCheck", plan.rejected,
                  now);
  if (plan.rejected.empty() && !parent.bool_or("spec.active", true)) {
    why = "The workload is deactivated";
    if (condition(parent, "Evicted") != nullptr && is_true(parent, "Evicted") && plan.lost.empty())
      why = condition_text(parent, "QuotaReserved", "message");
  }
  set_condition(conditions, "QuotaReserved", false, active ? "Pending" : "Deactivated", why, now);
  status.erase("admission");
  status.erase("admissionChecks");
}

}  // namespace

std::string annotation(const Json& object, std::string_view name) {
  const Json* all = part(object, "metadata", "annotations");
  const Json* found = all == nullptr ? nullptr : all->member(name);
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

const Json* condition(const Json& workload, std::string_view type) {
  const Json* list = part(workload, "status", "conditions");
  if (list == nullptr) return nullptr;
  for (const Json& each : list->items())
    if (each.string_or("type", "") == type) return &each;
  return nullptr;
}

bool is_true(const Json& workload, std::string_view type) {
  return condition_text(workload, type, "status") == "True";
}

Nanoseconds time_of(std::string_view text) {
  using namespace std::chrono;
  const int y = digits(text, 0, 4);
  const int mo = digits(text, 5, 2);
  const int d = digits(text, 8, 2);
  const int h = digits(text, 11, 2);
  const int mi = digits(text, 14, 2);
  const int s = digits(text, 17, 2);
  if (y < 0 || mo < 1 || d < 1 || h < 0 || mi < 0 || s < 0) return 0;
  const sys_days day{year{y} / month{static_cast<unsigned>(mo)} /
                     std::chrono::day{static_cast<unsigned>(d)}};
  Nanoseconds out = duration_cast<nanoseconds>(day.time_since_epoch()).count() +
                    (Nanoseconds{h} * 3600 + mi * 60 + s) * kSecondNs;
  if (text.size() > 20 && text[19] == '.') {
    Nanoseconds unit = kSecondNs / 10;
    for (std::size_t i = 20; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i, unit /= 10)
      out += (text[i] - '0') * unit;
  }
  return out;
}

std::vector<std::string> allowed_flavors(const Json& workload) {
  std::vector<std::string> out;
  if (const Json* list = workload.find("spec.admissionConstraints.allowedResourceFlavors"))
    for (const Json& each : list->items()) out.push_back(each.as_string());
  return out;
}

Record read_record(const Json& parent) {
  Record out;
  out.since = time_of(parent.string_or("metadata.creationTimestamp", ""));
  const std::string text = annotation(parent, kRecord);
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
    return out;  // somebody wrote nonsense there: it begins anew
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
  out.spec_name = annotation(option, kOption);
  out.flavors = allowed_flavors(option);
  const std::string rank = annotation(option, kRank);
  std::from_chars(rank.data(), rank.data() + rank.size(), out.rank);
  out.state = state_of(option);
  out.held = annotation(option, kHeld);
  if (is_true(option, "Evicted")) out.evicted = condition_text(option, "Evicted", "reason");
  if (is_true(option, "Preempted"))
    out.preempted_at = time_of(condition_text(option, "Preempted", "lastTransitionTime"));
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

Json inherited_status(const Json& parent, const Json& option) {
  Json out = Json::object();
  if (!is_true(option, "Admitted")) return out;
  const Json* given_back = part(parent, "status", "reclaimablePods");
  const Json* known = part(option, "status", "reclaimablePods");
  if (given_back != nullptr && (known == nullptr || !(*known == *given_back)))
    out["reclaimablePods"] = *given_back;
  const Json* ready = condition(parent, "PodsReady");
  if (ready == nullptr) return out;
  const Json* own = condition(option, "PodsReady");
  if (own != nullptr && own->string_or("status", "") == ready->string_or("status", "") &&
      own->string_or("reason", "") == ready->string_or("reason", ""))
    return out;
  // Before it ever ran there is nothing to tell.
  if (own == nullptr && ready->string_or("status", "") != "True") return out;
  Json list = Json::array();
  if (const Json* conditions = part(option, "status", "conditions"))
    for (const Json& each : conditions->items())
      if (each.string_or("type", "") != "PodsReady") list.push_back(each);
  list.push_back(*ready);
  out["conditions"] = std::move(list);
  return out;
}

Json parent_status(const Json& parent, const Plan& plan, const Json* admitted, const Json* lost,
                   Nanoseconds now) {
  Json status = copy_of(parent.member("status"), Json::object());
  Json conditions = copy_of(status.member("conditions"), Json::array());
  if (plan.collapse && admitted == nullptr) {
    if (!plan.lost.empty()) write_waiting(status, conditions, parent, plan, lost, now);
    status.erase("options");
  } else if (is_true(parent, "Finished") ||
             !plan.ended_with.empty()) {  // where it ran stays to be seen
    write_options(status, plan, now);
  } else if (admitted != nullptr) {
    if (!plan.migrated_from.empty()) {
      count_eviction(status, kMigration);
      for (const Json& each : std::vector<Json>(conditions.items()))
        if (each.string_or("type", "") == "PodsReady" && each.string_or("status", "") == "True")
          set_condition(conditions, "PodsReady", false, "WaitForStart",
                        "Not all pods are ready or succeeded", now);
    }
    write_options(status, plan, now);
    write_admitted(status, conditions, plan, *admitted, now);
  } else {
    write_options(status, plan, now);
    write_waiting(status, conditions, parent, plan, lost, now);
  }
  if (!plan.ended_with.empty())
    set_condition(conditions, "Finished", true, "Succeeded",
                  "The option " + plan.ended_with + " finished", now);
  status["conditions"] = std::move(conditions);
  return status;
}

Json difference(const Json& before, const Json& after) {
  Json out = Json::object();
  for (const auto& [name, value] : after.members()) {
    const Json* old = before.member(name);
    if (old != nullptr && *old == value) continue;
    if (old != nullptr && old->is_object() && value.is_object())
      out[name] = difference(*old, value);
    else
      out[name] = value;
  }
  for (const auto& [name, value] : before.members())
    if (after.member(name) == nullptr) out[name] = Json();
  return out;
}

}  // namespace options
