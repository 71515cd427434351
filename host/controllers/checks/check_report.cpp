#include "host/controllers/checks/check_report.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <iterator>

#include "api/json/json.hpp"
#include "host/objects/marks.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kStates[] = {"Pending", "Ready", "Retry", "Rejected"};
constexpr const char* kNoPodSet = "a report updates a pod set that the workload does not have";

/// The name of a pod set that the updates name and the workload does not have; empty: none.
std::string unknown_pod_set(const json::array& updates, const api::Workload& workload) {
  for (const json::value& each : updates) {
    const json::object* update = each.if_object();
    const std::string_view name = update ? api::find_text(*update, "name") : std::string_view();
    const bool known = std::any_of(workload.pod_sets.begin(), workload.pod_sets.end(),
                                   [&](const api::PodSet& pods) { return pods.name == name; });
    if (!known) return name.empty() ? "(no name)" : std::string(name);
  }
  return {};
}

/// A mark of pods that the updates would set; empty: none. REQUIRES: they are objects.
std::string mark_in(const json::array& updates, const api::KindInfo& pods) {
  for (const json::value& each : updates)
    for (const char* map : {"labels", "annotations"})
      for (const auto& entry : part(each.get_object(), map))
        if (is_mark(pods, api::view(entry.key()))) return std::string(entry.key());
  return {};
}

}  // namespace

std::optional<ReportFault> fault_in(const CheckReport& report, const api::Workload& workload,
                                    const api::KindInfo& pods) {
  if (std::find(std::begin(kStates), std::end(kStates), report.state) == std::end(kStates))
    return ReportFault{"a report names a state that there is not", report.state};
  if (report.pod_set_updates_json.empty()) return std::nullopt;
  boost::system::error_code code;
  const json::value parsed = api::parse_deep(report.pod_set_updates_json, code);
  if (code || !parsed.is_array()) return ReportFault{kNoPodSet, "(the updates are no list)"};
  const json::array& updates = parsed.get_array();
  if (std::string unknown = unknown_pod_set(updates, workload); !unknown.empty())
    return ReportFault{kNoPodSet, std::move(unknown)};
  if (std::string mark = mark_in(updates, pods); !mark.empty())
    return ReportFault{"a report sets what only the system sets on pods", std::move(mark)};
  return std::nullopt;
}

}  // namespace sluice::host
