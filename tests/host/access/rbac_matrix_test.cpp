// The index against a reference that reads the objects as they are, over random worlds.
#include <gtest/gtest.h>

#include <random>

#include "host/access/denial.hpp"
#include "tests/host/access/rbac_objects.hpp"

namespace sluice::host::test {
namespace {

/// The definition, read off the objects: is there a binding of this subject, in force here, to a
/// role with a rule that says so?
class Reference {
 public:
  explicit Reference(const Objects& objects) : objects_(objects) {}

  bool may(const Identity& who, const AccessRequest& what) const {
    for (const auto& each : objects_) {
      const auto* reference = api::find_object(each, "roleRef");
      if (reference == nullptr) continue;
      const std::string ns = meta(each, "namespace");
      const bool cluster = api::find_text(each, "kind") == "ClusterRoleBinding";
      if (!cluster && (!what.path.empty() || what.ns.empty() || what.ns != ns)) continue;
      if (!names(each, who)) continue;
      for (const auto& role : objects_) {
        if (api::find_text(role, "kind") != api::find_text(*reference, "kind")) continue;
        if (meta(role, "name") != api::find_text(*reference, "name")) continue;
        if (api::find_text(role, "kind") == "Role" && meta(role, "namespace") != ns) continue;
        for (const auto& rule : rules_of(role)) {
          if (says(rule, what)) return true;
        }
      }
    }
    return false;
  }

 private:
  static std::string meta(const json::object& object, const char* key) {
    return std::string(api::find_text(*api::find_object(object, "metadata"), key));
  }
  static bool names(const json::object& binding, const Identity& who) {
    for (const auto& each : *api::find_array(binding, "subjects")) {
      const auto& subject = each.get_object();
      const std::string kind(api::find_text(subject, "kind"));
      const std::string name(api::find_text(subject, "name"));
      if (kind == "User" && name == who.user) return true;
      if (kind == "Group" && std::count(who.groups.begin(), who.groups.end(), name) != 0)
        return true;
    }
    return false;
  }
  std::vector<json::object> rules_of(const json::object& role) const {
    std::vector<json::object> out;
    std::vector<const json::object*> roles = {&role};
    if (role.contains("aggregationRule")) {
      roles.clear();
      const auto label =
          role.at("aggregationRule").at("clusterRoleSelectors").at(0).at("matchLabels");
      for (const auto& other : objects_) {
        if (api::find_text(other, "kind") != "ClusterRole") continue;
        const auto* labels = api::find_object(*api::find_object(other, "metadata"), "labels");
        if (labels != nullptr && labels->contains(label.get_object().begin()->key()))
          roles.push_back(&other);
      }
    }
    for (const auto* each : roles) {
      for (const auto& rule : *api::find_array(*each, "rules")) out.push_back(rule.get_object());
    }
    return out;
  }
  static bool lists(const json::object& rule, const char* key, const std::string& text) {
    const auto* list = api::find_array(rule, key);
    return list != nullptr && std::any_of(list->begin(), list->end(), [&](const auto& each) {
             return api::view(each.get_string()) == text;
           });
  }
  static bool says(const json::object& rule, const AccessRequest& what) {
    if (!lists(rule, "verbs", std::string(what.verb)) && !lists(rule, "verbs", "*")) return false;
    if (!what.path.empty()) {
      if (lists(rule, "nonResourceURLs", "*")) return true;
      if (lists(rule, "nonResourceURLs", std::string(what.path))) return true;
      for (std::size_t i = 0; i <= what.path.size(); ++i) {
        if (lists(rule, "nonResourceURLs", std::string(what.path.substr(0, i)) + "*")) return true;
      }
      return false;
    }
    if (!lists(rule, "apiGroups", std::string(what.group)) && !lists(rule, "apiGroups", "*"))
      return false;
    std::string full(what.resource);
    if (!what.subresource.empty()) full += "/" + std::string(what.subresource);
    bool resource = lists(rule, "resources", "*") || lists(rule, "resources", full);
    if (!what.subresource.empty())
      resource = resource || lists(rule, "resources", "*/" + std::string(what.subresource));
    if (!resource) return false;
    const auto* names = api::find_array(rule, "resourceNames");
    return names == nullptr || names->empty() ||
           lists(rule, "resourceNames", std::string(what.name));
  }

  const Objects& objects_;
};

class RandomWorld {
 public:
  explicit RandomWorld(unsigned seed) : random_(seed) {}

  Objects objects() {
    Objects out;
    for (int i = 0; i < 4; ++i) {
      out.push_back(role_named("Role", pick({"n1", "n2"}), "r" + std::to_string(i)));
      auto cluster = role_named("ClusterRole", "", "c" + std::to_string(i));
      if (chance(3)) cluster["metadata"].as_object()["labels"] = json::object{{"in", "1"}};
      out.push_back(cluster);
    }
    auto sum = role_named("ClusterRole", "", "sum");
    sum["aggregationRule"] = parsed(R"({"clusterRoleSelectors":[{"matchLabels":{"in":"1"}}]})");
    out.push_back(sum);
    for (int i = 0; i < 6; ++i) {
      const std::string ns = pick({"", "n1", "n2"});
      const bool role = !ns.empty() && chance(2);
      const std::string name =
          role ? pick({"r0", "r1", "r2", "r3"}) : pick({"c0", "c1", "c2", "c3", "sum", "missing"});
      const bool user = chance(2);
      out.push_back(binding(ns, role ? "Role" : "ClusterRole", name, user ? "User" : "Group",
                            user ? pick({"u1", "u2"}) : pick({"g1", "g2"})));
    }
    return out;
  }

 private:
  bool chance(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }
  std::string pick(const std::vector<std::string>& from) {
    return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random_)];
  }
  json::array some(const std::vector<std::string>& from) {
    json::array out;
    for (const auto& each : from) {
      if (chance(3)) out.emplace_back(each);
    }
    if (out.empty()) out.emplace_back(pick(from));
    return out;
  }
  json::object role_named(const std::string& kind, const std::string& ns, const std::string& name) {
    json::array rules;
    for (int i = 0; i < 2; ++i) {
      json::object rule;
      rule["verbs"] = some({"get", "list", "create", "*"});
      if (chance(4) && kind == "ClusterRole") {
        rule["nonResourceURLs"] = some({"/a", "/a/*", "/b*", "*"});
      } else {
        rule["apiGroups"] = some({"", "batch", "*"});
        rule["resources"] = some({"pods", "pods/log", "jobs", "*/log", "*"});
        if (chance(3)) rule["resourceNames"] = some({"x", "y"});
      }
      rules.push_back(std::move(rule));
    }
    return role(kind, ns, name, api::to_json(rules));
  }

  std::mt19937 random_;
};

TEST(RbacMatrix, AgreesWithTheDefinitionEverywhere) {
  std::size_t asked = 0, let_through = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    const Objects objects = RandomWorld(seed).objects();
    const RbacIndex index = index_of(objects);
    const Reference reference(objects);
    std::vector<AccessRequest> requests;
    for (const char* verb : {"get", "list", "create"}) {
      for (const char* path : {"/a", "/a/b", "/b", "/bc", "/"})
        requests.push_back(request(verb, path));
      for (const char* group : {"", "batch"}) {
        for (const char* resource : {"pods", "pods/log", "jobs", "jobs/log"}) {
          for (const char* ns : {"", "n1", "n2"}) {
            for (const char* name : {"", "x"})
              requests.push_back(request(verb, resource, ns, name, group));
          }
        }
      }
    }
    for (const Identity& who : std::vector<Identity>{
             {"u1", "", {}}, {"u2", "", {"g1"}}, {"u3", "", {"g1", "g2"}}, {"", "", {"g2"}}}) {
      for (const AccessRequest& what : requests) {
        const bool expected = reference.may(who, what);
        ASSERT_EQ(index.may(who, what).allowed, expected)
            << "seed " << seed << ": " << denial_text(who, what);
        ++asked;
        let_through += expected ? 1 : 0;
      }
    }
  }
  EXPECT_GT(let_through, asked / 20);
  EXPECT_LT(let_through, asked - asked / 20);
}

}  // namespace
}  // namespace sluice::host::test
