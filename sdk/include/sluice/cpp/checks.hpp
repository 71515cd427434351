// What check-controller/1 is asked, and what is reported back. See ext/check_controller.h and
// svc/check_reporter.h for the meaning.
//
// Check, CheckQuery, CheckCancel and Activity are views that die when the hook returns.
// CheckAttempt and CheckAnswer are values to keep and to use on any thread. What a workload shows
// of a check is read by pure functions of JSON values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sluice/cpp/json.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/cpp/workload.hpp"
#include "sluice/ext/check_controller.h"
#include "sluice/svc/check_reporter.h"

namespace sluice {

/// Which attempt a report is about.
struct CheckAttempt {
  std::string workload_namespace, workload, uid, check;
  std::uint64_t attempt = 0;
  bool operator==(const CheckAttempt&) const = default;
  /// For maps. Written out, because libc++ before 17 cannot order its texts by operator<=>.
  bool operator<(const CheckAttempt& other) const {
    return std::tie(workload_namespace, workload, uid, check, attempt) <
           std::tie(other.workload_namespace, other.workload, other.uid, other.check,
                    other.attempt);
  }
};

/// What there is to say of an attempt, for explain_check().
struct CheckWords {
  std::vector<std::string> lines;
  bool more_soon = false;  ///< more is on its way: asked again in a moment
};

/// What became of an attempt.
struct CheckAnswer {
  enum class State : std::uint8_t { kPending, kReady, kRetry, kRejected };
  State state = State::kPending;
  std::string message;
  bool preemption_required = false;  ///< with kPending: it passes only when others give way
  std::optional<std::int32_t> requeue_after_seconds;  ///< with kRetry
  std::string pod_set_updates;                        ///< a JSON list, or empty

  static CheckAnswer pending(std::string message, bool preemption_required = false) {
    return {State::kPending, std::move(message), preemption_required, std::nullopt, {}};
  }
  static CheckAnswer ready(std::string message, std::string pod_set_updates = {}) {
    return {State::kReady, std::move(message), false, std::nullopt, std::move(pod_set_updates)};
  }
  static CheckAnswer retry(std::string message,
                           std::optional<std::int32_t> after_seconds = std::nullopt) {
    return {State::kRetry, std::move(message), false, after_seconds, {}};
  }
  static CheckAnswer rejected(std::string message) {
    return {State::kRejected, std::move(message), false, std::nullopt, {}};
  }
  /// Pending, Ready, Retry, Rejected
  std::string_view state_name() const {
    constexpr std::string_view kNames[] = {"Pending", "Ready", "Retry", "Rejected"};
    return kNames[static_cast<std::size_t>(state)];
  }
};

/// What the workload shows of the check in status.admissionChecks; nullptr when it has no such
/// check.
inline const Json* find_check_state(const Json& workload, std::string_view check) {
  const Json* states = workload.find("status.admissionChecks");
  if (states == nullptr) return nullptr;
  for (const Json& state : states->items())
    if (state.string_or("name", "") == check) return &state;
  return nullptr;
}

/// Whether the workload shows the answer already, its state and message, so that nothing has to be
/// reported. An answer without a message leaves the one that is shown; a check of which nothing is
/// shown is Pending.
inline bool shows_answer(const Json& workload, std::string_view check, const CheckAnswer& answer) {
  const Json* shown = find_check_state(workload, check);
  const std::string state = shown == nullptr ? "" : shown->string_or("state", "");
  const std::string message = shown == nullptr ? "" : shown->string_or("message", "");
  return (state.empty() ? "Pending" : state) == answer.state_name() &&
         (answer.message.empty() || answer.message == message);
}

/// An AdmissionCheck that exists, changed, or is gone.
class Check {
 public:
  explicit Check(const sluice_check_t* check) : check_(check) {}
  std::string_view name() const { return to_view(check_->name); }
  bool gone() const { return check_->gone == 1; }
  /// The object; empty when it is gone.
  std::string_view json() const { return to_view(check_->json); }

 private:
  const sluice_check_t* check_;
};

/// Where check_changed() says whether the check can be carried out. Saying nothing: it can.
class Activity {
 public:
  explicit Activity(const sluice_activity_sink_t* sink) : sink_(sink) {}
  void active(std::string_view reason, std::string_view message) { set(1, reason, message); }
  void inactive(std::string_view reason, std::string_view message) { set(0, reason, message); }

 private:
  void set(std::int32_t active, std::string_view reason, std::string_view message) {
    sink_->active(sink_->context, active, to_abi(reason), to_abi(message));
  }
  const sluice_activity_sink_t* sink_;
};

/// An attempt that begins.
class CheckQuery {
 public:
  explicit CheckQuery(const sluice_check_query_t* query) : query_(query) {}
  Workload workload() const { return Workload(query_->workload); }
  std::string_view workload_json() const { return to_view(query_->workload_json); }
  std::string_view check() const { return to_view(query_->check); }
  std::string_view check_json() const { return to_view(query_->check_json); }
  std::int32_t retry_count() const { return query_->retry_count; }
  CheckAttempt attempt() const {
    const Workload w = workload();
    return {std::string(w.namespace_of()), std::string(w.name()), std::string(w.uid()),
            std::string(check()), query_->attempt};
  }

 private:
  const sluice_check_query_t* query_;
};

/// An attempt that is over.
class CheckCancel {
 public:
  explicit CheckCancel(const sluice_check_cancel_t* cancel) : cancel_(cancel) {}
  CheckAttempt attempt() const {
    return {std::string(to_view(cancel_->namespace_of)), std::string(to_view(cancel_->name)),
            std::string(to_view(cancel_->uid)), std::string(to_view(cancel_->check)),
            cancel_->attempt};
  }
  std::string_view why() const { return to_view(cancel_->why); }

 private:
  const sluice_check_cancel_t* cancel_;
};

}  // namespace sluice
