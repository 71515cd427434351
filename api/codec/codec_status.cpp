// The status of a workload, written as text over the one before.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <span>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "api/json/json_members.hpp"
#include "api/json/json_text.hpp"
#include "core/base/time.hpp"

namespace sluice::api {
namespace {

using Keys = std::span<const std::string_view>;

bool is_in(Keys keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// Whether the value that JSON writes so is this text.
bool is_text(std::string_view value, std::string_view text) {
  std::string scratch;
  return scalar_text(value, scratch) == text;
}

/// The members of the object `before` that are not written from the struct.
void keep_others(std::string_view before, Keys written, JsonMembers& out) {
  each_member(before, [&](std::string_view key, std::string_view value) {
    if (!is_in(written, key)) out.document(key, value);
    return true;
  });
}

/// The first entry of the list whose name it is; empty: none.
std::string_view entry_named(std::string_view list, std::string_view name) {
  std::string_view found;
  each_element(list, [&](std::string_view entry) {
    if (found.empty() && is_text(member_text(entry, "name"), name)) found = entry;
  });
  return found;
}

/// The parts of an older status of which something may be kept, and one of its conditions, as JSON
/// writes them.
struct Before {
  std::string_view conditions, checks, admission;
};

struct OldCondition {
  std::string_view whole, type, status, reason, message, observed_generation;
};

Before parts_of(std::string_view status) {
  Before out;
  each_member(status, [&out](std::string_view key, std::string_view value) {
    if (key == "conditions") out.conditions = value;
    if (key == "admissionChecks") out.checks = value;
    if (key == "admission") out.admission = value;
    return true;
  });
  return out;
}

OldCondition old_condition(std::string_view text) {
  OldCondition out{.whole = text};
  each_member(text, [&out](std::string_view key, std::string_view value) {
    if (key == "type") out.type = value;
    if (key == "status") out.status = value;
    if (key == "reason") out.reason = value;
    if (key == "message") out.message = value;
    if (key == "observedGeneration") out.observed_generation = value;
    return true;
  });
  return out;
}

bool says_the_same(const OldCondition& old, const Condition& now) {
  return is_text(old.type, now.type) && is_text(old.status, now.status) &&
         is_text(old.reason, now.reason) && is_text(old.message, now.message);
}

/// Of a condition that still says the same, also the generation that its writer had seen is kept.
void write_condition(const Condition& condition, std::span<const OldCondition> before,
                     JsonMembers& out) {
  out.text("type", condition.type).text("status", condition.status);
  out.text("reason", condition.reason).text("message", condition.message);
  out.text("lastTransitionTime", format_time(condition.last_transition_time));
  const auto same = std::find_if(before.begin(), before.end(), [&](const OldCondition& old) {
    return !old.observed_generation.empty() && says_the_same(old, condition);
  });
  if (same != before.end())
    out.document("observedGeneration", same->observed_generation);
  else if (condition.observed_generation != 0)
    out.number("observedGeneration", condition.observed_generation);
}

/// Conditions that others wrote stay as they are, behind ours.
void write_conditions(const std::vector<Condition>& conditions, std::string_view before,
                      JsonMembers& out) {
  static constexpr std::string_view kOurs[] = {"QuotaReserved", "Admitted",          "Evicted",
                                               "Preempted",     "Requeued",          "PodsReady",
                                               "Finished",      "DeactivationTarget"};
  std::vector<OldCondition> ours;
  std::vector<std::string_view> others;
  each_element(before, [&](std::string_view text) {
    const OldCondition old = old_condition(text);
    std::string scratch;
    if (is_in(kOurs, scalar_text(old.type, scratch)))
      ours.push_back(old);
    else if (text.starts_with('{'))
      others.push_back(text);
  });
  if (conditions.empty() && others.empty()) return;
  out.list("conditions", [&] {
    for (const Condition& each : conditions) out.entry([&] { write_condition(each, ours, out); });
    for (const std::string_view each : others) out.entry(each);
  });
}

void write_assignment(const PodSetAssignment& assignment, std::string_view before,
                      JsonMembers& out) {
  static constexpr std::string_view kWritten[] = {"name", "flavors", "resourceUsage", "count"};
  out.text("name", assignment.name);
  if (!assignment.flavors.empty())
    out.object("flavors", [&] {
      for (const auto& [resource, flavor] : assignment.flavors) out.text(resource, flavor);
    });
  if (!assignment.usage.empty())
    out.object("resourceUsage", [&] {
      for (const auto& each : assignment.usage)
        out.text(each.resource, engine_quantity(each.resource, each.amount).text());
    });
  out.number("count", assignment.count);
  keep_others(before, kWritten, out);
}

/// What others wrote of a pod set's assignment stays as long as the queue is the same.
void write_admission(const Admission& admission, std::string_view before, JsonMembers& out) {
  std::string_view old;
  if (is_text(member_text(before, "clusterQueue"), admission.cluster_queue))
    old = member_text(before, "podSetAssignments");
  out.text("clusterQueue", admission.cluster_queue).list("podSetAssignments", [&] {
    for (const PodSetAssignment& each : admission.pod_sets)
      out.entry([&] { write_assignment(each, entry_named(old, each.name), out); });
  });
}

void write_check(const AdmissionCheckState& check, std::string_view before, JsonMembers& out) {
  static constexpr std::string_view kWritten[] = {
      "name",   "state",      "lastTransitionTime",  "message",
      "reason", "retryCount", "requeueAfterSeconds", "podSetUpdates"};
  out.text("name", check.name).text("state", check.state);
  out.text("lastTransitionTime", format_time(check.last_transition_time));
  out.text("message", check.message);
  if (!check.reason.empty()) out.text("reason", check.reason);
  if (check.requeue_after_seconds) out.number("requeueAfterSeconds", *check.requeue_after_seconds);
  if (check.retry_count != 0) out.number("retryCount", check.retry_count);
  if (!check.pod_set_updates.empty()) {  // as a plugin wrote it
    boost::system::error_code code;
    const boost::json::value updates = boost::json::parse(json_view(check.pod_set_updates), code);
    if (!code) out.document("podSetUpdates", to_json(updates));
  }
  keep_others(before, kWritten, out);
}

void write_rest(const WorkloadStatus& status, JsonMembers& out) {
  if (status.requeue_state)
    out.object("requeueState", [&] {
      out.number("count", status.requeue_state->count);
      if (status.requeue_state->requeue_at)
        out.text("requeueAt", format_time(*status.requeue_state->requeue_at));
    });
  if (!status.evictions.empty())
    out.object("schedulingStats", [&] {
      out.list("evictions", [&] {
        for (const EvictionCount& each : status.evictions)
          out.entry([&] {
            out.text("reason", each.reason).text("underlyingCause", each.underlying_cause);
            out.number("count", each.count);
          });
      });
    });
  if (status.accumulated_past_execution_seconds != 0)
    out.number("accumulatedPastExecutionTimeSeconds", status.accumulated_past_execution_seconds);
}

}  // namespace

std::string workload_status_text(const WorkloadStatus& status, std::string_view before) {
  Conversions::encoded();
  const Before old = parts_of(before);
  JsonMembers out;
  if (status.admission)
    out.object("admission", [&] { write_admission(*status.admission, old.admission, out); });
  write_conditions(status.conditions, old.conditions, out);
  if (!status.reclaimable_pods.empty())
    out.list("reclaimablePods", [&] {
      for (const ReclaimablePods& each : status.reclaimable_pods)
        out.entry([&] { out.text("name", each.pod_set).number("count", each.count); });
    });
  if (!status.admission_checks.empty())
    out.list("admissionChecks", [&] {
      for (const AdmissionCheckState& each : status.admission_checks)
        out.entry([&] { write_check(each, entry_named(old.checks, each.name), out); });
    });
  write_rest(status, out);
  keep_others(before, kTypedStatusMembers, out);
  return out.empty() ? std::string() : out.take();
}

}  // namespace sluice::api
