#include "api/schema/defaults.hpp"

#include "api/json/json.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

namespace json = boost::json;

void expand_default(const SchemaNode& node, json::value& value) {
  json::object* object = value.if_object();
  if (object == nullptr) return;
  for (const auto& field : node.fields) {
    if (json::value* present = object->if_contains(field.name)) {
      expand_default(*field.node, *present);
    } else if (field.default_value) {
      object->insert_or_assign(field.name, *field.default_value);
    }
  }
}

void judge_defaults(const SchemaNode& node, const std::string& where, Mistakes& mistakes) {
  for (const SchemaField& field : node.fields) {
    if (field.contributed_by.empty() && !field.node->has_contributed) continue;
    const std::string place = where.empty() ? field.name : where + "." + field.name;
    if (field.default_value) {
      SchemaNode holder;
      holder.type = NodeType::kObject;
      SchemaField& only = holder.fields.emplace_back();
      only.name = field.name;
      only.node = field.node;
      only.required = true;  // null is no value
      const auto is_left_to_users = [&field](const Problem& each) {
        return !field.contributed_by.empty() && each.kind == Problem::Kind::kRequired &&
               each.field != field.name;
      };
      holder.index_fields();
      json::object object{{field.name, *field.default_value}};
      Outcome outcome;
      Walk(outcome, UnknownFields::kRefuse).object(holder, object);
      for (const Problem& each : outcome.errors)
        if (!is_left_to_users(each))
          mistakes.add(
              {place + each.field.substr(field.name.size()) + ": default: " + each.detail});
    }
    judge_defaults(*field.node, place, mistakes);
  }
  if (node.items != nullptr) judge_defaults(*node.items, where + "[]", mistakes);
  if (node.values != nullptr) judge_defaults(*node.values, where + "{}", mistakes);
}

}  // namespace sluice::api
