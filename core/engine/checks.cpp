#include "core/engine/checks.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view kStatePending = "Pending";
constexpr std::string_view kStateReady = "Ready";
constexpr std::string_view kStateRetry = "Retry";
constexpr std::string_view kStateRejected = "Rejected";
constexpr std::string_view kPreemptionRequired = "PreemptionRequired";

/// `AdmissionChecks in Retry state: "name" (message); …` of those that are, by name; empty: none
/// is.
std::string those_in(std::string_view state, std::span<const api::AdmissionCheckState> checks) {
  std::map<std::string_view, std::string_view> found;  // messages
  for (const api::AdmissionCheckState& check : checks)
    if (check.state == state) found.emplace(check.name, check.message);
  if (found.empty()) return {};
  std::string out(found.size() == 1 ? "AdmissionCheck in " : "AdmissionChecks in ");
  out.append(state).append(" state: ");
  const char* before = "\"";
  for (const auto& [name, message] : found) {
    out.append(std::exchange(before, "; \"")).append(name) += '"';
    if (!message.empty()) out.append(" (").append(message) += ')';
  }
  return out;
}

bool same_report(const api::AdmissionCheckState& a, const api::AdmissionCheckState& b) {
  return a.state == b.state && a.reason == b.reason && a.message == b.message &&
         a.requeue_after_seconds == b.requeue_after_seconds &&
         a.pod_set_updates == b.pod_set_updates;
}

}  // namespace

bool list_checks(Model& model, WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  if (w.queue == kNone) return false;
  const QueueRecord& queue = model.queues[w.queue];
  const std::vector<QueueCheck>& rules = queue.checks;
  // What the queue's object says was not taken up yet, as in the first instant after a start. Then
  // all of its workloads are listed; until then what is known of them stays.
  if (rules.empty() && queue.spec && !queue.spec->admission_checks.empty()) return false;
  if (rules.empty() && (!w.extras || w.extras->checks.empty())) return false;
  std::vector<api::AdmissionCheckState>& listed = w.more().checks;
  std::vector<api::AdmissionCheckState> now;
  for (const QueueCheck& rule : rules) {
    const auto had = std::find_if(listed.begin(), listed.end(),
                                  [&](const auto& each) { return each.name == rule.name; });
    const bool was_retried = had != listed.end() && had->retry_count > 0;
    if (w.holds_quota() ? !rule.applies_to(*w.holding) : !rule.all_flavors && !was_retried)
      continue;
    if (had != listed.end()) {
      now.push_back(*had);
      continue;
    }
    api::AdmissionCheckState& fresh = now.emplace_back();
    fresh.name = rule.name;
    fresh.state = kStatePending;
    fresh.last_transition_time = model.now;
  }
  if (now == listed) return false;
  listed = std::move(now);
  return true;
}

void reset_checks(const Model& model, WorkloadRecord& w, bool all) {
  if (!w.extras) return;
  for (api::AdmissionCheckState& check : w.extras->checks) {
    if (check.state == kStateRejected && !all) continue;
    const bool retry = check.state == kStateRetry;
    if (all) check.retry_count = 0;
    if (retry) ++check.retry_count;
    if (!retry) check.requeue_after_seconds.reset();
    if (check.state != kStatePending) {
      check.message = "Reset to Pending after eviction. Previously: " + check.state;
      check.last_transition_time = model.now;
    } else {
      check.message.clear();
    }
    check.state = kStatePending;
    check.reason.clear();
    check.pod_set_updates.clear();
  }
}

std::optional<std::string> take_report(const Model& model, const WorkloadRecord& w,
                                       api::AdmissionCheckState& check,
                                       const api::AdmissionCheckState& report) {
  if (same_report(check, report)) return std::nullopt;
  std::string before = std::exchange(check.state, report.state);
  check.reason = report.reason;
  check.message = report.message;
  check.requeue_after_seconds = report.requeue_after_seconds;
  // What a started job was given stays; Pending does not undo an admission.
  const bool stays_ready = before == kStateReady && report.state == kStateReady;
  const bool runs_on = w.state == WorkloadState::kAdmitted &&
                       (report.state == kStateReady || report.state == kStatePending);
  if (!stays_ready && !runs_on) check.pod_set_updates = report.pod_set_updates;
  if (before != check.state) check.last_transition_time = model.now;
  return before;
}

CheckVerdict verdict_of(const Model& model, const WorkloadRecord& w) {
  if (std::string checks = those_in(kStateRejected, w.checks()); !checks.empty())
    return {ChecksSay::kRejected, std::move(checks)};
  if (std::string checks = those_in(kStateRetry, w.checks()); !checks.empty())
    return {ChecksSay::kRetry, std::move(checks)};
  const bool goes_on =
      all_ready(w) || (w.holds_quota() && !w.holding->planned.empty() && lets_preempt(model, w));
  return {goes_on ? ChecksSay::kGoOn : ChecksSay::kWait, {}};
}

bool all_ready(const WorkloadRecord& w) {
  const auto checks = w.checks();
  return std::all_of(checks.begin(), checks.end(),
                     [](const auto& each) { return each.state == kStateReady; });
}

bool lets_preempt(const Model& model, const WorkloadRecord& w) {
  bool ready = true;
  for (const api::AdmissionCheckState& check : w.checks()) {
    if (check.state == kStatePending && check.reason == kPreemptionRequired) return true;
    const auto known = model.checks.find(check.name);
    if (known != model.checks.end() && known->second.preempt_after_check)
      ready &= check.state == kStateReady;
  }
  return ready;
}

Time retry_due(const Model& model, const WorkloadRecord& w) {
  Time due = model.now;
  for (const api::AdmissionCheckState& check : w.checks()) {
    if (check.state != kStateRetry) continue;
    const auto known = model.checks.find(check.name);
    const std::optional<std::int32_t> usual =
        known == model.checks.end() ? std::nullopt : known->second.retry_delay_seconds;
    const std::int32_t delay = check.requeue_after_seconds.value_or(usual.value_or(0));
    due = std::max(due, later(check.last_transition_time, delay * kSecond));
  }
  return due;
}

}  // namespace sluice
