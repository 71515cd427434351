// RbacIndex: all roles and bindings of one moment, compiled so that a question costs microseconds.
//
// Filled with add() and finish(), then only read: any thread. Everything is denied that no binding
// allows; members of system:masters may do everything. ClusterRoles with an aggregationRule have
// the rules of all ClusterRoles that it selects, through any number of steps, and none of their
// own.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types/meta.hpp"
#include "host/access/authorizer.hpp"
#include "host/access/policy_rule.hpp"

namespace sluice::host {

using PolicyRules = std::vector<PolicyRule>;

/// One object of RBAC, read. Immutable once made.
struct RbacObject {
  std::string kind;  ///< Role, ClusterRole, RoleBinding, ClusterRoleBinding
  std::string ns, name;
  // roles
  api::LabelMap labels;
  std::shared_ptr<const PolicyRules> rules;
  bool aggregates = false;
  std::vector<api::LabelSelector> selectors;
  // bindings
  std::string role_kind, role_name;
  std::vector<std::string> users, groups;

  /// `object`: of one of the four kinds, as stored.
  static RbacObject parse(std::string_view kind, const boost::json::object& object);
};

class RbacIndex {
 public:
  void add(std::shared_ptr<const RbacObject> object);
  /// After the last add(). O(objects · selectors).
  void finish();

  AccessAnswer may(const Identity& who, const AccessRequest& request) const;
  /// The rights of a user in a namespace (empty: cluster-wide), each once, the first `most` of
  /// them. O(rules log rules).
  PolicyRules rules_for(const Identity& who, std::string_view ns, std::size_t most) const;
  /// The rules of a role; nullptr when there is none. `ns` counts for Roles only.
  const PolicyRules* role(std::string_view kind, std::string_view ns, std::string_view name) const;
  /// The ClusterRoles whose own rules are those of this one, in order; nullopt: it has its own, or
  /// there is none. Before finish(), too.
  std::optional<std::vector<std::string>> made_of(std::string_view cluster_role) const;

 private:
  struct Grant {
    std::string ns;  ///< empty: everywhere
    std::shared_ptr<const PolicyRules> rules;
    std::shared_ptr<const RbacObject> binding;
  };
  using Grants = std::map<std::string, std::vector<Grant>, std::less<>>;

  template <typename Take>
  void each_grant(const Identity& who, std::string_view ns, Take take) const;
  std::vector<const RbacObject*> parts_of(const RbacObject& role) const;

  std::map<std::string, std::shared_ptr<const RbacObject>, std::less<>> roles_;  // kind/ns/name
  std::map<std::string, std::shared_ptr<const PolicyRules>, std::less<>> aggregated_;  // by name
  std::vector<std::shared_ptr<const RbacObject>> bindings_;
  Grants users_, groups_;
};

bool is_master(const Identity& who);

}  // namespace sluice::host
