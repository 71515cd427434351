// The translation of each kind of field, and that what comes out is what an API server takes for
// structural.
#include "host/cluster/structural.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <string>

#include "api/json/json.hpp"
#include "api/scheme/scheme.hpp"
#include "host/cluster/definitions.hpp"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::IsEmpty;

/// The schema of `spec` of a kind with these fields and rules, as text.
std::string spec_of(const std::string& fields, const std::string& rules = "") {
  api::Scheme scheme;
  const auto added = scheme.add(R"({"kind":"Widget","group":"example.com","plural":"widgets",
      "scope":"Namespaced","versions":[{"version":"v1","storage":true,"fields":[)" +
                                    fields + R"(],"rules":[)" + rules + "]}]}",
                                "test");
  if (!added) return added.error().text;
  const json::object schema =
      structural_schema(scheme, *scheme.schema("example.com/v1", "Widget"), "", {});
  return json::serialize(schema.at("properties").at("spec"));
}

struct Translation {
  const char* fields;  // of the source
  const char* schema;  // of spec
};

TEST(Structural, EachKindOfFieldHasItsForm) {
  const std::string amount =
      R"({"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true,)"
      R"("pattern":"^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+)))"
      R"((([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$"})";
  const Translation table[] = {
      {R"({"path":"spec","type":"string","minLength":1,"maxLength":5,"description":"A word."})",
       R"({"type":"string","minLength":1,"maxLength":5,"description":"A word."})"},
      {R"({"path":"spec","type":"string","enum":["A","B"],"default":"A"})",
       R"({"type":"string","enum":["A","B"],"default":"A"})"},
      {R"({"path":"spec","type":"string","format":"date-time"})",
       R"({"type":"string","format":"date-time"})"},
      {R"({"path":"spec","type":"string","format":"dns-label"})",
       R"({"type":"string","pattern":"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"})"},
      {R"({"path":"spec","type":"integer","format":"int32","min":0,"max":7})",
       R"({"type":"integer","format":"int32","minimum":0,"maximum":7})"},
      {R"({"path":"spec","type":"integer","format":"int32","min":0})",
       R"({"type":"integer","format":"int32","minimum":0,"maximum":2147483647})"},
      {R"({"path":"spec","type":"integer"})", R"({"type":"integer","format":"int64"})"},
      {R"({"path":"spec","type":"boolean"})", R"({"type":"boolean"})"},
      {R"({"path":"spec","type":"bytes"})", R"({"type":"string","format":"byte"})"},
      {R"({"path":"spec","type":"any"})", R"({"x-kubernetes-preserve-unknown-fields":true})"},
      {R"({"path":"spec","type":"object"})",
       R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})"},
      {R"({"path":"spec","type":"intOrString"})",
       R"({"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true})"},
      {R"({"path":"spec","type":"quantity"})", amount.c_str()},
      {R"({"path":"spec","type":"object","maxProperties":8},{"path":"spec{}","type":"string"})",
       R"({"type":"object","additionalProperties":{"type":"string"},"maxProperties":8})"},
      {R"({"path":"spec","type":"object","mapType":"atomic"},
          {"path":"spec.a","type":"string","required":true},{"path":"spec.b","type":"integer",
           "required":true,"default":1})",
       R"({"type":"object","properties":{"a":{"type":"string"},)"
       R"("b":{"type":"integer","format":"int64","default":1}},"required":["a"],)"
       R"("x-kubernetes-map-type":"atomic"})"},
      {R"({"path":"spec","type":"array","maxItems":3},{"path":"spec[]","type":"string"})",
       R"({"type":"array","items":{"type":"string"},"maxItems":3,)"
       R"("x-kubernetes-list-type":"atomic"})"},
      {R"({"path":"spec","type":"array"})",
       R"({"type":"array","items":{"x-kubernetes-preserve-unknown-fields":true},)"
       R"("x-kubernetes-list-type":"atomic"})"},
      {R"({"path":"spec","type":"array","listType":"set"},{"path":"spec[]","type":"string"})",
       R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"})"},
      {R"({"path":"spec","type":"array","listKeys":["name"]},
          {"path":"spec[].name","type":"string","required":true})",
       R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}},)"
       R"("required":["name"]},"x-kubernetes-list-type":"map",)"
       R"("x-kubernetes-list-map-keys":["name"]})"},
      // A key that may be absent is none for an API server.
      {R"({"path":"spec","type":"array","listKeys":["name"]},
          {"path":"spec[].name","type":"string"})",
       R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}},)"
       R"("x-kubernetes-list-type":"atomic"})"},
  };
  for (const auto& [fields, schema] : table) EXPECT_EQ(spec_of(fields), schema) << fields;
}

TEST(Structural, RulesStandWhereTheyHold) {
  EXPECT_EQ(
      spec_of(R"({"path":"spec.a","type":"string"},{"path":"spec.b","type":"array"})",
              R"({"at":"spec","rule":"exclusive","fields":["a","b"],"message":"one of a and b"})"),
      R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array",)"
      R"("items":{"x-kubernetes-preserve-unknown-fields":true},)"
      R"("x-kubernetes-list-type":"atomic"}},"x-kubernetes-validations":[{"rule":)"
      R"~("!(has(self.a)) || !(has(self.b) && size(self.b) > 0)",)~"
      R"("message":"one of a and b"}]})");
}

// --- what makes a schema structural, as apiextensions.k8s.io/v1 has it

class Checker {
 public:
  void check(const json::value& schema, const std::string& at) {
    if (!schema.is_object()) return complain(at, "is no object");
    const json::object& node = schema.get_object();
    for (const auto& member : node) known(std::string(api::view(member.key())), at);
    const bool preserves = node.contains("x-kubernetes-preserve-unknown-fields");
    const bool either = node.contains("x-kubernetes-int-or-string");
    const std::string_view type = api::find_text(node, "type");
    if (type.empty() && !preserves && !either) complain(at, "has no type");
    if (!type.empty() && either) complain(at, "has a type beside int-or-string");
    if (node.contains("properties") && node.contains("additionalProperties"))
      complain(at, "is a map and has properties");
    if ((type == "array") != node.contains("items")) complain(at, "items belong to a list");
    lists(node, at);
    required(node, at);
    if (const json::value* value = api::find(node, "default")) default_of(node, *value, at);
    if (const json::object* properties = api::find_object(node, "properties"))
      for (const auto& member : *properties)
        check(member.value(), at + "." + std::string(api::view(member.key())));
    for (const char* inner : {"items", "additionalProperties"})
      if (const json::value* value = api::find(node, inner)) check(*value, at + "[]");
  }

  std::vector<std::string> complaints;
  std::size_t nodes = 0;

 private:
  void complain(const std::string& at, const std::string& what) {
    complaints.push_back(at + ": " + what);
  }

  void known(const std::string& key, const std::string& at) {
    static const std::set<std::string> all = {"type",
                                              "format",
                                              "pattern",
                                              "enum",
                                              "default",
                                              "minimum",
                                              "maximum",
                                              "minLength",
                                              "maxLength",
                                              "minItems",
                                              "maxItems",
                                              "maxProperties",
                                              "required",
                                              "properties",
                                              "additionalProperties",
                                              "items",
                                              "anyOf",
                                              "description",
                                              "x-kubernetes-preserve-unknown-fields",
                                              "x-kubernetes-int-or-string",
                                              "x-kubernetes-list-type",
                                              "x-kubernetes-list-map-keys",
                                              "x-kubernetes-map-type",
                                              "x-kubernetes-validations"};
    ++nodes;
    if (!all.contains(key)) complain(at, "has \"" + key + "\"");
  }

  void lists(const json::object& node, const std::string& at) {
    const std::string_view kind = api::find_text(node, "x-kubernetes-list-type");
    const json::object* items = api::find_object(node, "items");
    if (kind == "set" && (items == nullptr || api::find_text(*items, "type") == "object"))
      complain(at, "is a set of what cannot be compared");
    const json::array* keys = api::find_array(node, "x-kubernetes-list-map-keys");
    if ((kind == "map") != (keys != nullptr)) complain(at, "keys belong to a list of type map");
    for (std::size_t i = 0; keys != nullptr && i < keys->size(); ++i) {
      const std::string key((*keys)[i].get_string());
      const json::object* properties =
          items != nullptr ? api::find_object(*items, "properties") : nullptr;
      const json::object* field =
          properties != nullptr ? api::find_object(*properties, key) : nullptr;
      if (field == nullptr || (!field->contains("default") && !is_required(*items, key)))
        complain(at, "key " + key + " may be absent");
    }
  }

  static bool is_required(const json::object& node, std::string_view name) {
    const json::array* list = api::find_array(node, "required");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      if (api::view((*list)[i].get_string()) == name) return true;
    return false;
  }

  void required(const json::object& node, const std::string& at) {
    const json::array* list = api::find_array(node, "required");
    const json::object* properties = api::find_object(node, "properties");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      if (properties == nullptr || !properties->contains((*list)[i].get_string()))
        complain(at, "demands what it does not have");
  }

  void default_of(const json::object& node, const json::value& value, const std::string& at) {
    const std::string_view type = api::find_text(node, "type");
    const bool fits =
        type.empty() || (type == "object" && value.is_object()) ||
        (type == "array" && value.is_array()) || (type == "string" && value.is_string()) ||
        (type == "boolean" && value.is_bool()) || (type == "integer" && value.is_int64());
    if (!fits) complain(at, "has a default of another type");
  }
};

TEST(Structural, EveryDefinitionIs) {
  std::size_t kinds = 0;
  for (const api::KindInfo* kind : test::scheme().kinds()) {
    if (!is_custom(*kind)) continue;
    ++kinds;
    const json::object definition = definition_of(test::scheme(), *kind);
    for (const auto& version : definition.at("spec").at("versions").as_array()) {
      Checker checker;
      checker.check(version.at("schema").at("openAPIV3Schema"), kind->kind);
      EXPECT_THAT(checker.complaints, IsEmpty()) << kind->kind;
      EXPECT_GT(checker.nodes, 10u) << kind->kind;
    }
  }
  EXPECT_EQ(kinds, 9u);  // seven of kueue.x-k8s.io, RayCluster and JobKind
}

TEST(Structural, TheCheckerFindsWhatIsNot) {
  const char* wrong[] = {
      R"({"description":"no type"})",
      R"({"$ref":"#/definitions/x"})",
      R"({"type":"array"})",
      R"({"type":"object","required":["a"]})",
      R"({"type":"object","properties":{"a":{"type":"string"}},
          "additionalProperties":{"type":"string"}})",
      R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],
          "items":{"type":"object","properties":{"a":{"type":"string"}}}})",
      R"({"type":"string","default":1})",
  };
  for (const char* text : wrong) {
    Checker checker;
    checker.check(json::parse(text), "x");
    EXPECT_FALSE(checker.complaints.empty()) << text;
  }
}

}  // namespace
}  // namespace sluice::host
