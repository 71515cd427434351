#include "host/plugins/validate/own_kinds.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "api/scheme/sample.hpp"
#include "host/plugins/text_gate.hpp"
#include "host/plugins/validators.hpp"

namespace sluice::host {

namespace {

namespace json = boost::json;

constexpr std::string_view kContributor = "under-test";

std::string contribution_of(TestInstance& instance) {
  const auto* schema = instance.table<sluice_schema_t>(SLUICE_EXT_SCHEMA);
  if (schema == nullptr) return {};
  std::string text;
  const sluice_sink_t sink = sink_of(text);
  const Asking asking("schema.contribute", "");
  const std::int32_t code = schema->contribute(instance.self, &sink);
  expect(code == SLUICE_OK, "contribute answered " + std::to_string(code));
  return text;
}

bool is_taken(const api::Scheme& scheme, json::object object) { return scheme.admit(object).ok(); }

/// A user's text (UserText) goes wherever the schema leaves the text to users.
void put_user_text(const api::Scheme& scheme, json::object& object, json::value& at) {
  if (json::object* members = at.if_object()) {
    for (auto& member : *members) put_user_text(scheme, object, member.value());
  } else if (json::array* items = at.if_array()) {
    for (json::value& item : *items) put_user_text(scheme, object, item);
  } else if (const json::string* text = at.if_string(); text != nullptr && *text == "sample") {
    const json::value before = at;
    at = json::string(UserText::present());
    if (!is_taken(scheme, object)) at = before;
  }
}

OwnObject stored(const api::Scheme& scheme, json::object object, std::string_view api_version,
                 std::string_view kind, const std::string& name) {
  if (!UserText::present().empty() && object.contains("spec")) {
    put_user_text(scheme, object, object.at("spec"));
    object.at("metadata").as_object()["annotations"] = {{"example.com/note", UserText::present()}};
  }
  const auto converted = scheme.convert(object, api::version_of(api_version));
  expect(converted.ok(), converted.ok() ? "" : converted.error().text);
  json::object& metadata = object.at("metadata").as_object();
  metadata["name"] = name;
  metadata["uid"] = "uid-" + name;
  metadata["generation"] = 1;
  metadata["resourceVersion"] = "1";
  metadata["creationTimestamp"] = "2026-01-01T00:00:00Z";
  const json::value* ns = metadata.if_contains("namespace");
  return {std::string(api_version), std::string(kind),
          ns != nullptr ? std::string(ns->as_string()) : std::string(), name,
          json::serialize(object)};
}

/// Of a kind that is known to neither: what is below its spec cannot be guessed.
OwnObject bare(std::string_view api_version, std::string_view kind) {
  json::object object{{"apiVersion", api::json_view(api_version)},
                      {"kind", api::json_view(kind)},
                      {"metadata", {{"namespace", "team-a"}, {"name", "sample"}, {"uid", "uid-1"}}},
                      {"spec", json::object()}};
  if (const std::string& text = UserText::present(); !text.empty())
    object.at("metadata").as_object()["annotations"] = {{"example.com/note", text}};
  return {std::string(api_version), std::string(kind), "team-a", "sample", json::serialize(object)};
}

}  // namespace

OwnKinds::OwnKinds(TestInstance& instance) {
  const std::string contribution = contribution_of(instance);
  if (contribution.empty()) return;
  const auto added = scheme_.add(contribution, kContributor);
  expect(added.ok(), added.ok() ? "" : added.error().text);
}

std::vector<OwnObject> OwnKinds::objects(std::string_view api_version,
                                         std::string_view kind) const {
  if (scheme_.find(api_version, kind) == nullptr) return {bare(api_version, kind)};
  std::vector<OwnObject> out;
  for (const api::SampleSize size : {api::SampleSize::kLeast, api::SampleSize::kMost}) {
    auto object = api::sample(scheme_, api_version, kind, size);
    expect(object.ok(), object.ok() ? "" : object.error().text);
    const char* name = size == api::SampleSize::kLeast ? "sample" : "sample-full";
    out.push_back(stored(scheme_, std::move(*object), api_version, kind, name));
  }
  return out;
}

std::vector<OwnObject> OwnKinds::objects_of(std::string_view name) const {
  const api::KindInfo* const info = find_kind(scheme_, name);
  if (info == nullptr) return {};
  return objects(info->hub_api_version(), info->kind);
}

void OwnKinds::expect_possible(const JudgedKind& kind) const {
  const std::string& name = kind.group_kind;
  const bool others_may_add = api::group_of(name).find('.') != std::string_view::npos;
  if (others_may_add || !kind.plural.empty() || find_kind(scheme_, name) != nullptr) return;
  throw TestFailed("it validates " + name +
                   ", which no host has: it would never be asked. A kind is named GROUP/KIND, or "
                   "KIND of the core group, as batch/Job and ConfigMap");
}

std::vector<OwnObject> OwnKinds::jobs() const {
  std::vector<OwnObject> out;
  for (const api::KindInfo* info : scheme_.kinds()) {
    if (info->job == nullptr || info->contributed_by != kContributor) continue;
    for (OwnObject& each : objects(info->hub_api_version(), info->kind))
      out.push_back(std::move(each));
  }
  return out;
}

std::string OwnKinds::mistakes(std::string_view text) const {
  json::error_code error;
  json::value object = api::parse_deep(text, error);
  if (error || !object.is_object()) return "it is no JSON object";
  return scheme_.admit(object.get_object()).error_text();
}

std::vector<JudgedKind> validated_kinds(TestInstance& instance) {
  const auto* validator = instance.table<sluice_validator_t>(SLUICE_EXT_VALIDATOR);
  IncomingText text;
  const sluice_sink_t sink = text.sink();
  const Asking asking("validator.kinds", "");
  const std::int32_t code = validator->kinds(instance.self, &sink);
  expect(code == SLUICE_OK, "kinds answered " + std::to_string(code));
  Nonsense nonsense;
  std::vector<JudgedKind> kinds;
  for (const std::string& line : text.names("a kind", nonsense)) {
    const auto kind = parse_judged_kind(line);
    expect(kind.ok(), kind.ok() ? "" : "kinds: " + kind.error().text);
    const auto is_it = [&](const JudgedKind& each) { return each.group_kind == kind->group_kind; };
    if (std::none_of(kinds.begin(), kinds.end(), is_it)) kinds.push_back(*kind);
  }
  expect(!nonsense, nonsense.sentence());
  return kinds;
}

}  // namespace sluice::host
