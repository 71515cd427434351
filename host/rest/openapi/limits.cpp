#include "host/rest/openapi/limits.hpp"

#include <cstddef>
#include <limits>

#include "api/json/json.hpp"

namespace sluice::host {

namespace json = boost::json;

void add_limits(const api::SchemaNode& node, json::object& out) {
  constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  if (!node.one_of.empty()) out["enum"] = api::to_array(node.one_of);
  if (node.min) out["minimum"] = *node.min;
  if (node.max) out["maximum"] = *node.max;
  const auto size = [&](const char* key, std::size_t value, std::size_t absent) {
    if (value != absent) out[key] = value;
  };
  size("minLength", node.min_length, 0);
  size("maxLength", node.max_length, kNone);
  size("minItems", node.min_items, 0);
  size("maxItems", node.max_items, kNone);
  size("maxProperties", node.max_properties, kNone);
}

void add_format(const api::SchemaNode& node, json::object& out) {
  switch (node.format) {
    case api::Format::kNone:
      return;
    case api::Format::kDateTime:
      out["format"] = "date-time";
      return;
    case api::Format::kInt32:
      out["format"] = "int32";
      return;
    case api::Format::kInt64:
      out["format"] = "int64";
      return;
    case api::Format::kDnsSubdomain:
    case api::Format::kDnsLabel:
    case api::Format::kQualifiedName:
    case api::Format::kConditionReason:
    case api::Format::kKindName:
      break;
  }
  out["pattern"] = api::format_pattern(node.format);
}

void add_ownership(const api::SchemaField& field, json::object& out) {
  const api::MergeRule& merge = field.merge;
  if (field.node->type == api::NodeType::kArray) {
    const bool map = !merge.keys.empty();
    out["x-kubernetes-list-type"] = map ? "map" : merge.set ? "set" : "atomic";
    if (map) out["x-kubernetes-list-map-keys"] = api::to_array(merge.keys);
  } else if (merge.atomic) {
    out["x-kubernetes-map-type"] = "atomic";
  }
}

}  // namespace sluice::host
