#include "host/writes/event_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/json/json.hpp"
#include "api/json/json_members.hpp"
#include "core/base/utf8.hpp"
#include "host/base/text.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kComponent = "sluice";
constexpr std::size_t kLongestMessage = 1024;
constexpr Duration kToldAgainAfter = 10 * kSecond;  // where nothing can be counted up

}  // namespace

bool EventWriter::Shares::take(const std::string& key, Time now, double burst, double per_second,
                               std::size_t remembered) {
  auto [it, fresh] = by_key.try_emplace(key);
  if (fresh) {
    it->second.bucket = {burst, now};
    it->second.age = ages.insert(ages.end(), key);
  }
  const bool taken = it->second.bucket.take(now, burst, per_second);
  if (by_key.size() > remembered) {
    by_key.erase(ages.front());
    ages.pop_front();
  }
  return taken;
}

bool EventWriter::allowed(const std::string& uid, const std::string& reason) {
  const Time now = objects_.now();
  return of_reasons_.take(fmt::format("{}\n{}", uid, reason), now, limits_.per_reason_burst,
                          limits_.per_reason_per_second, limits_.remembered) &&
         of_objects_.take(uid, now, limits_.per_object_burst, limits_.per_object_per_second,
                          limits_.remembered) &&
         all_.take(now, limits_.burst, limits_.per_second);
}

bool EventWriter::count_up(const std::string& key) {
  const api::KindInfo* kind = objects_.scheme().find("v1", "Event");
  if (!kind || !objects_.kernel().exists(*kind, key)) return false;
  json::object event = objects_.kernel().current(*kind, key);
  event["count"] = api::find_int(event, "count").value_or(1) + 1;
  event["lastTimestamp"] = format_time(objects_.now() - objects_.now() % kSecond);
  objects_.kernel().commit(objects_.kernel().intake().encode(*kind, event));
  return true;
}

/// What would be told there could keep the namespace: its events were deleted with all the rest.
bool EventWriter::in_namespace_that_goes(const ObjectRef& about) const {
  const api::KindInfo* namespaces = objects_.scheme().find("v1", "Namespace");
  if (!about.kind->namespaced || !namespaces) return false;
  const StoredObject* found = objects_.kernel().store().find(*namespaces, about.ns());
  return found && found->metadata.terminating();
}

void EventWriter::emit(const EventNote& event) {
  if (!event.about.kind) return;
  const StoredObject* about = objects_.kernel().store().find(*event.about.kind, event.about.key);
  if (!about || in_namespace_that_goes(event.about)) return;
  const std::string uid(about->metadata.uid());
  if (!allowed(uid, event.reason)) {
    ++dropped_;
    return;
  }
  const std::string id =
      fmt::format("{}\n{}\n{}\n{}", uid, event.warning, event.reason, event.message);
  if (const auto known = notes_.find(id); known != notes_.end()) {
    if (count_up(known->second.key)) return;
    const Time told = known->second.told;
    if (told != kNever && objects_.now() - told < kToldAgainAfter) return;  // decided twice
  }
  write(event, uid, id);
}

// Events are by far the most objects that a busy host makes by itself: so they are written as the
// texts that are stored, in the order of the fields of the API.
void EventWriter::write(const EventNote& event, std::string_view about, const std::string& id) {
  const api::KindInfo* kind = objects_.scheme().find("v1", "Event");
  if (!kind) return;
  const bool namespaced = event.about.kind->namespaced;
  const std::string_view name = event.about.name();
  const std::string_view ns = namespaced ? event.about.ns() : "default";
  const std::string at = format_time(objects_.now() - objects_.now() % kSecond);
  const std::string uid = ids_.uid(objects_.now());
  StoredObject made;
  made.kind = kind;
  const std::string own_name = fmt::format("{}.{}{}{}{}", name.substr(0, 200), uid.substr(0, 8),
                                           uid.substr(9, 4), uid.substr(14, 4), uid.substr(28));
  made.key = join_key(ns, own_name);
  api::JsonMembers metadata;
  metadata.text("name", own_name).text("namespace", ns).text("uid", uid);
  made.metadata = Header(metadata.text("creationTimestamp", at).take());
  api::JsonMembers involved;
  involved.text("kind", event.about.kind->kind).text("name", name).text("uid", about);
  const api::KindInfo& of = *event.about.kind;
  involved.text("apiVersion", of.api_version(of.versions.front().name));
  if (namespaced) involved.text("namespace", ns);
  api::JsonMembers body;
  body.document("involvedObject", involved.take()).text("reason", event.reason);
  body.text("message", cut_utf8(event.message, kLongestMessage));
  body.document("source", api::JsonMembers().text("component", kComponent).take());
  body.text("firstTimestamp", at).text("lastTimestamp", at).number("count", 1);
  body.text("type", event.warning ? "Warning" : "Normal").document("eventTime", {});
  body.text("reportingComponent", kComponent).text("reportingInstance", "");
  made.body = std::make_shared<const std::string>(shrunk_to_fit(body.take()));
  if (const auto old = notes_.find(id); old != notes_.end()) note_ages_.erase(old->second.age);
  Note& note = notes_[id] = {made.key, kNever, note_ages_.insert(note_ages_.end(), id)};
  PreparedObject prepared;
  prepared.stored = std::move(made);
  objects_.kernel().commit(std::move(prepared));
  if (!objects_.kernel().exists(*kind, note.key)) note.told = objects_.now();
  if (notes_.size() > limits_.remembered) {
    notes_.erase(note_ages_.front());
    note_ages_.pop_front();
  }
}

}  // namespace sluice::host
