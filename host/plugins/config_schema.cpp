#include "host/plugins/config_schema.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <string>

#include "core/base/mistakes.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

constexpr int kMaxDepth = 32;

const json::value* member(const json::object& object, std::string_view key) {
  return object.if_contains(key);
}

std::string type_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "integer";
    case json::kind::double_:
      return "number";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
  }
  return "value";
}

bool has_type(const json::value& value, std::string_view type) {
  const std::string actual = type_of(value);
  return actual == type || (type == "number" && actual == "integer");
}

double number_of(const json::value& value) {
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return value.is_double() ? value.get_double() : 0;
}

/// Bytes that do not continue a UTF-8 sequence: characters.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string list(const json::array& values) {
  std::string text;
  for (const json::value& value : values)
    text += (text.empty() ? "" : ", ") + json::serialize(value);
  return text;
}

/// Every place where this schema is not one that Checker understands.
void find_schema_mistakes(const json::value& schema, const std::string& path, int depth,
                          Mistakes& mistakes) {
  static constexpr std::array<std::string_view, 16> kKeywords = {
      "type",      "properties",  "required", "additionalProperties",
      "items",     "enum",        "minimum",  "maximum",
      "minLength", "maxLength",   "minItems", "maxItems",
      "default",   "defaultFrom", "title",    "description"};
  static constexpr std::array<std::string_view, 7> kTypes = {
      "null", "boolean", "integer", "number", "string", "array", "object"};
  const auto wrong = [&](const std::string& where, const std::string& what) {
    mistakes.add({where + ": " + what});
  };
  if (depth > kMaxDepth) return wrong(path, "nested too deeply");
  if (!schema.is_object()) return wrong(path, "a schema is an object, found " + type_of(schema));
  for (const auto& [key, value] : schema.get_object()) {
    const std::string here = path + "/" + std::string(key);
    if (key != "$schema" && std::find(kKeywords.begin(), kKeywords.end(), key) == kKeywords.end()) {
      wrong(here, "this keyword is not supported");
      continue;
    }
    if (key == "type" && (!value.is_string() || std::find(kTypes.begin(), kTypes.end(),
                                                          value.get_string()) == kTypes.end()))
      wrong(here, "not the name of a type");
    if ((key == "required" || key == "enum") && !value.is_array()) wrong(here, "not an array");
    if (key == "additionalProperties" && !value.is_bool()) wrong(here, "not true or false");
    if (key == "defaultFrom" && !value.is_string()) wrong(here, "not the name of a setting");
    if ((key.starts_with("min") || key.starts_with("max")) && !has_type(value, "number"))
      wrong(here, "not a number");
    if (key == "items") find_schema_mistakes(value, here, depth + 1, mistakes);
    if (key != "properties") continue;
    if (!value.is_object()) {
      wrong(here, "not an object");
      continue;
    }
    for (const auto& [name, property] : value.get_object())
      find_schema_mistakes(property, here + "/" + std::string(name), depth + 1, mistakes);
  }
}

/// Checks one configuration and fills in its defaults.
class Checker {
 public:
  explicit Checker(const json::object& host) : host_(host) {}

  void check(json::value& value, const json::object& schema, const std::string& path, int depth) {
    if (depth > kMaxDepth) return add(path, "is nested too deeply");
    if (const auto* type = member(schema, "type")) {
      const std::string_view allowed = type->get_string();
      if (!has_type(value, allowed))
        return add(path, "must be of type " + std::string(allowed) + ", found " + shown(value));
    }
    if (const auto* allowed = member(schema, "enum")) {
      const auto& values = allowed->get_array();
      if (std::find(values.begin(), values.end(), value) == values.end())
        add(path, "found " + shown(value) + ", allowed are " + list(values));
    }
    check_range(value, schema, path);
    if (value.is_object()) check_object(value.get_object(), schema, path, depth);
    const auto* items = member(schema, "items");
    if (!value.is_array() || items == nullptr) return;
    for (std::size_t i = 0; i < value.get_array().size(); ++i)
      check(value.get_array()[i], items->get_object(), path + "[" + std::to_string(i) + "]",
            depth + 1);
  }

  const Mistakes& mistakes() const { return mistakes_; }

 private:
  static std::string shown(const json::value& value) {
    std::string text = json::serialize(value);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text + " (" + type_of(value) + ")";
  }

  void add(const std::string& path, const std::string& what) {
    mistakes_.add({path + ": " + what});
  }

  void check_object(json::object& object, const json::object& schema, const std::string& path,
                    int depth) {
    const auto* properties = member(schema, "properties");
    const auto* additional = member(schema, "additionalProperties");
    const bool open = additional != nullptr ? additional->get_bool() : properties == nullptr;
    static const json::object kNone;
    const json::object& known = properties != nullptr ? properties->get_object() : kNone;
    for (const auto& [key, property] : known) {
      const auto* from = member(property.get_object(), "defaultFrom");
      const auto* by_default = from != nullptr ? member(host_, from->get_string()) : nullptr;
      if (by_default == nullptr) by_default = member(property.get_object(), "default");
      if (by_default != nullptr && !object.contains(key)) object[key] = *by_default;
    }
    if (const auto* required = member(schema, "required"))
      for (const json::value& key : required->get_array())
        if (key.is_string() && !object.contains(key.get_string()))
          add(path + "." + std::string(key.get_string()), "is required");
    for (auto& [key, value] : object) {
      const std::string here = path + "." + std::string(key);
      if (const auto* property = member(known, key))
        check(value, property->get_object(), here, depth + 1);
      else if (!open)
        add(here, "unknown key; " + allowed_keys(known));
    }
  }

  static std::string allowed_keys(const json::object& known) {
    std::string text;
    for (const auto& [key, unused] : known) text += (text.empty() ? "" : ", ") + std::string(key);
    return text.empty() ? "no keys are allowed here" : "allowed are " + text;
  }

  void check_range(const json::value& value, const json::object& schema, const std::string& path) {
    if (has_type(value, "number"))
      check_bounds(schema, "imum", number_of(value), path, shown(value));
    if (value.is_string())
      check_bounds(schema, "Length", static_cast<double>(characters(value.get_string())), path,
                   "a length of " + std::to_string(characters(value.get_string())));
    if (value.is_array())
      check_bounds(schema, "Items", static_cast<double>(value.get_array().size()), path,
                   std::to_string(value.get_array().size()) + " items");
  }

  void check_bounds(const json::object& schema, const std::string& suffix, double value,
                    const std::string& path, const std::string& found) {
    const auto* low = member(schema, "min" + suffix);
    const auto* high = member(schema, "max" + suffix);
    if (low != nullptr && value < number_of(*low))
      add(path, "found " + found + ", at least " + json::serialize(*low) + " is allowed");
    if (high != nullptr && value > number_of(*high))
      add(path, "found " + found + ", at most " + json::serialize(*high) + " is allowed");
  }

  const json::object& host_;
  Mistakes mistakes_;
};

Result<json::value> parse_json(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error) return Error{"it is not valid JSON: " + error.message()};
  return value;
}

}  // namespace

Result<ConfigSchema> ConfigSchema::parse(std::string_view text) {
  if (text.empty())
    return ConfigSchema(json::value{{"type", "object"}, {"additionalProperties", false}});
  auto schema = parse_json(text);
  if (!schema.ok()) return schema.error();
  Mistakes mistakes;
  find_schema_mistakes(*schema, "", 0, mistakes);
  if (!mistakes.none()) return mistakes.error();
  return ConfigSchema(std::move(*schema));
}

Result<json::value> ConfigSchema::check(std::string_view config, std::string_view host) const {
  auto value = parse_json(config.empty() ? "{}" : config);
  if (!value.ok()) return value.error().context("config");
  const auto settings = parse_json(host.empty() ? "{}" : host);
  SLUICE_CHECK(settings.ok() && settings->is_object(), "no settings of a host: ", host);
  Checker checker(settings->get_object());
  checker.check(*value, schema_.get_object(), "config", 0);
  if (checker.mistakes().none()) return std::move(*value);
  return checker.mistakes().error();
}

}  // namespace sluice::host
