// Roles and bindings as objects, an index of them, and what is asked of it, for the tests of
// access. Pure functions.
#pragma once

#include <boost/json/parse.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.hpp"
#include "host/access/rbac_index.hpp"

namespace sluice::host::test {

namespace json = boost::json;

using Objects = std::vector<json::object>;

inline json::object parsed(const std::string& text) { return json::parse(text).get_object(); }

inline RbacIndex index_of(const Objects& objects) {
  RbacIndex out;
  for (const auto& object : objects) {
    out.add(std::make_shared<const RbacObject>(
        RbacObject::parse(api::find_text(object, "kind"), object)));
  }
  out.finish();
  return out;
}

/// `get pods/log.batch team-a/x`, or `get /healthz`.
inline AccessRequest request(std::string_view verb, std::string_view resource,
                             std::string_view ns = {}, std::string_view name = {},
                             std::string_view group = {}) {
  AccessRequest out;
  out.verb = verb;
  if (!resource.empty() && resource[0] == '/') {
    out.path = resource;
    return out;
  }
  const auto slash = resource.find('/');
  out.resource = resource.substr(0, slash);
  if (slash != std::string_view::npos) out.subresource = resource.substr(slash + 1);
  out.ns = ns;
  out.name = name;
  out.group = group;
  return out;
}

inline json::object role(const std::string& kind, const std::string& ns, const std::string& name,
                         const std::string& rules) {
  return parsed(R"({"kind":")" + kind + R"(","metadata":{"name":")" + name + R"(","namespace":")" +
                ns + R"("},"rules":)" + rules + "}");
}

inline json::object binding(const std::string& ns, const std::string& role_kind,
                            const std::string& role, const std::string& subject_kind,
                            const std::string& subject) {
  const std::string kind = ns.empty() ? "ClusterRoleBinding" : "RoleBinding";
  return parsed(R"({"kind":")" + kind + R"(","metadata":{"name":"b-)" + role + subject +
                R"(","namespace":")" + ns + R"("},"roleRef":{"kind":")" + role_kind +
                R"(","name":")" + role + R"("},"subjects":[{"kind":")" + subject_kind +
                R"(","name":")" + subject + R"("}]})");
}

inline bool allowed(const RbacIndex& index, const Identity& who, const AccessRequest& what) {
  return index.may(who, what).allowed;
}

inline const Identity kJane{"jane", "", {"dev", "system:authenticated"}};

}  // namespace sluice::host::test
