#include "host/objects/marks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/json/json.hpp"
#include "host/objects/claims.hpp"
#include "host/objects/header.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/runtime.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kMaps[] = {"annotations", "labels"};

std::string sentence(std::string_view map, std::string_view name) {
  return fmt::format("metadata.{}[{}]: only the system sets this; what was sent is left out", map,
                     name);
}

const json::object& map_of(const json::object& object, std::string_view map) {
  return part(part(object, "metadata"), map);
}

/// The names of all marks in one map of an object.
std::vector<std::string> marks_in(const api::KindInfo& kind, const json::object& map) {
  std::vector<std::string> out;
  for (const auto& entry : map)
    if (is_mark(kind, api::view(entry.key()))) out.emplace_back(api::view(entry.key()));
  return out;
}

void drop_empty(json::object& object, std::string_view map) {
  json::object* metadata = api::find_object(object, "metadata");
  const json::object* left = metadata ? api::find_object(*metadata, map) : nullptr;
  if (left && left->empty()) metadata->erase(api::json_view(map));
}

}  // namespace

bool is_mark(const api::KindInfo& kind, std::string_view name) {
  const std::string_view domain = domain_of(name);
  // Fields of another API version that this one does not have: the user's own, and checked as such.
  if (domain == kOwnGroup && name.ends_with("-fields")) return false;
  if (domain.size() < name.size() && is_within(domain, kOwnGroup))
    return name != kRuntimeAnnotation;
  return std::find(kind.marks.begin(), kind.marks.end(), name) != kind.marks.end();
}

void drop_marks(const api::KindInfo& kind, json::object& object,
                std::vector<std::string>* ignored) {
  for (const std::string_view map : kMaps) {
    for (const std::string& name : marks_in(kind, map_of(object, map))) {
      if (name == kClaimedBy) continue;
      object_of(object_of(object, "metadata"), map).erase(api::json_view(name));
      if (ignored) ignored->push_back(sentence(map, name));
      drop_empty(object, map);
    }
  }
}

void mark_creator(const api::KindInfo& kind, std::string_view user, json::object& object) {
  const bool listed =
      std::find(kind.marks.begin(), kind.marks.end(), kCreatedBy) != kind.marks.end();
  if (user.empty() || (!listed && !kind.job)) return;
  object_of(object_of(object, "metadata"), "annotations")[api::json_view(kCreatedBy)] =
      api::json_view(user);
}

void forget_creator(std::string_view user, json::object& object) {
  const auto noted = api::find_text(map_of(object, "annotations"), kCreatedBy);
  if (noted.empty() || noted != user) return;
  object_of(object_of(object, "metadata"), "annotations").erase(api::json_view(kCreatedBy));
  drop_empty(object, "annotations");
}

namespace {

/// Those of the marks that are `kept` are as in `before`.
template <typename Kept>
void keep_marks_that(const Kept& kept, const api::KindInfo& kind, const json::object& before,
                     json::object& after, std::vector<std::string>* ignored) {
  for (const std::string_view map : kMaps) {
    const json::object& old = map_of(before, map);
    for (const std::string& name : marks_in(kind, map_of(after, map))) {
      if (!kept(name)) continue;
      const json::value* had = old.if_contains(name);
      json::object& wanted = object_of(object_of(after, "metadata"), map);
      if (had && *had == wanted.at(name)) continue;
      wanted.erase(name);
      if (ignored) ignored->push_back(sentence(map, name));
      drop_empty(after, map);
    }
    for (const std::string& name : marks_in(kind, old))
      if (kept(name)) object_of(object_of(after, "metadata"), map)[name] = old.at(name);
  }
}

}  // namespace

void keep_marks(const api::KindInfo& kind, const json::object& before, json::object& after,
                std::vector<std::string>* ignored) {
  keep_marks_that([](const std::string&) { return true; }, kind, before, after, ignored);
}

bool is_mark_of(const api::KindInfo& kind, std::string_view plugin, std::string_view name) {
  if (name == kCreatedBy || name == kClaimedBy) return false;
  if (domain_of(name) == std::string(plugin).append(".").append(kOwnGroup)) return true;
  const auto listed = kind.marks_of.find(std::string(plugin));
  return listed != kind.marks_of.end() &&
         std::find(listed->second.begin(), listed->second.end(), name) != listed->second.end();
}

void keep_marks_of_others(const api::KindInfo& kind, std::string_view plugin,
                          const json::object& before, json::object& after) {
  const bool claims = claims_of(after).has(plugin);
  keep_marks_that([&](const std::string& name) { return !is_mark_of(kind, plugin, name); }, kind,
                  before, after, nullptr);
  if (!claims) return;
  Claims own = claims_of(before);
  own.add(std::string(plugin));
  set_claims(after, own);
}

}  // namespace sluice::host
