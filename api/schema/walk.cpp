#include "api/schema/walk.hpp"

#include <algorithm>
#include <set>

#include "api/json/json.hpp"
#include "core/base/utf8.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {
constexpr std::size_t kShownLimit = 200;
}

std::string shown(std::string_view text) {
  std::string out;
  if (text.size() > kShownLimit) {
    append_json_text(std::string(cut_utf8(text, kShownLimit)) + "...", out);
  } else {
    append_json_text(text, out);
  }
  return out;
}

std::string shown(const json::value& value) {
  if (const auto* text = value.if_string()) return shown(view(*text));
  std::string out = to_json(value);
  if (out.size() > kShownLimit) out = std::string(cut_utf8(out, kShownLimit)) + "...";
  return out;
}

std::string unsupported(const std::string& value, const std::vector<std::string>& allowed) {
  std::string out = "Unsupported value: " + value + ": supported values: ";
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (i != 0) out += ", ";
    out += shown(std::string_view(allowed[i]));
  }
  return out;
}

std::string Walk::path() const {
  std::string out;
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Kind::kField:
        if (!out.empty()) out += '.';
        out += step.key;
        break;
      case Step::Kind::kIndex:
        out += '[';
        out += std::to_string(step.index);
        out += ']';
        break;
      case Step::Kind::kMapKey:
        out += '[';
        out += step.key;
        out += ']';
        break;
    }
  }
  return out;
}

void Walk::problem(Problem::Kind kind, std::string detail) {
  if (outcome_.full()) return;
  outcome_.errors.push_back({kind, path(), std::move(detail)});
}

void Walk::wrong_type(const SchemaNode& node, const json::value& value) {
  const char* found = "null";
  if (value.is_object()) found = "object";
  if (value.is_array()) found = "array";
  if (value.is_string()) found = "string";
  if (value.is_bool()) found = "boolean";
  if (value.is_int64() || value.is_uint64()) found = "integer";
  if (value.is_double()) found = "number";
  const std::string at = path();
  problem(Problem::Kind::kInvalid, "Invalid value: " + shown(value) + ": " + at +
                                       " in body must be of type " + type_name(node.type) + ": \"" +
                                       found + "\"");
}

void Walk::value(const SchemaNode& node, json::value& value) {
  Steps::count();
  const std::size_t errors_before = outcome_.errors.size();
  if (outcome_.full()) return;  // further mistakes are not reported
  switch (node.type) {
    case NodeType::kAny:
      return;
    case NodeType::kObject:
      if (auto* object = value.if_object()) {
        members(node, *object);
      } else {
        wrong_type(node, value);
      }
      break;
    case NodeType::kArray:
      if (auto* list = value.if_array()) {
        array(node, *list);
      } else {
        wrong_type(node, value);
      }
      break;
    case NodeType::kString:
      if (const auto* string = value.if_string()) {
        text(node, view(*string));
      } else {
        wrong_type(node, value);
      }
      break;
    case NodeType::kBytes:
      if (!value.is_string()) {
        wrong_type(node, value);
      } else if (!is_base64(view(*value.if_string()))) {
        problem(Problem::Kind::kInvalid, "Invalid value: " + shown(value) + ": must be base64");
      }
      break;
    case NodeType::kInteger:
      integer(node, value);
      break;
    case NodeType::kNumber:
      if (!value.is_number()) wrong_type(node, value);
      break;
    case NodeType::kBoolean:
      if (!value.is_bool()) wrong_type(node, value);
      break;
    case NodeType::kQuantity:
      if (value.is_string() || value.is_number()) {
        quantity(value);
      } else {
        wrong_type(node, value);
      }
      break;
    case NodeType::kIntOrString:
      if (!value.is_string() && !value.is_int64()) wrong_type(node, value);
      break;
  }
  if (!node.rules.empty() && outcome_.errors.size() == errors_before) rules(node, value);
}

void Walk::object(const SchemaNode& node, json::object& object) {
  const std::size_t errors_before = outcome_.errors.size();
  members(node, object);
  if (node.rules.empty() || outcome_.errors.size() != errors_before) return;
  // The rules of the whole object see it as a value; it is lent for the call.
  json::value self(std::move(object), object.storage());
  rules(node, self);
  object = std::move(*self.if_object());
}

void Walk::members(const SchemaNode& node, json::object& object) {
  if (node.open && node.fields.empty()) return;
  if (node.values != nullptr) {
    map_values(node, object);
    return;
  }
  std::uint64_t seen = 0;
  bool remove = false;
  for (auto& member : object) {
    const std::string_view key = view(member.key());
    const std::uint8_t index = node.keys.find(key, node.fields);
    if (index == KeyTable::kNone || member.value().is_null()) {
      remove |= !node.open || member.value().is_null();
      continue;
    }
    seen |= std::uint64_t{1} << index;
    steps_.push_back({node.fields[index].name, 0, Step::Kind::kField});
    value(*node.fields[index].node, member.value());
    steps_.pop_back();
  }
  if (remove) remove_members(node, object);
  if (!node.to_complete.empty()) complete(node, object, seen);
}

void Walk::remove_members(const SchemaNode& node, json::object& object) {
  keep_members(object, [&](json::key_value_pair& member) {
    const std::string_view key = view(member.key());
    const bool known = node.open || node.keys.find(key, node.fields) != KeyTable::kNone;
    if (!known) unknown_member(key, member.value());
    return known && !member.value().is_null();
  });
}

void Walk::unknown_member(std::string_view key, json::value& value) {
  const bool told = unknown_ == UnknownFields::kRefuse ? !outcome_.full()
                    : unknown_ == UnknownFields::kWarn ? outcome_.warnings.size() < kMostProblems
                                                       : false;
  if (!told && pruned_ == nullptr) return;
  steps_.push_back({key, 0, Step::Kind::kField});
  std::string at = path();
  steps_.pop_back();
  if (told) {
    Problem unknown{Problem::Kind::kUnknownField, at, "unknown field \"" + at + "\""};
    (unknown_ == UnknownFields::kRefuse ? outcome_.errors : outcome_.warnings)
        .push_back(std::move(unknown));
  }
  if (pruned_ != nullptr) pruned_->emplace_back(std::move(at), std::move(value));
}

void Walk::complete(const SchemaNode& node, json::object& object, std::uint64_t seen) {
  for (const std::uint8_t index : node.to_complete) {
    if ((seen >> index & 1) != 0) continue;
    const SchemaField& field = node.fields[index];
    if (field.default_value) {
      object.emplace(field.name, *field.default_value);
    } else {
      steps_.push_back({field.name, 0, Step::Kind::kField});
      problem(Problem::Kind::kRequired, "Required value");
      steps_.pop_back();
    }
  }
}

void Walk::map_values(const SchemaNode& node, json::object& object) {
  if (object.size() > node.max_properties) {
    problem(Problem::Kind::kTooMany, "Too many: " + std::to_string(object.size()) +
                                         ": must have at most " +
                                         std::to_string(node.max_properties) + " items");
  }
  for (auto& member : object) {
    steps_.push_back({view(member.key()), 0, Step::Kind::kMapKey});
    value(*node.values, member.value());
    steps_.pop_back();
  }
}

void Walk::array(const SchemaNode& node, json::array& array) {
  if (array.size() > node.max_items) {
    problem(Problem::Kind::kTooMany, "Too many: " + std::to_string(array.size()) +
                                         ": must have at most " + std::to_string(node.max_items) +
                                         " items");
  }
  if (array.size() < node.min_items) {
    const std::string at = path();
    problem(Problem::Kind::kInvalid, "Invalid value: " + std::to_string(array.size()) + ": " + at +
                                         " in body should have at least " +
                                         std::to_string(node.min_items) + " items");
  }
  if (node.items != nullptr) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      steps_.push_back({{}, i, Step::Kind::kIndex});
      value(*node.items, array[i]);
      steps_.pop_back();
    }
  }
  if (array.size() > 1 && (node.list_set || !node.list_keys.empty())) duplicates(node, array);
}

namespace {

/// The keys of an entry of a keyed list, as JSON; the whole value in a set.
std::string entry_key(const SchemaNode& node, const json::value& entry) {
  if (node.list_keys.empty()) return to_json(entry);
  const json::object* object = entry.if_object();
  if (object == nullptr) return {};
  std::string out = "{";
  for (const auto& key : node.list_keys) {
    const json::value* value = find(*object, key);
    if (value == nullptr) continue;
    if (out.size() > 1) out += ",";
    append_json_text(key, out);
    out += ':';
    append_json(*value, out);
  }
  out += '}';
  return out;
}

/// Two entries cannot be equal when the first key is a text and differs: the usual, cheap case.
bool surely_different(const SchemaNode& node, const json::value& a, const json::value& b) {
  const auto first = [&](const json::value& entry) -> const json::string* {
    if (node.list_keys.empty()) return entry.if_string();
    const json::object* object = entry.if_object();
    const json::value* value = object != nullptr ? find(*object, node.list_keys[0]) : nullptr;
    return value != nullptr ? value->if_string() : nullptr;
  };
  const json::string* x = first(a);
  const json::string* y = first(b);
  return x != nullptr && y != nullptr && *x != *y;
}

}  // namespace

void Walk::duplicates(const SchemaNode& node, const json::array& array) {
  if (array.size() <= 8) {
    bool suspicious = false;
    for (std::size_t i = 1; i < array.size() && !suspicious; ++i) {
      for (std::size_t j = 0; j < i && !suspicious; ++j) {
        suspicious = !surely_different(node, array[i], array[j]);
      }
    }
    if (!suspicious) return;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < array.size(); ++i) {
    std::string key = entry_key(node, array[i]);
    if (key.empty()) continue;
    if (const auto [it, fresh] = seen.insert(std::move(key)); !fresh) {
      steps_.push_back({{}, i, Step::Kind::kIndex});
      problem(Problem::Kind::kDuplicate, "Duplicate value: " + *it);
      steps_.pop_back();
    }
  }
}

void Walk::text(const SchemaNode& node, std::string_view text) {
  if (text.size() > node.max_length && text_length(text) > node.max_length) {
    problem(Problem::Kind::kTooLong,
            "Too long: may not be more than " + std::to_string(node.max_length) + " bytes");
    return;
  }
  if (node.min_length > 0 && text_length(text) < node.min_length) {
    const std::string at = path();
    problem(Problem::Kind::kInvalid, "Invalid value: " + shown(text) + ": " + at +
                                         " in body should be at least " +
                                         std::to_string(node.min_length) + " chars long");
    return;
  }
  if (node.format != Format::kNone && !has_format(node.format, text)) {
    const std::string at = path();
    const char* pattern = format_pattern(node.format);
    problem(Problem::Kind::kInvalid,
            "Invalid value: " + shown(text) + ": " + at +
                (*pattern != '\0' ? " in body should match '" + std::string(pattern) + "'"
                                  : " in body must be of type date-time: " + shown(text)));
  }
  if (!node.one_of.empty() &&
      std::find(node.one_of.begin(), node.one_of.end(), text) == node.one_of.end()) {
    problem(Problem::Kind::kUnsupported, unsupported(shown(text), node.one_of));
  }
}

void Walk::integer(const SchemaNode& node, json::value& value) {
  const auto number = as_int(value);
  if (!number) {
    if (value.is_uint64()) {
      problem(Problem::Kind::kInvalid, "Invalid value: " + shown(value) +
                                           ": must be less than or equal to 9223372036854775807");
    } else {
      wrong_type(node, value);
    }
    return;
  }
  if (!value.is_int64()) value = *number;  // 3.0 counts as 3
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  if (node.format == Format::kInt32) {
    low = std::numeric_limits<std::int32_t>::min();
    high = std::numeric_limits<std::int32_t>::max();
  }
  low = std::max(low, node.min.value_or(low));
  high = std::min(high, node.max.value_or(high));
  if (*number >= low && *number <= high) return;
  const bool above = *number > high;
  problem(Problem::Kind::kInvalid, "Invalid value: " + std::to_string(*number) + ": " + path() +
                                       " in body should be " + (above ? "less" : "greater") +
                                       " than or equal to " + std::to_string(above ? high : low));
}

void Walk::quantity(const json::value& value) {
  const auto quantity = as_quantity(value);
  if (!quantity) {
    problem(Problem::Kind::kInvalid,
            "Invalid value: " + shown(value) + ": " + quantity.error().text);
  } else if (quantity->saturated()) {
    problem(Problem::Kind::kInvalid,
            "Invalid value: " + shown(value) +
                ": out of range, the magnitude must be less than or equal to " +
                "9223372036854775807");
  }
}

void Walk::rules(const SchemaNode& node, const json::value& self) {
  for (const Rule& rule : node.rules) {
    if (rule.holds(rule, self)) continue;
    std::string value = shown(std::string_view(type_name(node.type)));
    if (self.is_string() || self.is_number() || self.is_bool()) value = shown(self);
    problem(Problem::Kind::kInvalid, "Invalid value: " + value + ": " + rule.message);
  }
}

}  // namespace sluice::api
