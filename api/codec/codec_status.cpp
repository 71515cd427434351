// The status of a workload, written as text over the one before.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <span>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/codec/status_text.hpp"
#include "api/json/json.hpp"
#include "api/json/json_members.hpp"
#include "api/json/json_text.hpp"
#include "core/base/time.hpp"
#include "core/model/condition_record.hpp"

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

/// Whether a text that JSON writes so between its quotes is this one.
bool is_written(std::string_view inside, std::string_view text) {
  if (inside.find('\\') == std::string_view::npos) return inside == text;
  std::string quoted;
  append_json_text(text, quoted);
  return std::string_view(quoted).substr(1, quoted.size() - 2) == inside;
}

bool says_the_same(const ConditionText& old, const Condition& now) {
  return is_written(old.type, now.type) && is_written(old.status, now.status) &&
         is_written(old.reason, now.reason) && is_written(old.message, now.message);
}

/// Of a condition that still says the same, also the generation that its writer had seen is kept.
void write_condition(const Condition& condition, std::span<const ConditionText> before,
                     JsonMembers& out) {
  out.text("type", condition.type).text("status", condition.status);
  out.text("reason", condition.reason).text("message", condition.message);
  out.text("lastTransitionTime", format_time(condition.last_transition_time));
  const auto same = std::find_if(before.begin(), before.end(), [&](const ConditionText& old) {
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
  const std::vector<ConditionText> old = conditions_in(before);
  std::vector<std::string_view> others;
  for (const ConditionText& each : old)
    if (each.whole.starts_with('{') && !condition_type(each.type)) others.push_back(each.whole);
  if (conditions.empty() && others.empty()) return;
  out.list("conditions", [&] {
    for (const Condition& each : conditions) out.entry([&] { write_condition(each, old, out); });
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
  JsonMembers out;
  if (status.admission)
    out.object("admission", [&] { write_admission(*status.admission, admission_in(before), out); });
  write_conditions(status.conditions, before, out);
  if (!status.reclaimable_pods.empty())
    out.list("reclaimablePods", [&] {
      for (const ReclaimablePods& each : status.reclaimable_pods)
        out.entry([&] { out.text("name", each.pod_set).number("count", each.count); });
    });
  if (!status.admission_checks.empty())
    out.list("admissionChecks", [&, old = member_text(before, "admissionChecks")] {
      for (const AdmissionCheckState& each : status.admission_checks)
        out.entry([&] { write_check(each, entry_named(old, each.name), out); });
    });
  write_rest(status, out);
  keep_others(before, kTypedStatusMembers, out);
  return out.empty() ? std::string() : out.take();
}

}  // namespace sluice::api
