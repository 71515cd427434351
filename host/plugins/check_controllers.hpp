// CheckControllers: the plugins that answer for AdmissionChecks, as the controller that keeps
// workloads' check states sees them.
//
// begin() may be called any number of times for one (workload uid, check, attempt): after a
// restart, a reload, or when an earlier call faulted. Reports come later and in the order in which
// plugins made them; whether the attempt that a report names is still the present one is for the
// caller to judge. A plugin that takes its time answers later (take_late()); until then it asks for
// a pause. Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types/kinds.hpp"

namespace sluice::host {

/// One attempt at one check of one workload.
struct CheckQuery {
  std::shared_ptr<const api::Workload> workload;  ///< with its present status; never null
  std::string workload_json;                      ///< v1beta2; may be empty with cancel()
  std::string check;                              ///< name of the AdmissionCheck
  std::string check_json;                         ///< v1beta2; empty: it is gone
  std::uint64_t attempt = 0;
  std::int32_t retry_count = 0;
};

/// What a plugin said of an attempt; state, reason and updates were judged already.
struct CheckReport {
  std::string plugin, ns, name, uid, check;
  std::uint64_t attempt = 0;
  std::string state;   ///< Pending, Ready, Retry, Rejected
  std::string reason;  ///< empty, or PreemptionRequired with Pending
  std::string message;
  std::optional<std::int32_t> requeue_after_seconds;
  std::string pod_set_updates_json;  ///< a list, or empty
};

/// For the condition Active of an AdmissionCheck.
struct CheckActivity {
  bool active = false;
  std::string reason, message;
};

/// What became of a question that was not answered at once: what was said of a check, or, without
/// that, whether an attempt began.
struct LateAnswer {
  std::string controller, check;  ///< spec.controllerName, name
  std::optional<CheckActivity> activity = {};
  std::string workload = {};  ///< key
  std::uint64_t attempt = 0;
  bool began = false;
  std::string fault = {};  ///< where it did not begin
};

/// How the sentences begin that tell of a plugin which does not get on with checks.
inline constexpr std::string_view kPluginGone = "its process is gone, and is started again";
inline constexpr std::string_view kPluginFailed = "its plugin failed, and is asked again";
inline constexpr std::string_view kPluginOff = "its plugin failed too often, and is asked no more";

/// What a plugin has to say of an attempt beside its state, as sentences for people.
struct CheckTelling {
  std::vector<std::string> lines;
  bool more_soon = false;  ///< ask again in a moment
};

class CheckControllers {
 public:
  virtual ~CheckControllers() = default;
  /// Is there a plugin that answers for this spec.controllerName?
  virtual bool provides(std::string_view controller_name) const = 0;
  /// Its name; empty when there is none.
  virtual std::string plugin_of(std::string_view controller_name) const = 0;
  /// Is it called no more, because it failed too often?
  virtual bool quarantined(std::string_view controller_name) const {
    static_cast<void>(controller_name);
    return false;
  }
  /// How long its next call should wait, because it took much time, is gone, or has not answered;
  /// 0: not at all. What is asked all the same is asked in its turn.
  virtual Duration pause(std::string_view controller_name) const {
    static_cast<void>(controller_name);
    return 0;
  }
  /// Is it gone for now? What it was told it has forgotten; see take_restarted().
  virtual bool away(std::string_view controller_name) const {
    static_cast<void>(controller_name);
    return false;
  }
  /// Tells the plugin that the JSON's spec.controllerName picks; an empty JSON (the check is gone)
  /// goes to the plugin that was told of it last, as does a change to another controller's name.
  /// nullopt: the answer comes later.
  virtual std::optional<CheckActivity> check_changed(const std::string& check,
                                                     std::string_view check_json) = 0;
  /// False: the plugin faulted (shown, counted); ask again later. It may also turn out later
  /// whether it began: then the plugin owes the answer.
  virtual bool begin(const CheckQuery& query) = 0;
  /// Has it been asked anything that it has not answered?
  virtual bool owes_answer(std::string_view controller_name) const {
    static_cast<void>(controller_name);
    return false;
  }
  /// Faults are shown and counted; there is nothing to repeat.
  virtual void cancel(const CheckQuery& query, std::string_view why) = 0;
  /// Faults are shown and counted.
  virtual CheckTelling explain(const CheckQuery& query) {
    static_cast<void>(query);
    return {};
  }
  /// Why the plugin that the JSON's spec.controllerName picks does not get on with the check of
  /// this workload just now, as a sentence; empty: it does, as far as is known. Of one that is in
  /// quarantine, or not loaded, the check's condition tells.
  virtual std::string trouble(std::string_view check_json, std::string_view workload) const {
    static_cast<void>(workload);
    static_cast<void>(check_json);
    return {};
  }
  /// The controller names whose plugin was started again since the last call, and has forgotten
  /// what it was told: every check has to begin again.
  virtual std::vector<std::string> take_restarted() { return {}; }
  /// What was answered later, since the last call.
  virtual std::vector<LateAnswer> take_late() { return {}; }
  /// What was reported since the last call.
  virtual std::vector<CheckReport> take_reports() = 0;
};

}  // namespace sluice::host
