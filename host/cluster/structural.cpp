#include "host/cluster/structural.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cstdint>
#include <limits>
#include <utility>

#include "api/json/json.hpp"
#include "host/cluster/validations.hpp"
#include "host/rest/openapi/limits.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using api::NodeType;
using api::SchemaField;
using api::SchemaNode;

constexpr const char* kUnknown = "x-kubernetes-preserve-unknown-fields";

// As Kubernetes itself describes a quantity.
constexpr const char* kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))"
    R"((([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

json::object int_or_string() {
  return {
      {"anyOf", json::array{json::object{{"type", "integer"}}, json::object{{"type", "string"}}}},
      {"x-kubernetes-int-or-string", true}};
}

class Writer {
 public:
  explicit Writer(const api::Scheme& scheme) : scheme_(scheme) {}

  json::object object(const SchemaNode& node) {
    json::object out{{"type", "object"}};
    json::array required;
    json::object properties;
    for (const SchemaField& field : node.fields) {
      properties[field.name] = member(field);
      // What has a default need not be there.
      if (field.required && !field.default_value) required.emplace_back(field.name);
    }
    if (node.values != nullptr) {
      out["additionalProperties"] = value(*node.values);
    } else if (!properties.empty()) {
      out["properties"] = std::move(properties);
    }
    if (!required.empty()) out["required"] = std::move(required);
    if (node.open) out[kUnknown] = true;
    return out;
  }

 private:
  json::object value(const SchemaNode& node) {
    const bool named = !node.type_name.empty();
    if (named && std::find(within_.begin(), within_.end(), &node) != within_.end())
      return {{"type", "object"}, {kUnknown, true}};  // a type that holds itself
    if (named) within_.push_back(&node);
    json::object out = shape(node);
    add_limits(node, out);
    // A rule that is deep in a pod template may hold for more places than an API server lets it
    // count; Kubernetes judges templates when it makes pods of them.
    if (within_.size() <= 1)
      if (json::array rules = validations(node); !rules.empty())
        out["x-kubernetes-validations"] = std::move(rules);
    if (named) within_.pop_back();
    return out;
  }

  json::object shape(const SchemaNode& node) {
    switch (node.type) {
      case NodeType::kAny:
        return {{kUnknown, true}};
      case NodeType::kObject:
        return object(node);
      case NodeType::kIntOrString:
        return int_or_string();
      case NodeType::kQuantity: {
        json::object out = int_or_string();
        out["pattern"] = kQuantityPattern;
        return out;
      }
      case NodeType::kArray:
        return {
            {"type", "array"},
            {"items", node.items != nullptr ? value(*node.items) : json::object{{kUnknown, true}}}};
      default:
        break;
    }
    json::object out{{"type", api::type_name(node.type)}};
    if (node.type == NodeType::kBytes) out["format"] = "byte";
    add_format(node, out);
    if (node.format == api::Format::kInt32) {
      // An API server reads the format of a number and does not enforce it.
      using Limits = std::numeric_limits<std::int32_t>;
      out["minimum"] = Limits::min();
      out["maximum"] = Limits::max();
    }
    return out;
  }

  /// An API server wants keys of list entries to be there, by demand or by default. What the shape
  /// of a pod template leaves open is said as Kubernetes has it for pods. False: a key may be
  /// absent, and nothing tells entries apart.
  bool keep_keys(const SchemaField& list, json::object& schema) const {
    const SchemaNode* entry = list.node->items;
    if (entry == nullptr) return false;
    const SchemaNode* known = entry->type_name.empty() ? nullptr : scheme_.type(entry->type_name);
    json::object items = schema.at("items").as_object();
    for (const std::string& key : list.merge.keys) {
      const SchemaField* field = entry->field(key);
      if (field == nullptr) return false;
      if (field->required || field->default_value) continue;
      const SchemaField* same = known != nullptr ? known->field(key) : nullptr;
      if (same != nullptr && same->default_value) {
        items["properties"].as_object()[key].as_object()["default"] = *same->default_value;
      } else if (same != nullptr && same->required) {
        if (!items.contains("required")) items["required"] = json::array();
        items["required"].as_array().emplace_back(key);
      } else {
        return false;
      }
    }
    schema["items"] = std::move(items);
    return true;
  }

  json::object member(const SchemaField& field) {
    json::object out = value(*field.node);
    if (!field.description.empty()) out["description"] = field.description;
    if (field.default_value) out["default"] = *field.default_value;
    add_ownership(field, out);
    const bool keyed = !field.merge.keys.empty() && field.node->type == NodeType::kArray;
    if (keyed && !keep_keys(field, out)) {
      out["x-kubernetes-list-type"] = "atomic";
      out.erase("x-kubernetes-list-map-keys");
    }
    return out;
  }

  const api::Scheme& scheme_;
  std::vector<const SchemaNode*> within_;  // named types on the way from the root
};

}  // namespace

json::object structural_schema(const api::Scheme& scheme, const SchemaNode& root,
                               const std::string& description, json::array more_rules) {
  json::object out = Writer(scheme).object(root);
  if (!description.empty()) out["description"] = description;
  // Every object has metadata, and its rules are the API server's own.
  out["properties"].as_object()["metadata"] = json::object{{"type", "object"}};
  json::array rules = validations(root);
  for (json::value& each : more_rules) rules.push_back(std::move(each));
  if (!rules.empty()) out["x-kubernetes-validations"] = std::move(rules);
  return out;
}

}  // namespace sluice::host
