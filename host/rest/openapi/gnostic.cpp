#include "host/rest/openapi/gnostic.hpp"

#include <bit>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string_view>

#include "api/json/json.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

/// A message that is being written; fields come in the order of the calls.
class Message {
 public:
  void text(std::uint32_t number, std::string_view value) {
    tag(number, 2);
    varint(value.size());
    bytes_ += value;
  }
  void text(std::uint32_t number, const json::value& value) {
    if (const auto* found = value.if_string()) text(number, api::view(*found));
  }
  void texts(std::uint32_t number, const json::value& list) {
    if (const auto* found = list.if_array()) {
      for (const auto& each : *found) text(number, each);
    }
  }
  void message(std::uint32_t number, const Message& value) {
    text(number, std::string_view(value.bytes_));
  }
  void integer(std::uint32_t number, const json::value& value) {
    const auto found = api::as_int(value);
    if (!found) return;
    tag(number, 0);
    varint(static_cast<std::uint64_t>(*found));
  }
  void real(std::uint32_t number, const json::value& value) {
    const auto found = api::as_int(value);
    if (!found) return;
    tag(number, 1);
    auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(*found));
    for (int i = 0; i < 8; ++i, bits >>= 8) bytes_ += static_cast<char>(bits & 0xFF);
  }
  void flag(std::uint32_t number, const json::value& value) {
    const auto* found = value.if_bool();
    if (found == nullptr) return;
    tag(number, 0);
    varint(*found ? 1 : 0);
  }
  /// Any value, as YAML: JSON is YAML.
  void any(std::uint32_t number, const json::value& value) {
    Message inner;
    inner.text(2, api::to_json(value));
    message(number, inner);
  }
  /// `x-…`: a named value.
  void extension(std::uint32_t number, std::string_view name, const json::value& value) {
    Message inner;
    inner.text(1, name);
    inner.any(2, value);
    message(number, inner);
  }

  std::string take() { return std::move(bytes_); }

 private:
  void tag(std::uint32_t number, std::uint32_t wire) { varint(number << 3 | wire); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

bool is_extension(std::string_view key) { return key.starts_with("x-"); }

/// The members of an object as named messages, for maps.
template <typename Encode>
void named(const json::value& map, std::uint32_t number, Message& out, Encode encode) {
  const auto* object = map.if_object();
  if (object == nullptr) return;
  for (const auto& member : *object) {
    if (!member.value().is_object()) continue;
    Message entry;
    entry.text(1, api::view(member.key()));
    entry.message(2, encode(member.value().get_object()));
    out.message(number, entry);
  }
}

Message schema_message(const json::object& schema);

Message properties_message(const json::value& map) {
  Message out;
  named(map, 1, out, schema_message);
  return out;
}

/// The members of a schema that hold other schemas; false when `key` is none of them.
bool add_inner_schema(std::string_view key, const json::value& value, Message& out) {
  if (key == "properties") {
    out.message(25, properties_message(value));
    return true;
  }
  if (key != "items" && key != "additionalProperties") return false;
  if (const auto* inner = value.if_object()) {
    Message item;
    item.message(1, schema_message(*inner));
    out.message(key == "items" ? 23 : 21, item);
  }
  return true;
}

enum class Holds : std::uint8_t { kText, kTexts, kInteger, kReal, kFlag, kAny, kAnyList };

struct Member {
  std::string_view key;
  std::uint32_t number;
  Holds holds;
};

constexpr Member kSchema[] = {
    {"$ref", 1, Holds::kText},          {"format", 2, Holds::kText},
    {"title", 3, Holds::kText},         {"description", 4, Holds::kText},
    {"default", 5, Holds::kAny},        {"maximum", 7, Holds::kReal},
    {"minimum", 9, Holds::kReal},       {"maxLength", 11, Holds::kInteger},
    {"minLength", 12, Holds::kInteger}, {"pattern", 13, Holds::kText},
    {"maxItems", 14, Holds::kInteger},  {"minItems", 15, Holds::kInteger},
    {"uniqueItems", 16, Holds::kFlag},  {"maxProperties", 17, Holds::kInteger},
    {"required", 19, Holds::kTexts},    {"enum", 20, Holds::kAnyList},
};
constexpr Member kOperation[] = {
    {"operationId", 5, Holds::kText},
    {"produces", 6, Holds::kTexts},
    {"consumes", 7, Holds::kTexts},
};
constexpr Member kPathParameter[] = {{"required", 1, Holds::kFlag},
                                     {"in", 2, Holds::kText},
                                     {"name", 4, Holds::kText},
                                     {"type", 5, Holds::kText}};
constexpr Member kQueryParameter[] = {{"required", 1, Holds::kFlag},
                                      {"in", 2, Holds::kText},
                                      {"name", 4, Holds::kText},
                                      {"type", 6, Holds::kText}};
constexpr Member kBodyParameter[] = {
    {"name", 2, Holds::kText}, {"in", 3, Holds::kText}, {"required", 4, Holds::kFlag}};

template <std::size_t Size>
bool add_member(const Member (&members)[Size], std::string_view key, const json::value& value,
                Message& out) {
  for (const Member& each : members) {
    if (each.key != key) continue;
    switch (each.holds) {
      case Holds::kText:
        out.text(each.number, value);
        break;
      case Holds::kTexts:
        out.texts(each.number, value);
        break;
      case Holds::kInteger:
        out.integer(each.number, value);
        break;
      case Holds::kReal:
        out.real(each.number, value);
        break;
      case Holds::kFlag:
        out.flag(each.number, value);
        break;
      case Holds::kAny:
        out.any(each.number, value);
        break;
      case Holds::kAnyList:
        if (const auto* list = value.if_array()) {
          for (const auto& entry : *list) out.any(each.number, entry);
        }
        break;
    }
    return true;
  }
  return false;
}

Message schema_message(const json::object& schema) {
  Message out;
  for (const auto& member : schema) {
    const std::string_view key = api::view(member.key());
    const json::value& value = member.value();
    if (is_extension(key)) {
      out.extension(31, key, value);
    } else if (key == "type") {
      Message type;
      type.text(1, value);
      out.message(22, type);
    } else if (!add_inner_schema(key, value, out)) {
      add_member(kSchema, key, value, out);
    }
  }
  return out;
}

Message parameter_message(const json::object& parameter) {
  const std::string_view in = api::find_text(parameter, "in");
  Message inner;
  for (const auto& member : parameter) {
    const std::string_view key = api::view(member.key());
    if (in == "body") {
      if (key == "schema" && member.value().is_object()) {
        inner.message(5, schema_message(member.value().get_object()));
      } else {
        add_member(kBodyParameter, key, member.value(), inner);
      }
    } else if (in == "path") {
      add_member(kPathParameter, key, member.value(), inner);
    } else {
      add_member(kQueryParameter, key, member.value(), inner);
    }
  }
  Message out;
  if (in == "body") {
    out.message(1, inner);
  } else {
    Message other;
    other.message(in == "path" ? 4 : 3, inner);
    out.message(2, other);
  }
  Message item;
  item.message(1, out);
  return item;
}

void add_parameters(const json::value& list, std::uint32_t number, Message& out) {
  const auto* parameters = list.if_array();
  if (parameters == nullptr) return;
  for (const auto& each : *parameters) {
    if (const auto* parameter = each.if_object()) {
      out.message(number, parameter_message(*parameter));
    }
  }
}

Message response_message(const json::object& response) {
  Message inner;
  inner.text(1, api::find_text(response, "description"));
  if (const json::object* schema = api::find_object(response, "schema")) {
    Message item;
    item.message(1, schema_message(*schema));
    inner.message(2, item);
  }
  Message out;
  out.message(1, inner);
  return out;
}

Message operation_message(const json::object& operation) {
  Message out;
  for (const auto& member : operation) {
    const std::string_view key = api::view(member.key());
    if (is_extension(key)) {
      out.extension(13, key, member.value());
    } else if (key == "parameters") {
      add_parameters(member.value(), 8, out);
    } else if (key == "responses") {
      Message responses;
      named(member.value(), 1, responses, response_message);
      out.message(9, responses);
    } else {
      add_member(kOperation, key, member.value(), out);
    }
  }
  return out;
}

Message path_message(const json::object& path) {
  struct Verb {
    std::string_view key;
    std::uint32_t number;
  };
  constexpr Verb kVerbs[] = {{"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
  Message out;
  for (const Verb& verb : kVerbs) {
    if (const json::object* operation = api::find_object(path, verb.key)) {
      out.message(verb.number, operation_message(*operation));
    }
  }
  if (const json::value* list = api::find(path, "parameters")) add_parameters(*list, 9, out);
  return out;
}

}  // namespace

std::string encode_openapi_v2(const json::object& document) {
  Message out;
  out.text(1, api::find_text(document, "swagger"));
  if (const json::object* info = api::find_object(document, "info")) {
    Message inner;
    inner.text(1, api::find_text(*info, "title"));
    inner.text(2, api::find_text(*info, "version"));
    out.message(2, inner);
  }
  if (const json::value* map = api::find(document, "paths")) {
    Message paths;
    named(*map, 2, paths, path_message);
    out.message(8, paths);
  }
  if (const json::value* map = api::find(document, "definitions")) {
    out.message(9, properties_message(*map));
  }
  return out.take();
}

}  // namespace sluice::host
