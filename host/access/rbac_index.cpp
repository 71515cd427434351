#include "host/access/rbac_index.hpp"

#include <algorithm>
#include <set>

#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

std::string role_key(std::string_view kind, std::string_view ns, std::string_view name) {
  std::string out(kind);
  out.append("/").append(kind == "Role" ? ns : std::string_view()).append("/").append(name);
  return out;
}

void read_subjects(const json::object& binding, RbacObject& out) {
  for_each_object(binding, "subjects", [&](const json::object& subject) {
    const std::string_view kind = api::find_text(subject, "kind");
    const std::string name(api::find_text(subject, "name"));
    if (kind == "User") out.users.push_back(name);
    if (kind == "Group") out.groups.push_back(name);
    if (kind == "ServiceAccount") {
      std::string_view ns = api::find_text(subject, "namespace");
      if (ns.empty()) ns = out.ns;
      if (!ns.empty()) out.users.push_back("system:serviceaccount:" + std::string(ns) + ":" + name);
    }
  });
}

}  // namespace

bool is_master(const Identity& who) {
  return std::find(who.groups.begin(), who.groups.end(), "system:masters") != who.groups.end();
}

RbacObject RbacObject::parse(std::string_view kind, const json::object& object) {
  RbacObject out;
  out.kind = kind;
  if (const auto* metadata = api::find_object(object, "metadata")) {
    out.name = api::find_text(*metadata, "name");
    out.ns = api::find_text(*metadata, "namespace");
    out.labels = api::find_labels(*metadata, "labels");
  }
  if (const auto* reference = api::find_object(object, "roleRef")) {
    out.role_kind = api::find_text(*reference, "kind");
    out.role_name = api::find_text(*reference, "name");
    read_subjects(object, out);
    return out;
  }
  out.rules = std::make_shared<const PolicyRules>(parse_rules(object));
  if (const auto* rule = api::find_object(object, "aggregationRule")) {
    out.aggregates = true;
    for_each_object(*rule, "clusterRoleSelectors", [&](const json::object& selector) {
      out.selectors.push_back(api::decode_selector(selector));
    });
  }
  return out;
}

void RbacIndex::add(std::shared_ptr<const RbacObject> object) {
  if (object->kind == "Role" || object->kind == "ClusterRole") {
    roles_[role_key(object->kind, object->ns, object->name)] = std::move(object);
  } else {
    bindings_.push_back(std::move(object));
  }
}

/// Those with rules of their own that an aggregated role selects, through any number of steps.
std::vector<const RbacObject*> RbacIndex::parts_of(const RbacObject& role) const {
  std::vector<const RbacObject*> out;
  std::set<const RbacObject*> seen = {&role};
  std::vector<const RbacObject*> open = {&role};
  while (!open.empty()) {
    const RbacObject* at = open.back();
    open.pop_back();
    if (!at->aggregates) {
      out.push_back(at);
      continue;
    }
    for (const auto& [key, other] : roles_) {
      if (other->kind != "ClusterRole" || seen.count(other.get()) != 0) continue;
      const bool selected = std::any_of(
          at->selectors.begin(), at->selectors.end(),
          [&labels = other->labels](const auto& selector) { return selector.matches(labels); });
      if (!selected) continue;
      seen.insert(other.get());
      open.push_back(other.get());
    }
  }
  return out;
}

std::optional<std::vector<std::string>> RbacIndex::made_of(std::string_view cluster_role) const {
  const auto found = roles_.find(role_key("ClusterRole", "", cluster_role));
  if (found == roles_.end() || !found->second->aggregates) return std::nullopt;
  std::vector<std::string> out;
  for (const RbacObject* part : parts_of(*found->second)) out.push_back(part->name);
  std::sort(out.begin(), out.end());
  return out;
}

void RbacIndex::finish() {
  for (const auto& [key, role] : roles_) {
    if (!role->aggregates) continue;
    auto rules = std::make_shared<PolicyRules>();
    for (const RbacObject* part : parts_of(*role))
      rules->insert(rules->end(), part->rules->begin(), part->rules->end());
    aggregated_[role->name] = std::move(rules);
  }
  for (const auto& binding : bindings_) {
    const auto found = roles_.find(role_key(binding->role_kind, binding->ns, binding->role_name));
    if (found == roles_.end()) continue;
    const RbacObject& role = *found->second;
    const Grant grant{binding->ns, role.aggregates ? aggregated_[role.name] : role.rules, binding};
    for (const auto& user : binding->users) users_[user].push_back(grant);
    for (const auto& group : binding->groups) groups_[group].push_back(grant);
  }
}

/// Calls take(grant, subject kind, subject) until it returns false.
template <typename Take>
void RbacIndex::each_grant(const Identity& who, std::string_view ns, Take take) const {
  const auto go = [&](const Grants& grants, const std::string& subject, const char* kind) {
    const auto found = grants.find(subject);
    if (found == grants.end()) return true;
    return std::all_of(found->second.begin(), found->second.end(), [&](const Grant& grant) {
      return (!grant.ns.empty() && grant.ns != ns) || take(grant, kind, subject);
    });
  };
  if (!who.user.empty() && !go(users_, who.user, "User")) return;
  for (const auto& group : who.groups) {
    if (!go(groups_, group, "Group")) return;
  }
}

AccessAnswer RbacIndex::may(const Identity& who, const AccessRequest& request) const {
  if (is_master(who)) return {true, "member of system:masters"};
  AccessAnswer answer;
  const std::string_view ns = request.path.empty() ? request.ns : std::string_view();
  each_grant(who, ns, [&](const Grant& grant, const char* kind, const std::string& subject) {
    const bool allowed = std::any_of(grant.rules->begin(), grant.rules->end(),
                                     [&](const PolicyRule& rule) { return rule.allows(request); });
    if (!allowed) return true;
    const RbacObject& binding = *grant.binding;
    answer.allowed = true;
    answer.reason = "RBAC: allowed by " + binding.kind + " \"" +
                    join_key(binding.ns, binding.name) + "\" of " + binding.role_kind + " \"" +
                    binding.role_name + "\" to " + kind + " \"" + subject + "\"";
    return false;
  });
  return answer;
}

PolicyRules RbacIndex::rules_for(const Identity& who, std::string_view ns, std::size_t most) const {
  PolicyRules out;
  const auto before = [](const PolicyRule* a, const PolicyRule* b) { return *a < *b; };
  std::set<const PolicyRule*, decltype(before)> seen(before);
  const auto add = [&](const PolicyRules& rules) {
    for (const auto& rule : rules) {
      if (!seen.insert(&rule).second) continue;
      if (out.size() >= most) return false;
      out.push_back(rule);
    }
    return true;
  };
  if (is_master(who) && !add(every_right())) return out;
  each_grant(who, ns, [&](const Grant& grant, const char*, const std::string&) {
    return add(*grant.rules);
  });
  return out;
}

const PolicyRules* RbacIndex::role(std::string_view kind, std::string_view ns,
                                   std::string_view name) const {
  const auto found = roles_.find(role_key(kind, ns, name));
  if (found == roles_.end()) return nullptr;
  if (!found->second->aggregates) return found->second->rules.get();
  return aggregated_.find(name)->second.get();
}

}  // namespace sluice::host
