// Rules as expressions.
#include "host/cluster/validations.hpp"

#include <gmock/gmock.h>

#include <string>

#include "api/json/json.hpp"
#include "api/scheme/scheme.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

struct Said {
  const char* rule;  // at spec, whose fields are below
  const char* expression;
};

constexpr const char* kFields = R"(
  {"path":"spec.a","type":"string"},{"path":"spec.b","type":"string"},
  {"path":"spec.inner.c","type":"string"},{"path":"spec.namespace","type":"string"},
  {"path":"spec.list","type":"array"},{"path":"spec.number","type":"integer"})";

/// The expressions of the rules at spec.
std::vector<std::string> expressions(const std::string& rule) {
  api::Scheme scheme;
  const auto added =
      scheme.add(R"({"kind":"Widget","group":"example.com","plural":"widgets","scope":"Cluster",
      "versions":[{"version":"v1","storage":true,"fields":[)" +
                     std::string(kFields) + R"(],"rules":[)" + rule + "]}]}",
                 "test");
  EXPECT_TRUE(added.ok()) << (added ? "" : added.error().text);
  std::vector<std::string> out;
  for (const auto& each :
       validations(*scheme.schema("example.com/v1", "Widget")->field("spec")->node))
    out.emplace_back(api::find_text(each.get_object(), "rule"));
  return out;
}

TEST(Validations, GeneralRulesAsExpressions) {
  const Said table[] = {
      {R"({"rule":"allowedIf","field":"a","when":{"b":["x","y"]}})",
       "!(has(self.a)) || (has(self.b) && self.b in ['x', 'y'])"},
      {R"({"rule":"forbiddenIf","field":"a","whenSet":["inner.c"]})",
       "!(has(self.a)) || !(has(self.inner) && has(self.inner.c))"},
      {R"({"rule":"requiredIf","field":"number","whenSet":["a"]})",
       "(has(self.number)) || !(has(self.a))"},
      {R"({"rule":"valueIf","field":"inner.c","oneOf":["it's"],"when":{"a":["x"]}})",
       R"(!(has(self.inner) && has(self.inner.c)) || !(has(self.a) && self.a in ['x']) || )"
       R"(self.inner.c in ['it\'s'])"},
      {R"({"rule":"exactlyOne","fields":["namespace","list"]})",
       "(has(self.__namespace__)) != (has(self.list) && size(self.list) > 0)"},
      {R"({"rule":"exactlyOne","fields":["a","b","number"]})",
       "[has(self.a), has(self.b), has(self.number)].filter(x, x).size() == 1"},
      {R"({"rule":"exclusive","fields":["a","b","number"]})",
       "[has(self.a), has(self.b), has(self.number)].filter(x, x).size() <= 1"},
      {R"({"rule":"exclusive","fields":["a","b"]})", "!(has(self.a)) || !(has(self.b))"},
  };
  for (const auto& [rule, expression] : table) {
    const std::string with_place = std::string(R"({"at":"spec","message":"m",)") + (rule + 1);
    EXPECT_THAT(expressions(with_place), ::testing::ElementsAre(expression)) << rule;
  }
}

/// A condition on a number is one that never holds for Sluice; an expression would be none.
TEST(Validations, WhatCannotBeSaidIsLeftOut) {
  EXPECT_THAT(expressions(R"({"at":"spec","message":"m","rule":"allowedIf","field":"a",
                              "when":{"number":["1"]}})"),
              ::testing::IsEmpty());
}

TEST(Validations, ChangesAreSpokenOfFromTheRoot) {
  EXPECT_EQ(expression_of(api::UpdateRule{"spec.a", "", true}),
            "!(has(oldSelf.spec) && has(oldSelf.spec.a)) || (has(self.spec) && has(self.spec.a) && "
            "self.spec.a == oldSelf.spec.a)");
  EXPECT_EQ(expression_of(api::UpdateRule{"value", "", false}),
            "!(has(oldSelf.value)) || !(has(self.value)) || self.value == oldSelf.value");
}

/// A rule that is added to a kind of the core is listed here when a definition cannot express it.
TEST(Validations, EveryRuleOfTheCoreIsSaid) {
  const api::Scheme scheme;
  std::size_t rules = 0;
  const auto visit = [&](const auto& self, const api::SchemaNode& node) -> void {
    if (!node.type_name.empty()) return;  // pod templates: of Kubernetes
    for (const api::Rule& rule : node.rules) {
      ++rules;
      EXPECT_TRUE(expression_of(rule, node).has_value()) << rule.name;
    }
    for (const auto& field : node.fields) self(self, *field.node);
    if (node.items != nullptr) self(self, *node.items);
    if (node.values != nullptr) self(self, *node.values);
  };
  for (const api::KindInfo* kind : scheme.kinds())
    if (kind->group == "kueue.x-k8s.io")
      visit(visit, *scheme.schema(kind->hub_api_version(), kind->kind));
  EXPECT_GT(rules, 20u);
}

}  // namespace
}  // namespace sluice::host
