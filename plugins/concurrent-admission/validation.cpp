#include "validation.hpp"

#include <algorithm>

#include "policy.hpp"

namespace options {
namespace {

using sluice::Json;
using Kind = Problem::Kind;

std::string known_flavors(const Groups& groups) {
  std::string out;
  for (const auto& group : groups)
    for (const std::string& flavor : group) out += (out.empty() ? "" : ", ") + flavor;
  return out;
}

bool has_flavor(const Groups& groups, const std::string& name) {
  return std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
    return std::find(group.begin(), group.end(), name) != group.end();
  });
}

void check_flavor(const Groups& groups, const std::string& path, const std::string& name,
                  std::vector<Problem>& out) {
  if (has_flavor(groups, name)) return;
  out.push_back({Kind::kInvalid, path, Json(name).dump(),
                 "must be a flavor of this ClusterQueue: " + known_flavors(groups)});
}

void check_options(const Groups& groups, const std::string& path, const Json& list,
                   std::vector<Problem>& out) {
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const Json* flavors = list.items()[i].find("allowedResourceFlavors");
    if (flavors == nullptr) continue;
    for (std::size_t f = 0; f < flavors->items().size(); ++f)
      check_flavor(
          groups,
          path + "[" + std::to_string(i) + "].allowedResourceFlavors[" + std::to_string(f) + "]",
          flavors->items()[f].as_string(), out);
  }
}

/// Which flavor would an option without a list be for?
void check_needs_list(const Groups& groups, const std::string& path, std::vector<Problem>& out) {
  const auto wide = std::count_if(groups.begin(), groups.end(),
                                  [](const auto& group) { return group.size() > 1; });
  if (wide > 1)
    out.push_back({Kind::kRequired, path, "",
                   "more than one resource group has several flavors, so the options must be "
                   "listed, each with flavors of every group that its workloads need"});
}

}  // namespace

std::vector<Problem> check_queue(const Json& cluster_queue) {
  std::vector<Problem> out;
  const Json* spec = cluster_queue.member("spec");
  if (spec == nullptr) return out;
  const Groups groups = groups_of(cluster_queue);
  for (const std::string_view name : {kField, kOtherField}) {
    const Json* field = spec->member(name);
    if (field == nullptr) continue;
    const std::string path = "spec." + std::string(name);
    const bool own = name == kField;
    if (spec->string_or("queueingStrategy", "") == "StrictFIFO")
      out.push_back(
          {Kind::kForbidden, path, "",
           "not with queueingStrategy StrictFIFO: a better option that waits would either "
           "block the queue while the workload runs already, or let others pass, which "
           "StrictFIFO forbids; use BestEffortFIFO"});
    const std::string list_path = path + (own ? ".explicitOptions" : ".explicitVariants");
    const Json* list = field->member(own ? "explicitOptions" : "explicitVariants");
    if (list != nullptr && !list->items().empty())
      check_options(groups, list_path, *list, out);
    else
      check_needs_list(groups, list_path, out);
    const std::string target_path =
        path + (own ? ".removeBelowTargetConfig" : ".migration.constraints");
    if (own) {
      const bool wants = field->string_or("onSuccess", "") == "RemoveBelowTarget";
      const bool has = field->member("removeBelowTargetConfig") != nullptr;
      if (wants && !has)
        out.push_back({Kind::kRequired, target_path, "", "onSuccess is RemoveBelowTarget"});
      if (!wants && has)
        out.push_back({Kind::kForbidden, target_path, "",
                       "may be given only when onSuccess is RemoveBelowTarget"});
    }
    const std::string leaf = own ? "targetResourceFlavor" : "lastAcceptableFlavorName";
    const std::string target = field->string_or(
        own ? "removeBelowTargetConfig." + leaf : "migration.constraints." + leaf, "");
    if (!target.empty()) check_flavor(groups, target_path + "." + leaf, target, out);
    if (!own && !target.empty() && field->string_or("migration.mode", "") == "RetainFirstAdmission")
      out.push_back({Kind::kForbidden, target_path + "." + leaf, "",
                     "may be given only when migration.mode is TryPreferredFlavors"});
  }
  return out;
}

std::vector<Problem> check_workload(const Json& workload, const Json& old) {
  std::vector<Problem> out;
  const Json* conditions = old.find("status.conditions");
  const Json* before = old.find("spec.admissionConstraints");
  const Json* after = workload.find("spec.admissionConstraints");
  const bool same = before == nullptr || after == nullptr ? before == after : *before == *after;
  if (same || conditions == nullptr) return out;
  for (const Json& each : conditions->items())
    if (each.string_or("type", "") == "QuotaReserved" && each.string_or("status", "") == "True")
      out.push_back({Kind::kInvalid, "spec.admissionConstraints",
                     after == nullptr ? "null" : after->dump(),
                     "field is immutable while workload quota reserved"});
  return out;
}

}  // namespace options
