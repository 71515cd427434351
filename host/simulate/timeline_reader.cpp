#include "host/simulate/timeline_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "api/json/json.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kTimelineVersion = "sluice.dev/v1alpha1";
constexpr const char* kDurationForm = "a duration such as 1500ms, 90s, 2m30s or 1h";

std::string describe(const json::value* value) {
  if (!value || value->is_null()) return "nothing";
  std::string text = api::to_json(*value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace

bool TimelineReader::is_timeline(const json::object& document) {
  return api::find_text(document, "kind") == "Timeline" &&
         api::find_text(document, "apiVersion").starts_with("sluice.dev/");
}

bool TimelineReader::expect_keys(PlaceRef place, std::string_view field, const json::object& object,
                                 std::initializer_list<std::string_view> allowed) {
  for (const auto& entry : object) {
    const std::string_view key = api::view(entry.key());
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    taker_.fail(place, field.empty() ? std::string(key) : fmt::format("{}.{}", field, key),
                fmt::format("unknown key \"{}\"; allowed: {}", key, fmt::join(allowed, ", ")));
    return false;
  }
  return true;
}

void TimelineReader::read(PlaceRef place, json::object& timeline) {
  if (api::find_text(timeline, "apiVersion") != kTimelineVersion)
    return taker_.fail(place, "apiVersion",
                       fmt::format("apiVersion: found {}; allowed: {}",
                                   describe(api::find(timeline, "apiVersion")), kTimelineVersion));
  if (!expect_keys(place, "", timeline,
                   {"apiVersion", "kind", "metadata", "start", "from", "events"}))
    return;
  read_start(place, timeline);
  read_from(place, timeline);
  auto* events = timeline.if_contains("events");
  if (!events || events->is_null()) return;
  if (!events->is_array())
    return taker_.fail(
        place, "events",
        fmt::format("events: found {}; allowed: a list of events", describe(events)));
  std::uint32_t index = 0;
  for (auto& item : events->get_array()) {
    const PlaceRef at{place.document, index++};
    if (auto* event = item.if_object())
      read_event(at, *event);
    else
      taker_.fail(at, "",
                  fmt::format("found {}; allowed: an event with `at` and one of apply, delete, "
                              "patch, finish",
                              describe(&item)));
    if (taker_.full()) return;
  }
}

void TimelineReader::read_start(PlaceRef place, const json::object& timeline) {
  const auto* value = api::find(timeline, "start");
  if (!value) return;
  const auto* text = value->if_string();
  const auto start = text ? parse_time(api::view(*text)) : std::nullopt;
  if (!start || *start < 0)
    return taker_.fail(place, "start",
                       fmt::format("start: found {}; allowed: a time from 1970 to 2262, such as {}",
                                   describe(value), kDefaultStart));
  if (start_ && *start_ != *start)
    return taker_.fail(place, "start",
                       fmt::format("start: found {}, but another Timeline starts at {}",
                                   describe(value), format_time(*start_)));
  start_ = *start;
}

void TimelineReader::read_from(PlaceRef place, const json::object& timeline) {
  const auto* value = api::find(timeline, "from");
  if (!value) return;
  const auto* text = value->if_string();
  const auto from = text ? parse_duration(api::view(*text)) : std::nullopt;
  if (!from)
    return taker_.fail(place, "from",
                       fmt::format("from: found {}; allowed: {}", describe(value), kDurationForm));
  if (from_ && *from_ != *from)
    return taker_.fail(
        place, "from",
        fmt::format("from: found {}, but another Timeline says otherwise", describe(value)));
  from_ = *from;
}

void TimelineReader::read_event(PlaceRef place, json::object& object) {
  TimelineEvent event;
  event.place = place;
  if (!expect_keys(place, "", object, {"at", "apply", "delete", "patch", "finish"})) return;
  const auto* at = api::find(object, "at");
  const auto offset =
      at && at->is_string() ? parse_duration(api::view(at->get_string())) : std::nullopt;
  if (!offset)
    return taker_.fail(place, "at",
                       fmt::format("at: found {}; allowed: {}", describe(at), kDurationForm));
  event.at = *offset;
  if (object.size() != 2)
    return taker_.fail(
        place, "",
        fmt::format("an event has `at` and exactly one of apply, delete, patch, finish; found {}",
                    object.size() == 1 ? "none" : "several"));
  for (auto& entry : object) {
    const std::string_view key = api::view(entry.key());
    if (key != "at") return read_action(std::move(event), key, entry.value());
  }
}

void TimelineReader::read_action(TimelineEvent event, std::string_view key, json::value& value) {
  auto* object = value.if_object();
  if (!object)
    return taker_.fail(event.place, key,
                       fmt::format("{}: found {}; allowed: a map", key, describe(&value)));
  if (key == "delete") return read_delete(std::move(event), *object);
  if (key == "patch") return read_patch(std::move(event), *object);
  if (key == "finish") return read_finish(std::move(event), *object);
  event.type = TimelineEvent::Type::kApply;
  taker_.take_apply(std::move(event), *object);
}

std::unique_ptr<EventTarget> TimelineReader::target_of(PlaceRef place, std::string_view field,
                                                       const json::object& named,
                                                       bool kind_needed) {
  auto target = std::make_unique<EventTarget>();
  const std::string_view kind = api::find_text(named, "kind");
  const std::string_view name = api::find_text(named, "name");
  const std::string_view ns = api::find_text(named, "namespace");
  if (name.empty() || (kind.empty() && kind_needed)) {
    taker_.fail(place, field,
                fmt::format("{}: has no {}; allowed: {{ kind, namespace, name }}", field,
                            name.empty() ? "name" : "kind"));
    return nullptr;
  }
  if (!kind.empty() && (kind_needed || kind != "Job")) {
    target->kind = scheme_.find_by_name(kind);
    if (!target->kind) {
      taker_.fail(place, fmt::format("{}.kind", field),
                  fmt::format("{}.kind: no kind \"{}\" is known", field, kind));
      return nullptr;
    }
  }
  const bool namespaced = !target->kind || target->kind->namespaced;
  target->key = namespaced ? join_key(ns.empty() ? "default" : ns, name) : std::string(name);
  return target;
}

void TimelineReader::read_delete(TimelineEvent event, const json::object& named) {
  if (!expect_keys(event.place, "delete", named, {"apiVersion", "kind", "namespace", "name"}))
    return;
  event.type = TimelineEvent::Type::kDelete;
  event.target = target_of(event.place, "delete", named, true);
  if (event.target) taker_.take_event(std::move(event));
}

void TimelineReader::read_patch(TimelineEvent event, const json::object& named) {
  if (!expect_keys(event.place, "patch", named,
                   {"apiVersion", "kind", "namespace", "name", "subresource", "merge"}))
    return;
  event.type = TimelineEvent::Type::kPatch;
  event.target = target_of(event.place, "patch", named, true);
  if (!event.target) return;
  const auto* merge = api::find(named, "merge");
  if (!merge || !merge->is_object())
    return taker_.fail(
        event.place, "patch.merge",
        fmt::format("patch.merge: found {}; allowed: a JSON merge patch", describe(merge)));
  if (const auto* subresource = api::find(named, "subresource")) {
    if (!subresource->is_string() || subresource->get_string() != "status")
      return taker_.fail(
          event.place, "patch.subresource",
          fmt::format("patch.subresource: found {}; allowed: status", describe(subresource)));
    event.target->status = true;
  } else if (event.target->kind->status_subresource && api::find(merge->get_object(), "status")) {
    taker_.warn(event.place, "patch.merge.status",
                "a patch changes the status only with `subresource: status`");
  }
  event.target->merge = api::to_json(*merge);
  taker_.take_event(std::move(event));
}

void TimelineReader::read_finish(TimelineEvent event, const json::object& named) {
  if (!expect_keys(event.place, "finish", named, {"kind", "namespace", "name"})) return;
  const std::string_view kind = api::find_text(named, "kind");
  const api::KindInfo* info = scheme_.find_by_name(kind);
  if (!kind.empty() && kind != "Workload" && !(info && info->job))
    return taker_.fail(event.place, "finish.kind",
                       fmt::format("finish.kind: found \"{}\"; allowed: Workload, and kinds of "
                                   "jobs such as Job and RayCluster",
                                   kind));
  event.type = TimelineEvent::Type::kFinish;
  event.target = target_of(event.place, "finish", named, false);
  if (event.target) taker_.take_event(std::move(event));
}

}  // namespace sluice::host
