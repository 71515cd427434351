#include "api/schema/build.hpp"

#include <algorithm>

#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "api/schema/defaults.hpp"
#include "api/schema/field_path.hpp"
#include "api/schema/limits.hpp"
#include "api/schema/predicates.hpp"
#include "api/schema/type_expression.hpp"
#include "core/base/text.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

struct ScalarType {
  std::string_view name;
  NodeType type;
  Format format;
};

constexpr std::array<ScalarType, 14> kScalars = {{
    {"any", NodeType::kAny, Format::kNone},
    {"object", NodeType::kObject, Format::kNone},
    {"array", NodeType::kArray, Format::kNone},
    {"string", NodeType::kString, Format::kNone},
    {"integer", NodeType::kInteger, Format::kInt64},
    {"int32", NodeType::kInteger, Format::kInt32},
    {"int64", NodeType::kInteger, Format::kInt64},
    {"boolean", NodeType::kBoolean, Format::kNone},
    {"quantity", NodeType::kQuantity, Format::kNone},
    {"time", NodeType::kString, Format::kDateTime},
    {"microTime", NodeType::kString, Format::kDateTime},
    {"intOrString", NodeType::kIntOrString, Format::kNone},
    {"bytes", NodeType::kBytes, Format::kNone},
    {"rawJson", NodeType::kAny, Format::kNone},
}};

const ScalarType* scalar(std::string_view name) {
  for (const auto& each : kScalars) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

/// A field as a tree, before its node is built.
struct Draft {
  std::string name;
  const FieldSource* source = nullptr;
  std::vector<Draft> fields;
  std::unique_ptr<Draft> items, values;
};

Draft& descend(Draft& at, const std::string& part) {
  if (part == "[]" || part == "{}") {
    auto& child = part == "[]" ? at.items : at.values;
    if (!child) child = std::make_unique<Draft>();
    return *child;
  }
  for (Draft& child : at.fields) {
    if (child.name == part) return child;
  }
  Draft& child = at.fields.emplace_back();
  child.name = part;
  return child;
}

class KindBuilder {
 public:
  KindBuilder(CompiledKind& kind, TypeLibrary& types, Mistakes& mistakes)
      : kind_(kind), types_(types), mistakes_(mistakes) {}

  /// Without what is wrong.
  const SchemaNode* version(const VersionSource& source) {
    Draft root;
    for (const auto& field : source.fields) {
      Draft* at = &root;
      for (const auto& part : path_parts(field.path)) at = &descend(*at, part);
      at->source = &field;
    }
    SchemaNode& node = kind_.nodes.emplace_back();
    node.type = NodeType::kObject;
    for (const char* name : {"apiVersion", "kind"}) {
      add_field(node, name, string_node(), false);
    }
    if (source.type.empty()) {
      add_field(node, "metadata", types_.get("ObjectMeta"), false);
    } else if (const SchemaNode* named = types_.get(source.type, TypeUse::kBuiltin)) {
      node.fields.insert(node.fields.end(), named->fields.begin(), named->fields.end());
      node.type_name = source.type;
    } else {
      mistakes_.add({"type \"" + source.type + "\" is not known"});
    }
    for (const Draft& draft : root.fields) {
      const auto taken = [&](const SchemaField& field) { return field.name == draft.name; };
      if (std::any_of(node.fields.begin(), node.fields.end(), taken)) {
        mistakes_.add({draft.name + ": fields cannot be added to what the built-in type holds"});
      } else {
        member(node, draft.name, draft);
      }
    }
    node.index_fields();
    for (const auto& rule : source.rules) {
      if (auto added = add_rule(node, rule); !added) mistakes_.add(added.error());
    }
    judge_defaults(node, "", mistakes_);
    return &node;
  }

 private:
  const SchemaNode* string_node() {
    SchemaNode& node = kind_.nodes.emplace_back();
    node.type = NodeType::kString;
    return &node;
  }

  static void add_field(SchemaNode& node, std::string name, const SchemaNode* child,
                        bool required) {
    SchemaField field;
    field.name = std::move(name);
    field.node = child;
    field.required = required;
    node.fields.push_back(std::move(field));
  }

  void member(SchemaNode& parent, const std::string& name, const Draft& draft) {
    const SchemaNode* child = below(name, draft);
    SchemaField field;
    field.name = name;
    field.node = child;
    if (draft.source != nullptr) {
      const json::object& attributes = draft.source->attributes;
      field.required = find_bool(attributes, "required", false);
      field.contributed_by = draft.source->contributed_by;
      field.description = find_text(attributes, "description");
      field.merge.keys = child->list_keys;
      field.merge.set = child->list_set;
      field.merge.atomic = find_text(attributes, "mapType") == "atomic";
      if (const json::value* value = find(attributes, "default")) {
        field.default_value = *value;
        expand_default(*field.node, *field.default_value);
      }
    }
    if (!field.contributed_by.empty() || field.node->has_contributed) {
      parent.has_contributed = true;
      kind_.has_contributed = true;
    }
    if (parent.fields.size() >= 64)
      return mistakes_.add({name + ": more than 64 fields in one object"});
    parent.fields.push_back(std::move(field));
  }

  /// As build(), which does not know the place.
  const SchemaNode* below(const std::string& name, const Draft& draft) {
    const std::size_t first = mistakes_.size();
    const SchemaNode* node = build(draft);
    mistakes_.place(first, name);
    return node;
  }

  /// A field of an unknown type takes anything, so that what is said of it elsewhere finds it.
  const SchemaNode* build(const Draft& draft) {
    static const json::object kNone;
    const json::object& attributes = draft.source != nullptr ? draft.source->attributes : kNone;
    std::string_view type = find_text(attributes, "type");
    if (type.empty()) type = draft.items != nullptr ? "array" : "object";
    const ScalarType* known = scalar(type);
    if (known == nullptr) {
      if (const SchemaNode* named = types_.get(type)) return named;
      mistakes_.add({"type \"" + std::string(type) + "\" is not known"});
    }
    SchemaNode& node = kind_.nodes.emplace_back();
    node.type = known != nullptr ? known->type : NodeType::kAny;
    node.format = known != nullptr ? known->format : Format::kNone;
    read_limits(attributes, node, mistakes_);
    if (draft.items != nullptr) {
      node.items = below("[]", *draft.items);
    } else if (const auto name = find_text(attributes, "items"); !name.empty()) {
      node.items = types_.get(name);
      if (node.items == nullptr)
        mistakes_.add({"items: type \"" + std::string(name) + "\" is not known"});
    }
    if (draft.values != nullptr) node.values = below("{}", *draft.values);
    for (const Draft& child : draft.fields) member(node, child.name, child);
    for (const SchemaNode* child : {node.items, node.values}) {
      if (child != nullptr && child->has_contributed) node.has_contributed = true;
    }
    const bool described = !node.fields.empty() && !find_bool(attributes, "open", false);
    node.open = node.type == NodeType::kObject && !described && node.values == nullptr;
    node.index_fields();
    return &node;
  }

  /// The node at a path of this version, writable; nullptr when there is none of our own.
  SchemaNode* find_node(SchemaNode& root, std::string_view path) {
    const SchemaNode* at = &root;
    for (const auto& part : path_parts(path)) {
      const SchemaNode* next = nullptr;
      if (part == "[]") {
        next = at->items;
      } else if (part == "{}") {
        next = at->values;
      } else if (const SchemaField* field = at->field(part)) {
        next = field->node;
      }
      if (next == nullptr) return nullptr;
      at = next;
    }
    for (auto& node : kind_.nodes) {
      if (&node == at) return &node;
    }
    return nullptr;
  }

  Result<void> add_rule(SchemaNode& root, const RuleSource& source) {
    const json::object& from = source.attributes;
    const std::string at(find_text(from, "at"));
    Rule rule;
    rule.name = find_text(from, "rule");
    rule.message = find_text(from, "message");
    rule.field = find_text(from, "field");
    rule.fields = one_or_more_texts(from, "fields");
    rule.one_of = one_or_more_texts(from, "oneOf");
    if (rule.message.empty()) return Error{"rule " + rule.name + " at " + at + ": no message"};
    SchemaNode* node = find_node(root, at);
    if (node == nullptr) return Error{"rule " + rule.name + ": no field \"" + at + "\""};
    if (rule.name == "immutable" || rule.name == "immutableOnceSet") {
      for (const char* name : {"field", "fields", "when", "whenSet"})
        if (from.contains(name))
          return Error{"rule " + rule.name + " at " + at + ": " + name +
                       " means nothing to it; \"at\" names what does not change"};
      pending_updates_.push_back({at, rule.message, rule.name == "immutableOnceSet"});
      return {};
    }
    if (const json::object* when = find_object(from, "when")) {
      for (const auto& member : *when) {
        rule.when.push_back(
            {std::string(view(member.key())), one_or_more_texts(*when, view(member.key()))});
      }
    }
    for (const auto& field : one_or_more_texts(from, "whenSet")) rule.when.push_back({field, {}});
    rule.holds = predicate(rule.name);
    if (rule.holds == nullptr) {
      return Error{"rule \"" + rule.name + "\" at " + at + " is not known; allowed are " +
                   predicate_names()};
    }
    node->rules.push_back(std::move(rule));
    return {};
  }

  CompiledKind& kind_;
  TypeLibrary& types_;
  Mistakes& mistakes_;

 public:
  std::vector<UpdateRule> pending_updates_;
};

}  // namespace

const char* type_name(NodeType type) {
  switch (type) {
    case NodeType::kObject:
      return "object";
    case NodeType::kArray:
      return "array";
    case NodeType::kString:
    case NodeType::kBytes:
      return "string";
    case NodeType::kInteger:
      return "integer";
    case NodeType::kNumber:
      return "number";
    case NodeType::kBoolean:
      return "boolean";
    case NodeType::kQuantity:
    case NodeType::kIntOrString:
      return "integer,string";
    case NodeType::kAny:
      break;
  }
  return "any";
}

void SchemaNode::index_fields() {
  keys.build(fields);
  to_complete.clear();
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].required || fields[i].default_value)
      to_complete.push_back(static_cast<std::uint8_t>(i));
}

void KeyTable::build(const std::vector<SchemaField>& fields) {
  std::size_t size = 8;
  while (size < fields.size() * 3) size *= 2;
  mask_ = size - 1;
  slots_.assign(fields.empty() ? 0 : size, kNone);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::size_t at = hash(fields[i].name);
    while (slots_[at & mask_] != kNone) ++at;
    slots_[at & mask_] = static_cast<std::uint8_t>(i);
  }
}

const SchemaNode* TypeLibrary::get(std::string_view name, TypeUse use) {
  std::string key(use == TypeUse::kBuiltin ? "builtin " : "");
  key += name;
  if (const auto it = compiled_.find(key); it != compiled_.end()) return it->second;
  if (find_object(types_, name) == nullptr) return nullptr;
  SchemaNode& node = nodes_.emplace_back();
  node.type = NodeType::kObject;
  node.type_name = name;
  compiled_.emplace(std::move(key), &node);  // before its fields: types may be recursive
  add_fields(std::string(name), use, node);
  SLUICE_CHECK(node.fields.size() <= 64, "type ", name, " has ", node.fields.size(), " fields");
  node.open = node.fields.empty();
  node.index_fields();
  add_rules(name, node);
  return &node;
}

void TypeLibrary::add_fields(const std::string& name, TypeUse use, SchemaNode& node) {
  const json::object* fields = find_object(types_, name);
  SLUICE_CHECK(fields != nullptr, "unknown type ", name, " in the built-in types");
  for (const auto& member : *fields) {
    const std::string_view key = view(member.key());
    if (key.front() == '+') {
      add_fields(std::string(key.substr(1)), use, node);
      continue;
    }
    const json::string* text = member.value().if_string();
    const TypeExpression expression = parse_type_expression(text != nullptr ? view(*text) : "any");
    SchemaField field;
    field.name = key;
    field.required = expression.required;
    SchemaNode* own = nullptr;
    field.node = of_expression(expression.type, use, own);
    MergeRule& merge = field.merge;
    merge.merge = expression.merge;
    merge.key = expression.merge_key;
    merge.retain_keys = expression.retain_keys;
    merge.atomic = expression.atomic;
    const auto& merged_by =
        expression.apply_keys.empty() ? expression.merge_key : expression.apply_keys;
    for (const std::string_view each : words(merged_by, ',')) merge.keys.emplace_back(each);
    merge.set = merge.merge && merge.keys.empty();
    const std::string place = name + "." + field.name;
    if (const json::object* attributes = find_object(attributes_, place)) {
      field.description = find_text(*attributes, "description");
      if (use == TypeUse::kBuiltin) apply_attributes(place, *attributes, field, own);
    }
    node.fields.push_back(std::move(field));
  }
}

void TypeLibrary::apply_attributes(const std::string& place, const json::object& attributes,
                                   SchemaField& field, SchemaNode* own) {
  field.required = field.required || find_bool(attributes, "required", false);
  if (const json::value* value = find(attributes, "default")) {
    field.default_value = *value;
    expand_default(*field.node, *field.default_value);
  }
  if (own == nullptr) return;
  Mistakes none;
  read_limits(attributes, *own, none);
  SLUICE_CHECK(none.none(), place, ": ", none.error().text);
}

const SchemaNode* TypeLibrary::of_expression(std::string_view expression, TypeUse use,
                                             SchemaNode*& own) {
  const bool list = expression.substr(0, 2) == "[]";
  const bool map = expression.substr(0, 2) == "{}";
  if (!list && !map) {
    if (const SchemaNode* named = get(expression, use)) return named;
  }
  SchemaNode& node = nodes_.emplace_back();
  own = &node;
  if (list || map) {
    node.type = list ? NodeType::kArray : NodeType::kObject;
    SchemaNode* ignored = nullptr;
    const SchemaNode* inner = of_expression(expression.substr(2), use, ignored);
    (list ? node.items : node.values) = inner;
    return &node;
  }
  const ScalarType* known = scalar(expression);
  SLUICE_CHECK(known != nullptr, "unknown type ", expression, " in the built-in types");
  node.type = known->type;
  node.format = known->format;
  return &node;
}

void TypeLibrary::add_rules(std::string_view name, SchemaNode& node) {
  const auto rule = [&](const char* predicate_name, const char* message) {
    Rule added;
    added.name = predicate_name;
    added.holds = predicate(predicate_name);
    added.message = message;
    node.rules.push_back(std::move(added));
  };
  const auto allowed = [&](std::string_view field, std::vector<std::string> values) {
    const std::uint8_t index = node.keys.find(field, node.fields);
    SchemaNode& child = nodes_.emplace_back();
    child.type = NodeType::kString;
    child.one_of = std::move(values);
    node.fields[index].node = &child;
  };
  if (name == "LabelSelectorRequirement" || name == "NodeSelectorRequirement") {
    const bool label = name == "LabelSelectorRequirement";
    allowed("operator",
            label ? std::vector<std::string>{"In", "NotIn", "Exists", "DoesNotExist"}
                  : std::vector<std::string>{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
    rule("selectorValues", "values must be specified when `operator` is 'In' or 'NotIn'");
    rule("selectorNoValues",
         "values may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    if (!label) {
      rule("selectorOneNumber",
           "values must be specified single value, an integer, when `operator` is 'Lt' or 'Gt'");
    }
  } else if (name == "Toleration") {
    allowed("operator", {"Equal", "Exists", ""});
    allowed("effect", {"NoSchedule", "PreferNoSchedule", "NoExecute", ""});
  }
}

const MergeRule* merge_rule(const SchemaNode& root, std::string_view path) {
  const SchemaNode* at = &root;
  const MergeRule* rule = nullptr;
  for (const auto& part : path_parts(path)) {
    if (at == nullptr) return nullptr;
    if (part == "[]" || part == "{}") {
      at = part == "[]" ? at->items : at->values;
      rule = nullptr;
      continue;
    }
    const SchemaField* field = at->field(part);
    if (field == nullptr) return nullptr;
    rule = &field->merge;
    at = field->node;
  }
  return rule;
}

std::size_t CompiledKind::version_index(std::string_view name) const {
  std::size_t i = 0;
  while (i < info.versions.size() && info.versions[i].name != name) ++i;
  return i;
}

std::unique_ptr<CompiledKind> compile_kind(const KindSource& source, TypeLibrary& types,
                                           const BuiltinRules* builtin, Mistakes& mistakes) {
  auto kind = std::make_unique<CompiledKind>();
  kind->info = source.info;
  kind->sources = source.versions;
  kind->builtin = builtin;
  kind->roots = std::vector<std::atomic<const SchemaNode*>>(source.versions.size());
  for (std::size_t i = 0; i < source.versions.size(); ++i) {
    if (source.info.versions[i].storage) kind->hub = i;
    const VersionSource& version = source.versions[i];
    const bool later = !version.type.empty() && version.fields.empty() && version.rules.empty();
    if (later) continue;
    const std::size_t first = mistakes.size();
    KindBuilder builder(*kind, types, mistakes);
    kind->roots[i] = builder.version(version);
    mistakes.place(first, source.info.kind + " " + version.name);
    if (kind->hub == i) kind->update_rules = std::move(builder.pending_updates_);
  }
  return kind;
}

const SchemaNode* root_of(CompiledKind& kind, std::size_t version, TypeLibrary& types,
                          std::mutex& mutex) {
  if (const SchemaNode* root = kind.roots[version].load(std::memory_order_acquire)) return root;
  const std::lock_guard lock(mutex);
  if (const SchemaNode* root = kind.roots[version].load(std::memory_order_relaxed)) return root;
  Mistakes none;
  const SchemaNode* root = KindBuilder(kind, types, none).version(kind.sources[version]);
  SLUICE_CHECK(none.none(), kind.info.kind, ": ", none.error().text);
  kind.roots[version].store(root, std::memory_order_release);
  return root;
}

}  // namespace sluice::api
