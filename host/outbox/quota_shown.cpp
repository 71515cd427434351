#include "host/outbox/quota_shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "api/codec/status_text.hpp"
#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/workload_quota.hpp"

namespace sluice::host {
namespace {

/// The same JSON, whatever the order of its members: an API server has one of its own.
bool same_value(std::string_view one, std::string_view other) {
  if (one == other) return true;
  if (one.empty() || other.empty()) return false;
  boost::system::error_code code, other_code;
  const auto one_value = api::parse_deep(one, code);
  const auto other_value = api::parse_deep(other, other_code);
  return !code && !other_code && one_value == other_value;
}

/// The types of the conditions that are true, without what nobody acts on: one that is false says
/// as much as one that is absent.
std::set<std::string_view> course(std::string_view status) {
  std::set<std::string_view> out;
  for (const api::ConditionText& each : api::conditions_in(status))
    if (each.is_true() && each.type != "PodsReady") out.insert(each.type);
  return out;
}

std::map<std::string_view, std::string_view> reasons(std::string_view status) {
  std::map<std::string_view, std::string_view> out;
  for (const api::ConditionText& each : api::conditions_in(status)) out[each.type] = each.reason;
  return out;
}

}  // namespace

QuotaShown quota_shown(std::string_view status) {
  if (status.empty()) return {};
  const auto all = api::conditions_in(status);
  const std::string_view admission = api::admission_in(status);
  const bool held = holds_quota(all);
  return {held && !admission.empty(), admission};
}

std::string QuotaShown::queue() const { return api::text_at(admission, "clusterQueue"); }

bool gives_quota(const QuotaShown& before, const QuotaShown& after) {
  return after.held && (!before.held || !same_value(before.admission, after.admission));
}

bool ends_quota(const QuotaShown& before, const QuotaShown& after) {
  return before.held && (!after.held || !same_value(before.admission, after.admission));
}

bool same_course(std::string_view one_status, std::string_view other_status) {
  return course(one_status) == course(other_status) &&
         same_value(api::admission_in(one_status), api::admission_in(other_status));
}

bool same_but_end(std::string_view open_status, std::string_view finished_status) {
  auto open = course(open_status);
  auto finished = course(finished_status);
  open.erase("Finished");
  finished.erase("Finished");
  return open == finished &&
         same_value(api::admission_in(open_status), api::admission_in(finished_status));
}

bool same_but_times(std::string_view one_status, std::string_view other_status) {
  const auto said = [](std::string_view status) {
    std::map<std::string, std::string> out;
    const std::function<bool(std::string_view, std::string_view)> keep =
        [&out](std::string_view key, std::string_view value) {
          if (key != "conditions") out.emplace(key, value);
          return true;
        };
    if (!status.empty()) api::each_member(status, keep);
    for (const api::ConditionText& each : api::conditions_in(status))
      out[fmt::format("condition {}", each.type)] =
          fmt::format("{} {} {}", each.status, each.reason, each.message);
    return out;
  };
  const auto one = said(one_status), other = said(other_status);
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const auto& each, const auto& with) {
                      return each.first == with.first && same_value(each.second, with.second);
                    });
}

bool only_tells(const StoredObject& before, const StoredObject& after) {
  if (before.kind->group != kQueueGroup || before.status == after.status ||
      !same_but_status(before, after))
    return false;
  if (before.kind->kind == "AdmissionCheck") return false;
  if (!is_workload(*before.kind)) return true;
  const bool waited = api::conditions_in(before.status).empty() || !quota_shown(before.status).held;
  bool alone = true;  // and nothing but conditions changed
  for (const std::string_view field : {"admission", "admissionChecks", "requeueState"})
    alone &=
        same_value(api::member_text(before.status, field), api::member_text(after.status, field));
  return waited && alone && same_course(before.status, after.status);
}

bool same_reasons(const StoredObject& before, const StoredObject& after) {
  return is_workload(*before.kind) && !before.status.empty() &&
         reasons(before.status) == reasons(after.status);
}

}  // namespace sluice::host
