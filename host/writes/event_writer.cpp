#include "host/writes/event_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/api/json.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kComponent = "sluice";
constexpr std::size_t kLongestMessage = 1024;

std::string api_version(const api::KindInfo& kind) {
  const std::string& preferred = kind.versions.front().name;
  return kind.group.empty() ? preferred : kind.group + "/" + preferred;
}

}  // namespace

bool EventWriter::Bucket::take(Time now, double burst, double per_second) {
  const double seconds = static_cast<double>(now - filled) / static_cast<double>(kSecond);
  tokens = std::min(burst, tokens + seconds * per_second);
  filled = now;
  if (tokens < 1) return false;
  tokens -= 1;
  return true;
}

bool EventWriter::allowed(const std::string& uid) {
  auto [it, fresh] = by_object_.try_emplace(uid);
  if (fresh) {
    it->second.bucket = {limits_.per_object_burst, objects_.now()};
    it->second.age = object_ages_.insert(object_ages_.end(), uid);
  }
  const bool own = it->second.bucket.take(objects_.now(), limits_.per_object_burst,
                                          limits_.per_object_per_second);
  if (by_object_.size() > limits_.remembered) {
    by_object_.erase(object_ages_.front());
    object_ages_.pop_front();
  }
  return own && all_.take(objects_.now(), limits_.burst, limits_.per_second);
}

bool EventWriter::count_up(const std::string& key) {
  const api::KindInfo* kind = objects_.scheme().find("v1", "Event");
  if (!kind || !objects_.kernel().exists(*kind, key)) return false;
  json::object event = objects_.kernel().current(*kind, key);
  event["count"] = api::find_int(event, "count").value_or(1) + 1;
  event["lastTimestamp"] = format_time(objects_.now() - objects_.now() % kSecond);
  objects_.kernel().commit(objects_.kernel().intake().seal(*kind, event));
  return true;
}

void EventWriter::emit(const EventNote& event) {
  if (!event.about.kind || !objects_.kernel().exists(*event.about.kind, event.about.key)) return;
  const json::object about = objects_.kernel().current(*event.about.kind, event.about.key);
  const std::string uid(api::find_text(*metadata_of(about), "uid"));
  if (!allowed(uid)) {
    ++dropped_;
    return;
  }
  const std::string id =
      fmt::format("{}\n{}\n{}\n{}", uid, event.warning, event.reason, event.message);
  if (const auto known = notes_.find(id); known != notes_.end() && count_up(known->second.key))
    return;
  write(event, about, id);
}

void EventWriter::write(const EventNote& event, const json::object& about, const std::string& id) {
  const api::KindInfo* kind = objects_.scheme().find("v1", "Event");
  if (!kind) return;
  const json::object& metadata = *metadata_of(about);
  const std::string name(api::find_text(metadata, "name"));
  const std::string ns = event.about.kind->namespaced
                             ? std::string(api::find_text(metadata, "namespace"))
                             : std::string("default");
  const std::string at = format_time(objects_.now() - objects_.now() % kSecond);
  const std::string uid = ids_.uid(objects_.now());
  json::object involved = {{"kind", event.about.kind->kind},
                           {"name", name},
                           {"uid", api::json_view(api::find_text(metadata, "uid"))},
                           {"apiVersion", api_version(*event.about.kind)}};
  if (event.about.kind->namespaced) involved["namespace"] = ns;
  const std::string own_name =
      fmt::format("{}.{}", name.substr(0, 200),
                  uid.substr(0, 8) + uid.substr(9, 4) + uid.substr(14, 4) + uid.substr(28));
  json::object object = {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata",
       json::object{
           {"name", own_name}, {"namespace", ns}, {"uid", uid}, {"creationTimestamp", at}}},
      {"involvedObject", std::move(involved)},
      {"reason", event.reason},
      {"message", event.message.substr(0, kLongestMessage)},
      {"source", json::object{{"component", api::json_view(kComponent)}}},
      {"firstTimestamp", at},
      {"lastTimestamp", at},
      {"count", 1},
      {"type", event.warning ? "Warning" : "Normal"},
      {"eventTime", nullptr},
      {"reportingComponent", api::json_view(kComponent)},
      {"reportingInstance", ""}};
  const std::string key = ns + "/" + own_name;
  objects_.kernel().commit(objects_.kernel().intake().seal(*kind, object));
  if (const auto old = notes_.find(id); old != notes_.end()) note_ages_.erase(old->second.age);
  notes_[id] = {key, note_ages_.insert(note_ages_.end(), id)};
  if (notes_.size() > limits_.remembered) {
    notes_.erase(note_ages_.front());
    note_ages_.pop_front();
  }
}

}  // namespace sluice::host
