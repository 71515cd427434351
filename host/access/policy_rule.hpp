// PolicyRule: one rule of a Role or ClusterRole: what it allows, and what it covers.
//
// A plain value; pure functions, any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <compare>
#include <string>
#include <vector>

#include "host/access/authorizer.hpp"

namespace sluice::host {

struct PolicyRule {
  std::vector<std::string> verbs, groups, resources, names, urls;

  /// `*` stands for everything; `*/status` for a subresource of all resources; a URL may end in
  /// `*`; no names: all names.
  bool allows(const AccessRequest& request) const;
  /// An order without a meaning, to find equal ones by.
  auto operator<=>(const PolicyRule&) const = default;
};

/// What members of system:masters may do: every verb on every resource and every path.
const std::vector<PolicyRule>& every_right();

PolicyRule parse_rule(const boost::json::object& rule);
/// Of the field `rules`; entries that are no objects are left out.
std::vector<PolicyRule> parse_rules(const boost::json::object& role);
boost::json::object to_json(const PolicyRule& rule);

/// What of `wanted` is not allowed by `held`: rules with one verb, group, resource and name each.
/// At most `most` of them.
std::vector<PolicyRule> uncovered(const std::vector<PolicyRule>& held, const PolicyRule& wanted,
                                  std::size_t most);

/// `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`.
std::string rule_text(const PolicyRule& rule);

}  // namespace sluice::host
