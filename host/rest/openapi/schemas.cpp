#include "host/rest/openapi/schemas.hpp"

#include <boost/json/array.hpp>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "host/rest/openapi/limits.hpp"
#include "host/rest/resources.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {

namespace json = boost::json;
using api::json_view;
using api::NodeType;
using api::SchemaField;
using api::SchemaNode;

namespace {

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
constexpr std::string_view kQuantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr std::string_view kIntOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

constexpr std::string_view kMetaTypes[] = {
    "Condition",          "DeleteOptions", "LabelSelector",  "LabelSelectorRequirement",
    "ManagedFieldsEntry", "ObjectMeta",    "OwnerReference", "Preconditions"};

/// `io.x-k8s.kueue` for kueue.x-k8s.io, `io.k8s.api.rbac` for what Kubernetes itself has.
std::string name_of_group(std::string_view group) {
  if (group.find('.') == std::string_view::npos || group.ends_with(".k8s.io")) {
    return "io.k8s.api." + (group.empty() ? "core" : std::string(group.substr(0, group.find('.'))));
  }
  std::string out;
  while (true) {
    const auto dot = group.rfind('.');
    out += group.substr(dot == std::string_view::npos ? 0 : dot + 1);
    if (dot == std::string_view::npos) return out;
    out += '.';
    group = group.substr(0, dot);
  }
}

std::string name_of_kind(const GroupVersionKind& gvk) {
  std::string out = name_of_group(gvk.group);
  out.append(".").append(gvk.version).append(".").append(gvk.kind);
  return out;
}

/// How server-side apply and strategic merge patches join a field.
void add_merge(const SchemaField& field, json::object& out) {
  const api::MergeRule& merge = field.merge;
  add_ownership(field, out);
  if (!merge.merge && !merge.retain_keys) return;
  out["x-kubernetes-patch-strategy"] = merge.merge && merge.retain_keys ? "merge,retainKeys"
                                       : merge.merge                    ? "merge"
                                                                        : "retainKeys";
  if (!merge.key.empty()) out["x-kubernetes-patch-merge-key"] = merge.key;
}

json::object text_schema(const char* description) {
  return {{"type", "string"}, {"description", description}};
}

}  // namespace

json::object gvk_object(const GroupVersionKind& gvk) {
  return {{"group", json_view(gvk.group)},
          {"version", json_view(gvk.version)},
          {"kind", json_view(gvk.kind)}};
}

std::string SchemaSet::path_of(std::string_view name) const {
  return (form_ == OpenApiVersion::kV2 ? "#/definitions/" : "#/components/schemas/") +
         std::string(name);
}

json::object SchemaSet::ref_to(std::string_view name) const { return {{"$ref", path_of(name)}}; }

json::object SchemaSet::ref(const GroupVersionKind& gvk) const { return ref_to(name_of_kind(gvk)); }

json::object SchemaSet::list_ref(const GroupVersionKind& gvk) const {
  return ref_to(name_of_kind(gvk) + "List");
}

json::object SchemaSet::delete_options() {
  const SchemaNode* node = scheme_.type("DeleteOptions");
  return node != nullptr ? named_schema(*node, Use::kBuiltin) : json::object();
}

json::object SchemaSet::status() {
  const std::string name = std::string(kMeta) + "Status";
  if (known_.insert(name).second) {
    const json::object text{{"type", "string"}};
    const json::object number{{"type", "integer"}, {"format", "int32"}};
    const json::object cause{
        {"type", "object"}, {"properties", {{"field", text}, {"message", text}, {"reason", text}}}};
    const json::object details{{"type", "object"},
                               {"properties",
                                {{"causes", {{"type", "array"}, {"items", cause}}},
                                 {"group", text},
                                 {"kind", text},
                                 {"name", text},
                                 {"retryAfterSeconds", number},
                                 {"uid", text}}}};
    schemas_[name] = json::object{
        {"type", "object"},
        {"description", "How a request ended, where there is no object to show."},
        {"properties",
         {{"apiVersion", text},
          {"code", number},
          {"details", details},
          {"kind", text},
          {"message", text},
          {"metadata", {{"type", "object"}}},
          {"reason", text},
          {"status", text}}},
        {"x-kubernetes-group-version-kind",
         json::array{json::object{{"group", ""}, {"kind", "Status"}, {"version", "v1"}}}}};
  }
  return ref_to(name);
}

json::object SchemaSet::take() {
  known_.clear();
  return std::exchange(schemas_, {});
}

std::string SchemaSet::type_schema_name(std::string_view type, Use use) const {
  for (const auto each : kMetaTypes) {
    if (each == type) return std::string(kMeta) + std::string(type);
  }
  return (use == Use::kBuiltin ? "io.k8s.api." : "io.k8s.shape.") + std::string(type);
}

/// Scalars that Kubernetes gives a name of their own.
json::object SchemaSet::shared_schema(std::string_view name) {
  if (known_.emplace(name).second) {
    const bool quantity = name == kQuantity;
    json::object schema;
    if (form_ == OpenApiVersion::kV2) {
      schema["type"] = "string";
    } else {
      schema["oneOf"] = json::array{json::object{{"type", "string"}},
                                    json::object{{"type", quantity ? "number" : "integer"}}};
    }
    if (!quantity) schema["format"] = "int-or-string";
    schema["description"] =
        quantity ? "An amount: a number, with a decimal point if need be, and perhaps one of the "
                   "suffixes n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, or an exponent."
                 : "A whole number or a text, such as a percentage.";
    schemas_[json_view(name)] = std::move(schema);
  }
  return ref_to(name);
}

json::object SchemaSet::named_schema(const SchemaNode& node, Use use) {
  const std::string name = type_schema_name(node.type_name, use);
  // Known before its fields are made: types may be recursive.
  if (known_.insert(name).second) schemas_[name] = object_schema(node, use);
  return ref_to(name);
}

json::object SchemaSet::schema_of(const SchemaNode& node, Use use) {
  if (!node.type_name.empty()) return named_schema(node, use);
  if (node.type == NodeType::kQuantity) return shared_schema(kQuantity);
  if (node.type == NodeType::kIntOrString) return shared_schema(kIntOrString);
  if (node.type == NodeType::kObject) return object_schema(node, use);
  json::object out;
  if (node.type == NodeType::kAny) {
    out["x-kubernetes-preserve-unknown-fields"] = true;
    return out;
  }
  out["type"] = api::type_name(node.type);
  if (node.type == NodeType::kBytes) out["format"] = "byte";
  add_format(node, out);
  if (node.type == NodeType::kArray) {
    out["items"] = node.items != nullptr ? schema_of(*node.items, use) : json::object();
  }
  add_limits(node, out);
  return out;
}

json::object SchemaSet::object_schema(const SchemaNode& node, Use use) {
  json::object out{{"type", "object"}};
  if (node.values != nullptr) out["additionalProperties"] = schema_of(*node.values, use);
  json::array required;
  json::object properties;
  for (const SchemaField& field : node.fields) {
    properties[field.name] = field_schema(field, use);
    // What has a default need not be there.
    if (field.required && !field.default_value) required.emplace_back(field.name);
  }
  if (!properties.empty()) out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
  if (node.open) out["x-kubernetes-preserve-unknown-fields"] = true;
  add_limits(node, out);
  return out;
}

json::object SchemaSet::field_schema(const SchemaField& field, Use use) {
  json::object out = schema_of(*field.node, use);
  json::object more;
  if (!field.description.empty()) more["description"] = field.description;
  if (field.default_value) more["default"] = *field.default_value;
  add_merge(field, more);
  if (more.empty()) return out;
  if (form_ == OpenApiVersion::kV3 && out.contains("$ref")) {
    // Beside a reference nothing is read.
    out = json::object{{"allOf", json::array{std::move(out)}}};
  }
  for (auto& member : more) out[member.key()] = std::move(member.value());
  return out;
}

void SchemaSet::add_kind(const GroupVersionKind& gvk, bool stored) {
  const std::string name = name_of_kind(gvk);
  if (!known_.insert(name).second) return;
  const std::string api_version = api::group_version(gvk.group, gvk.version);
  const SchemaNode* node = scheme_.schema(api_version, gvk.kind);
  const bool held = node != nullptr;
  if (!held) node = scheme_.type(gvk.kind);
  json::object schema;
  if (node != nullptr) {
    schema = object_schema(*node, node->type_name.empty() ? Use::kShape : Use::kBuiltin);
  } else {
    schema = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  }
  json::value* found = schema.if_contains("properties");
  json::object properties = found != nullptr ? std::move(found->get_object()) : json::object();
  properties["apiVersion"] = text_schema("The version in which the object is written.");
  properties["kind"] = text_schema("What the object is.");
  schema["properties"] = std::move(properties);
  const api::KindInfo* info = held ? scheme_.find(api_version, gvk.kind) : nullptr;
  if (info != nullptr && !info->description.empty()) schema["description"] = info->description;
  schema["x-kubernetes-group-version-kind"] = json::array{gvk_object(gvk)};
  if (info != nullptr && !takes_strategic_merge(gvk.group)) {
    json::array selectable;
    for (const auto& field : selectable_fields(*info, gvk.version)) {
      selectable.push_back(json::object{{"fieldPath", "." + field}});
    }
    if (!selectable.empty()) schema["x-kubernetes-selectable-fields"] = std::move(selectable);
  }
  schemas_[name] = std::move(schema);
  if (stored) add_list(gvk);
}

void SchemaSet::add_list(const GroupVersionKind& gvk) {
  const std::string kind = std::string(gvk.kind) + "List";
  const std::string meta = std::string(kMeta) + "ListMeta";
  if (known_.insert(meta).second) {
    schemas_[meta] = json::object{
        {"type", "object"},
        {"properties",
         json::object{
             {"continue", text_schema("Where the next part of the list begins.")},
             {"remainingItemCount", json::object{{"type", "integer"}, {"format", "int64"}}},
             {"resourceVersion", text_schema("From where a watch goes on.")}}}};
  }
  schemas_[name_of_kind(gvk) + "List"] = json::object{
      {"type", "object"},
      {"required", json::array{"items"}},
      {"properties", json::object{{"apiVersion", json::object{{"type", "string"}}},
                                  {"kind", json::object{{"type", "string"}}},
                                  {"metadata", ref_to(meta)},
                                  {"items", json::object{{"type", "array"}, {"items", ref(gvk)}}}}},
      {"x-kubernetes-group-version-kind", json::array{gvk_object({gvk.group, gvk.version, kind})}}};
}

}  // namespace sluice::host
