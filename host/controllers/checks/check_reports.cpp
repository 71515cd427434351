#include "host/controllers/checks/check_reports.hpp"

#include <utility>

#include "host/base/log.hpp"
#include "host/controllers/checks/check_query.hpp"
#include "host/controllers/checks/check_report.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {

std::vector<std::string> CheckReports::take() {
  std::vector<std::string> out;
  for (CheckReport& report : plugins_.take_reports()) {
    out.push_back(join_key(report.ns, report.name));
    waiting_[out.back()].push_back(std::move(report));
  }
  return out;
}

void CheckReports::hand_in(const std::string& workload, ObjectAccess& objects) {
  const auto reports = waiting_.extract(workload);
  if (!reports) return;
  for (const CheckReport& report : reports.mapped()) {
    const auto controller = checks_.controller_of(report.check, objects);
    const std::string owner = controller ? plugins_.plugin_of(*controller) : std::string();
    if (controller && (owner.empty() || owner != report.plugin)) {
      refuse_foreign(workload, report);
      continue;
    }
    if (controller && hand_in_one(workload, report, objects)) continue;
    ++late_;
    log(LogLevel::kDebug, "plugin " + report.plugin,
        "a report came for a reservation that has ended",
        {{"workload", workload}, {"check", report.check}, {"state", report.state}});
  }
}

void CheckReports::refuse_foreign(const std::string& workload, const CheckReport& report) {
  ++foreign_;
  if (!named_.insert(report.plugin).second) return;
  log(LogLevel::kWarning, "plugin " + report.plugin,
      "it answers a check that another one answers for; such reports are dropped, and told once",
      {{"workload", workload}, {"check", report.check}, {"state", report.state}});
}

/// False: it is about no present reservation.
bool CheckReports::hand_in_one(const std::string& workload, const CheckReport& report,
                               ObjectAccess& objects) {
  const auto id = engine_.find(workload);
  if (!id || attempt_of(engine_.model(), *id) != report.attempt) return false;
  const api::Workload& present = *engine_.object(*id);
  if (present.meta.uid != report.uid) return false;
  if (const auto fault = fault_in(report, present, *pods_)) {
    log(LogLevel::kWarning, "plugin " + report.plugin, fault->what,
        {{"workload", workload}, {"check", report.check}, {"value", fault->value}});
    return true;
  }
  api::AdmissionCheckState state;
  state.name = report.check;
  state.state = report.state;
  state.reason = report.reason;
  state.message = report.message;
  state.requeue_after_seconds = report.requeue_after_seconds;
  state.pod_set_updates = report.pod_set_updates_json;
  if (!objects.report_check(workload, state)) return false;
  // It failed, and answered all the same: nothing is left to begin.
  if (BegunAttempt* begun = begun_.find(workload, report.check); begun && report.state != "Pending")
    begun->trouble.clear();
  return true;
}

}  // namespace sluice::host
