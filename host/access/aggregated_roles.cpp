#include "host/access/aggregated_roles.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/access/rbac_index.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Each rule once, in the order of the roles.
json::array rules_of(const std::vector<std::string>& names,
                     const std::map<std::string, json::object>& roles) {
  json::array out;
  for (const std::string& name : names) {
    const json::array* rules = api::find_array(roles.at(name), "rules");
    if (rules == nullptr) continue;
    for (const json::value& rule : *rules)
      if (std::find(out.begin(), out.end(), rule) == out.end()) out.push_back(rule);
  }
  return out;
}

}  // namespace

AggregatedRoles::AggregatedRoles(const api::Scheme& scheme)
    : roles_(scheme.find("rbac.authorization.k8s.io/v1", "ClusterRole")) {
  SLUICE_CHECK(roles_ != nullptr, "a host without ClusterRoles");
}

std::vector<std::string> AggregatedRoles::watches() const {
  return {"rbac.authorization.k8s.io/ClusterRole"};
}

void AggregatedRoles::changed(const ObjectChange&, std::vector<WorkKey>& keys) {
  keys.push_back({roles_, {}});
}

Result<Time> AggregatedRoles::reconcile(const WorkKey&, ObjectAccess& objects) {
  RbacIndex index;
  std::map<std::string, json::object> roles;
  for (const std::string& name : objects.keys(*roles_))
    if (auto role = objects.get(*roles_, name)) {
      index.add(std::make_shared<const RbacObject>(RbacObject::parse("ClusterRole", *role)));
      roles.emplace(name, std::move(*role));
    }
  for (const auto& [name, role] : roles) {
    const auto made_of = index.made_of(name);
    if (!made_of) continue;
    json::array rules = rules_of(*made_of, roles);
    const json::array* shown = api::find_array(role, "rules");
    if (shown != nullptr ? *shown == rules : rules.empty()) continue;
    json::object changed = role;
    changed["rules"] = std::move(rules);
    if (auto done = objects.update(std::move(changed)); !done)
      return Error{name + ": " + done.error().text};
  }
  return kNever;
}

}  // namespace sluice::host
