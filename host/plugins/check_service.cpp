#include "host/plugins/check_service.hpp"

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "api/json/json.hpp"
#include "api/schema/formats.hpp"
#include "host/plugins/host_side.hpp"

namespace sluice::host {

namespace {

namespace json = boost::json;

constexpr std::size_t kMostUpdates = 64U << 10;  // bytes

bool is_map_of_texts(const json::value& value) {
  if (!value.is_object()) return false;
  for (const auto& [key, member] : value.get_object())
    if (!member.is_string()) return false;
  return true;
}

bool is_list_of_objects(const json::value& value) {
  if (!value.is_array()) return false;
  for (const json::value& member : value.get_array())
    if (!member.is_object()) return false;
  return true;
}

/// What no pod could carry; empty: nothing.
std::string judge_labels(const json::object& labels) {
  for (const auto& [key, value] : labels) {
    const std::string_view text = api::view(value.get_string());
    if (!api::is_qualified_name(api::view(key)))
      return "\"" + std::string(key) + "\" is no key of a label";
    if (!api::is_label_value(text)) return "\"" + std::string(text) + "\" is no value of a label";
  }
  return {};
}

/// What is wrong with one pod set's update; empty: nothing.
std::string judge_update(const json::value& update) {
  const json::object* object = update.if_object();
  if (object == nullptr) return "each has to be an object";
  const json::value* name = object->if_contains("name");
  if (name == nullptr || !name->is_string() || name->get_string().empty())
    return "each needs the `name` of a pod set";
  for (const auto& [key, value] : *object) {
    if (key == "name") continue;
    if (key == "labels" || key == "annotations" || key == "nodeSelector") {
      if (!is_map_of_texts(value)) return "`" + std::string(key) + "` has to be a map of texts";
      const std::string wrong = key == "annotations" ? "" : judge_labels(value.get_object());
      if (!wrong.empty()) return "`" + std::string(key) + "`: " + wrong;
    } else if (key == "tolerations") {
      if (!is_list_of_objects(value)) return "`tolerations` has to be a list of objects";
    } else {
      return "there is no `" + std::string(key) +
             "`; name, labels, annotations, nodeSelector and tolerations are there";
    }
  }
  return {};
}

std::string judge_updates(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > kMostUpdates)
    return "pod_set_updates is longer than " + std::to_string(kMostUpdates) + " bytes";
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error) return "pod_set_updates is no JSON: " + error.message();
  if (!value.is_array()) return "pod_set_updates has to be a list";
  for (const json::value& update : value.get_array())
    if (std::string wrong = judge_update(update); !wrong.empty())
      return "pod_set_updates: " + wrong;
  return {};
}

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
  return judge_updates(report.pod_set_updates_json);
}

std::int32_t refuse(const HostSide& side, const std::string& text, const sluice_sink_t* error) {
  if (error != nullptr) error->write(error->context, abi_of(text));
  if (side.services().log)
    side.services().log(2, side.plugin(), "check-reporter refused a report: " + text);
  return SLUICE_REFUSED;
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
    if (const char* why = side.add_report(std::move(made))) return refuse(side, why, error);
    return SLUICE_OK;
  });
}

constexpr sluice_check_reporter_t kReporter{sizeof(sluice_check_reporter_t), 0, &report};

}  // namespace

const sluice_check_reporter_t& check_reporter_service() { return kReporter; }

}  // namespace sluice::host
