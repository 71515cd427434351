#include "host/access/grants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
constexpr std::size_t kShown = 20;
constexpr std::size_t kMostCompared = 1'000'000;  // rules that are granted with rules that are held

std::string who_text(const Identity& who) {
  std::string groups;
  for (const auto& group : who.groups) {
    if (!groups.empty()) groups += ' ';
    api::append_json_text(group, groups);
  }
  return fmt::format("user \"{}\" (groups=[{}])", who.user, groups);
}

bool may_use(const RbacIndex& index, const Identity& who, std::string_view verb,
             std::string_view resource, std::string_view ns, std::string_view name) {
  AccessRequest request;
  request.verb = verb;
  request.group = kGroup;
  request.resource = resource;
  request.ns = ns;
  request.name = name;
  return index.may(who, request).allowed;
}

/// nullopt when everything wanted is held.
std::optional<std::string> excess(const RbacIndex& index, const Identity& who, std::string_view ns,
                                  const PolicyRules& wanted) {
  const std::size_t most = kMostCompared / std::max<std::size_t>(1, wanted.size());
  const PolicyRules held = index.rules_for(who, ns, most + 1);
  if (held.size() > most)
    return fmt::format(
        "{} holds more than {} rules and grants {}, which are too many to be compared: the limit "
        "is {} pairs",
        who_text(who), most, wanted.size(), kMostCompared);
  std::string missing;
  std::size_t count = 0;
  for (const auto& rule : wanted) {
    for (const auto& each : uncovered(held, rule, kShown - count)) {
      missing += "\n" + rule_text(each);
      ++count;
    }
    if (count >= kShown) break;
  }
  if (missing.empty()) return std::nullopt;
  return who_text(who) + " is attempting to grant RBAC permissions not currently held:" + missing;
}

}  // namespace

std::optional<ApiError> refuses_grant(const RbacIndex& index, const Identity& who,
                                      const api::KindInfo& kind,
                                      const boost::json::object& object) {
  if (kind.group != kGroup || is_master(who)) return std::nullopt;
  const RbacObject wanted = RbacObject::parse(kind.kind, object);
  const std::string& ns = wanted.ns;
  if (kind.kind == "Role" || kind.kind == "ClusterRole") {
    if (may_use(index, who, "escalate", kind.plural, ns, wanted.name)) return std::nullopt;
    // What others will be aggregated into it cannot be known, so it takes the right to everything.
    auto why = excess(index, who, ns, wanted.aggregates ? every_right() : *wanted.rules);
    if (!why) return std::nullopt;
    return forbidden(kind, wanted.name, *why);
  }
  if (kind.kind != "RoleBinding" && kind.kind != "ClusterRoleBinding") return std::nullopt;
  const bool cluster_role = wanted.role_kind == "ClusterRole";
  if (may_use(index, who, "bind", cluster_role ? "clusterroles" : "roles", ns, wanted.role_name))
    return std::nullopt;
  const PolicyRules* rules = index.role(wanted.role_kind, ns, wanted.role_name);
  if (rules == nullptr) {
    return forbidden(kind, wanted.name,
                     fmt::format("{} \"{}\" does not exist, and {} may not bind it",
                                 wanted.role_kind, wanted.role_name, who_text(who)));
  }
  auto why = excess(index, who, ns, *rules);
  if (!why) return std::nullopt;
  return forbidden(kind, wanted.name, *why);
}

}  // namespace sluice::host
