#include "host/plugins/check_service.hpp"

#include <string>

#include "host/plugins/host_side.hpp"
#include "host/plugins/pod_set_updates.hpp"
#include "sluice/ext/check_controller.h"

namespace sluice::host {

namespace {

/// What is wrong with a report; empty: nothing.
std::string judge(const CheckReport& report, std::int32_t requeue_after) {
  if (report.ns.empty() || report.name.empty() || report.uid.empty() || report.check.empty())
    return "it does not name its workload (namespace, name, uid) and its check";
  if (report.state != "Pending" && report.state != "Ready" && report.state != "Retry" &&
      report.state != "Rejected")
    return "the state \"" + report.state + "\" is none of Pending, Ready, Retry, Rejected";
  if (!report.reason.empty() &&
      (report.reason != "PreemptionRequired" || report.state != "Pending"))
    return "the reason \"" + report.reason +
           "\" has no meaning; only PreemptionRequired does, with the state Pending";
  if (requeue_after < -1)
    return "requeue_after_seconds is " + std::to_string(requeue_after) +
           "; a number of seconds or -1 is allowed";
  if (requeue_after >= 0 && report.state != "Retry")
    return "requeue_after_seconds is given with the state " + report.state + "; only Retry has it";
  return pod_set_updates_problem(report.pod_set_updates_json);
}

std::int32_t refused(std::string_view text, const sluice_sink_t* error) {
  if (error != nullptr) error->write(error->context, abi_of(text));
  return SLUICE_REFUSED;
}

std::int32_t refuse(const HostSide& side, const std::string& text, const sluice_sink_t* error) {
  if (side.services().log)
    side.services().log(2, side.plugin(), "check-reporter refused a report: " + text);
  return refused(text, error);
}

std::int32_t report(const sluice_host_t* host, const sluice_check_report_t* raw,
                    const sluice_sink_t* error) noexcept {
  return HostSide::serve<std::int32_t>(host, SLUICE_FAILED, [&](HostSide& side) -> std::int32_t {
    if (!SLUICE_HAS(raw, pod_set_updates)) return refuse(side, "its struct is too short", error);
    Nonsense nonsense;
    CheckReport made;
    made.plugin = side.plugin();
    made.ns = name_of(raw->namespace_of, "the namespace", nonsense);
    made.name = name_of(raw->name, "the name", nonsense);
    made.uid = name_of(raw->uid, "the uid", nonsense);
    made.check = name_of(raw->check, "the check", nonsense);
    made.attempt = raw->attempt;
    made.state = name_of(raw->state, "the state", nonsense);
    made.reason = name_of(raw->reason, "the reason", nonsense);
    made.message = shown_text(raw->message, kMessageBytes);
    made.pod_set_updates_json = value_of(raw->pod_set_updates, "pod_set_updates", nonsense);
    if (raw->requeue_after_seconds >= 0) made.requeue_after_seconds = raw->requeue_after_seconds;
    if (nonsense) return refuse(side, nonsense.sentence(), error);
    if (const std::string wrong = judge(made, raw->requeue_after_seconds); !wrong.empty())
      return refuse(side, wrong, error);
    switch (side.add_report(std::move(made))) {
      case HostSide::Taken::kYes:
        return SLUICE_OK;
      case HostSide::Taken::kTooMany:  // which is logged, once
        return refused("too many reports wait", error);
      case HostSide::Taken::kNotAllowed:
        break;
    }
    return refuse(side, "it provides no " SLUICE_EXT_CHECK_CONTROLLER ", so no check is its own",
                  error);
  });
}

constexpr sluice_check_reporter_t kReporter{sizeof(sluice_check_reporter_t), 0, &report};

}  // namespace

const sluice_check_reporter_t& check_reporter_service() { return kReporter; }

}  // namespace sluice::host
