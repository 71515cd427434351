// Secret, ConfigMap, Event and Service: small rules of simple objects.
#include "api/builtin/rules.hpp"
#include "api/schema/rules.hpp"
#include "api/schema/walk.hpp"
#include "core/base/base64.hpp"

namespace sluice::api::builtin {

namespace json = boost::json;

namespace {

constexpr std::size_t kLargest = 1024 * 1024;  // bytes of all values together

bool is_data_key(std::string_view key) {
  if (key.empty() || key.size() > 253 || key == "." || key.substr(0, 2) == "..") return false;
  for (const char c : key) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

void check_data(const json::object& object, const json::object* old,
                std::initializer_list<const char*> maps, Outcome& outcome) {
  std::size_t total = 0;
  for (const char* map : maps) {
    for (const auto& member : part(object, map)) {
      const std::string_view key = view(member.key());
      if (!is_data_key(key)) {
        add_problem(outcome, Problem::Kind::kInvalid,
                    std::string(map) + "[" + std::string(key) + "]",
                    "Invalid value: " + shown(key) +
                        ": a valid key consists of alphanumeric characters, '-', '_' or '.'");
      }
      if (const auto* text = member.value().if_string()) total += text->size();
    }
  }
  if (total > kLargest + kLargest / 3) {
    add_problem(outcome, Problem::Kind::kTooLong, "data",
                "Too long: may not be more than " + std::to_string(kLargest) + " bytes");
  }
  if (old == nullptr || !find_bool(*old, "immutable", false)) return;
  if (!find_bool(object, "immutable", false)) {
    add_forbidden(outcome, "immutable", "field is immutable when `immutable` is set");
  }
  for (const char* map : maps) {
    if (same(object, *old, map)) continue;
    add_forbidden(outcome, map, "field is immutable when `immutable` is set");
  }
}

}  // namespace

void fill_in_secret(json::object& secret) {
  const json::object* texts = find_object(secret, "stringData");
  if (texts == nullptr) return;
  const json::object copy = *texts;
  secret.erase("stringData");
  json::value& data = secret["data"];
  if (!data.is_object()) data.emplace_object();
  for (const auto& member : copy) {
    const auto* text = member.value().if_string();
    if (text != nullptr) data.get_object()[member.key()] = base64_text(view(*text));
  }
}

void check_secret(const json::object& secret, const json::object* old, Outcome& outcome) {
  check_data(secret, old, {"data"}, outcome);
  if (old != nullptr && !same(secret, *old, "type")) {
    add_immutable(secret, "type", "type", outcome);
  }
}

void check_config_map(const json::object& map, const json::object* old, Outcome& outcome) {
  check_data(map, old, {"data", "binaryData"}, outcome);
}

void check_event(const json::object& event, const json::object*, Outcome& outcome) {
  constexpr std::size_t kLongestMessage = 1024;
  for (const char* field : {"message", "note"}) {
    const std::size_t size = find_text(event, field).size();
    if (size <= kLongestMessage) continue;
    add_problem(outcome, Problem::Kind::kTooLong, field,
                "Too long: may not be more than " + std::to_string(kLongestMessage) +
                    " bytes, got " + std::to_string(size));
  }
  // Nobody tells in his namespace of what is in another, or in none (those are told in `default`).
  const json::object* involved = find_object(event, "involvedObject");
  const json::object* metadata = find_object(event, "metadata");
  if (involved == nullptr || metadata == nullptr) return;
  const std::string_view ns = find_text(*metadata, "namespace");
  const std::string_view of = find_text(*involved, "namespace");
  if (ns != (of.empty() ? "default" : of))
    add_problem(outcome, Problem::Kind::kInvalid, "involvedObject.namespace",
                "Invalid value: \"" + std::string(of) + "\": does not match event.namespace");
}

void fill_in_service(json::object& service) {
  json::object* spec = find_object(service, "spec");
  if (spec == nullptr) return;
  for_objects(*spec, "ports", [](std::size_t, json::object& port) {
    const json::value* number = find(port, "port");
    if (number == nullptr || find(port, "targetPort") != nullptr) return;
    const json::value copy = *number;
    port["targetPort"] = copy;
  });
}

}  // namespace sluice::api::builtin
