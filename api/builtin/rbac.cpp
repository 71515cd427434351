// Roles and bindings: what their rules and subjects must contain. Whether the writer may grant them
// is not checked here.
#include "api/builtin/rules.hpp"
#include "api/schema/rules.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api::builtin {

namespace json = boost::json;

namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

bool has_entries(const json::object& holder, std::string_view key) {
  const json::array* list = find_array(holder, key);
  return list != nullptr && !list->empty();
}

// Each request of a user who is bound to a role walks all its rules.
constexpr std::size_t kMostRules = 1000;

void check_rules(const json::object& role, bool namespaced, Outcome& outcome) {
  if (const json::array* rules = find_array(role, "rules"); rules && rules->size() > kMostRules) {
    add_problem(outcome, Problem::Kind::kTooMany, "rules",
                "Too many: " + std::to_string(rules->size()) + ": must have at most " +
                    std::to_string(kMostRules) + " items");
    return;
  }
  for_objects(role, "rules", [&](std::size_t i, const json::object& rule) {
    const std::string at = indexed("rules", i);
    if (!has_entries(rule, "verbs")) {
      add_required(outcome, at + ".verbs", "verbs must contain at least one value");
    }
    if (has_entries(rule, "nonResourceURLs")) {
      if (namespaced) {
        add_invalid(outcome, at + ".nonResourceURLs", *find(rule, "nonResourceURLs"),
                    "namespaced rules cannot apply to non-resource URLs");
      }
      for (const char* field : {"apiGroups", "resources", "resourceNames"}) {
        if (!has_entries(rule, field)) continue;
        add_invalid(outcome, at + ".nonResourceURLs", *find(rule, "nonResourceURLs"),
                    "rules cannot apply to both regular resources and non-resource URLs");
        break;
      }
      return;
    }
    if (!has_entries(rule, "apiGroups")) {
      add_required(outcome, at + ".apiGroups", "resource rules must supply at least one api group");
    }
    if (!has_entries(rule, "resources")) {
      add_required(outcome, at + ".resources", "resource rules must supply at least one resource");
    }
  });
}

void check_binding(const json::object& binding, const json::object* old, bool namespaced,
                   Outcome& outcome) {
  const std::string_view kind = find_text(part(binding, "roleRef"), "kind");
  if (!kind.empty() && kind != "ClusterRole" && !(namespaced && kind == "Role")) {
    add_problem(outcome, Problem::Kind::kUnsupported, "roleRef.kind",
                namespaced ? unsupported(shown(kind), {"Role", "ClusterRole"})
                           : unsupported(shown(kind), {"ClusterRole"}));
  }
  for_objects(binding, "subjects", [&](std::size_t i, const json::object& subject) {
    const std::string at = indexed("subjects", i);
    const bool account = find_text(subject, "kind") == "ServiceAccount";
    const std::string_view group = find_text(subject, "apiGroup");
    if (account && find_text(subject, "namespace").empty()) {
      add_required(outcome, at + ".namespace");
    }
    if (group != (account ? std::string_view() : kGroup)) {
      add_problem(outcome, Problem::Kind::kUnsupported, at + ".apiGroup",
                  unsupported(shown(group), {std::string(account ? std::string_view() : kGroup)}));
    }
  });
  if (old != nullptr && !same(binding, *old, "roleRef")) {
    add_invalid(outcome, "roleRef", json::value(part(binding, "roleRef")), "cannot change roleRef");
  }
}

}  // namespace

void fill_in_role_binding(json::object& binding) {
  for_objects(binding, "subjects", [](std::size_t, json::object& subject) {
    const std::string_view kind = find_text(subject, "kind");
    if (find(subject, "apiGroup") == nullptr && (kind == "User" || kind == "Group")) {
      subject["apiGroup"] = json_view(kGroup);
    }
  });
}

void check_role(const json::object& role, const json::object*, Outcome& outcome) {
  check_rules(role, true, outcome);
}

void check_cluster_role(const json::object& role, const json::object*, Outcome& outcome) {
  check_rules(role, false, outcome);
}

void check_role_binding(const json::object& binding, const json::object* old, Outcome& outcome) {
  check_binding(binding, old, true, outcome);
}

void check_cluster_role_binding(const json::object& binding, const json::object* old,
                                Outcome& outcome) {
  check_binding(binding, old, false, outcome);
}

}  // namespace sluice::api::builtin
