#include "host/observe/mirror.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "api/json/json.hpp"
#include "host/base/log.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

bool is_same(const StoredObject& one, const StoredObject& other) {
  return one.metadata == other.metadata && *one.body == *other.body && one.status == other.status;
}

}  // namespace

std::vector<FollowedKind> kinds_to_follow(const api::Scheme& scheme, bool jobs) {
  std::vector<FollowedKind> out;
  for (const api::KindInfo* kind : scheme.kinds()) {
    const bool leaned_on = is_namespace(*kind) ||
                           is_kind(*kind, "scheduling.k8s.io", "PriorityClass") ||
                           decides_about_pods(*kind);
    const bool job = jobs && kind->group == "batch" && kind->kind == "Job";
    if (!leaned_on && (kind->internal || (kind->group != kQueueGroup && !job))) continue;
    out.push_back(in_all_versions(*kind));
  }
  return out;
}

void Mirror::list_begins(const api::KindInfo& kind, std::uint64_t) { seen_[&kind].clear(); }

void Mirror::list_ends(const api::KindInfo& kind) {
  const std::set<std::string> seen = std::move(seen_[&kind]);
  seen_.erase(&kind);
  std::vector<std::string> gone;
  for (std::string& key : target_.keys(kind))
    if (!seen.contains(key)) gone.push_back(std::move(key));
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [place, waiting] : waiting_)
      if (place.first == &kind && !seen.contains(place.second)) gone.push_back(place.second);
  }
  for (const std::string& key : gone) erase(kind, key);
}

std::string Mirror::note_seen(const api::KindInfo& kind, const json::object& object) {
  std::string key = key_in(kind, object);
  note_seen(kind, key);
  return key;
}

void Mirror::note_seen(const api::KindInfo& kind, const std::string& key) {
  const auto listing = seen_.find(&kind);
  if (listing != seen_.end()) listing->second.insert(key);
}

void Mirror::keep(PreparedObject object) {
  const Place place{object.stored.kind, object.stored.key};
  note_seen(*place.first, place.second);
  hand_on(std::move(object));
  const std::lock_guard lock(mutex_);
  waiting_.erase(place);
}

std::vector<std::string> MirrorStore::keys(const api::KindInfo& kind) const {
  std::vector<std::string> out;
  for (const StoredObject* stored : store_.list(kind)) out.push_back(stored->key);
  return out;
}

Result<PreparedObject> Mirror::read(const api::KindInfo& kind, const std::string& api_version,
                                    json::object object) {
  // The owners of fields are not needed here, and are a large part of an object.
  if (json::value* metadata = object.if_contains("metadata"); metadata && metadata->is_object())
    metadata->get_object().erase("managedFields");
  object["apiVersion"] = api_version;
  object["kind"] = kind.kind;
  // Plugins are not asked: they judge and complete what is written, and this was written already.
  const auto problems = intake_.validate(kind, object, nullptr, IntakeOptions());
  if (problems.empty()) {
    intake_.remember(kind, object);
    return intake_.encode(kind, object);
  }
  std::string why;
  for (const api::Problem& problem : problems) why += (why.empty() ? "" : ", ") + problem.text();
  return Error{why};
}

void Mirror::put(const api::KindInfo& kind, const std::string& api_version, json::object object) {
  const std::string key = note_seen(kind, object);
  Waiting waiting{api_version, std::move(object), ""};
  if (take(kind, waiting)) {
    const std::lock_guard lock(mutex_);
    waiting_.erase({&kind, key});
    return;
  }
  target_.unread(kind, key);
  changed_ = true;
  const std::lock_guard lock(mutex_);
  if (logging_)
    log(LogLevel::kWarning, "cluster",
        fmt::format("cannot read {} {}: {}", kind.kind, key, waiting.why));
  waiting_[{&kind, key}] = std::move(waiting);
}

bool Mirror::take(const api::KindInfo& kind, Waiting& waiting) {
  auto prepared = read(kind, waiting.api_version, waiting.object);
  if (!prepared) waiting.why = prepared.error().text;
  if (!prepared) return false;
  hand_on(std::move(*prepared));
  return true;
}

void Mirror::hand_on(PreparedObject object) {
  const api::KindInfo& kind = *object.stored.kind;
  const StoredObject* old = target_.find(kind, object.stored.key);
  if (old && is_same(*old, object.stored)) return;
  target_.put(std::move(object));
  changed_ = true;
  classes_changed_ |= is_priority_class(kind);
}

void Mirror::remove(const api::KindInfo& kind, const json::object& object) {
  erase(kind, key_in(kind, object));
}

void Mirror::erase(const api::KindInfo& kind, const std::string& key) {
  if (target_.erase(kind, key)) {
    changed_ = true;
    intake_.forget(kind, key);
  }
  const std::lock_guard lock(mutex_);
  waiting_.erase({&kind, key});
}

void Mirror::try_again() {
  std::map<Place, Waiting> again;
  {
    const std::lock_guard lock(mutex_);
    again.swap(waiting_);
  }
  for (auto& [place, waiting] : again) {
    if (take(*place.first, waiting)) continue;
    const std::lock_guard lock(mutex_);
    waiting_[place] = std::move(waiting);
  }
}

void Mirror::note_fields() {
  const std::lock_guard lock(mutex_);
  if (intake_.warnings().size() == unknown_.size()) return;
  for (const auto& [field, objects] : intake_.warnings())
    if (unknown_.insert(field).second)
      log(LogLevel::kInfo, "cluster", "not known here, and left out: " + field);
}

void Mirror::settle() {
  if (classes_changed_) {
    classes_changed_ = false;
    try_again();
  }
  note_fields();
  if (!changed_) return;
  changed_ = false;
  target_.settle();
}

std::vector<UnreadObject> Mirror::unread() const {
  const std::lock_guard lock(mutex_);
  std::vector<UnreadObject> out;
  for (const auto& [place, waiting] : waiting_)
    out.push_back({place.first, place.second, waiting.why});
  std::sort(out.begin(), out.end(), [](const UnreadObject& a, const UnreadObject& b) {
    return std::tie(a.kind->kind, a.key) < std::tie(b.kind->kind, b.key);
  });
  return out;
}

std::vector<std::string> Mirror::unknown_fields() const {
  const std::lock_guard lock(mutex_);
  return {unknown_.begin(), unknown_.end()};
}

void Mirror::log_problems() {
  const std::lock_guard lock(mutex_);
  logging_ = true;
  for (const auto& [place, waiting] : waiting_)
    log(LogLevel::kWarning, "cluster",
        fmt::format("cannot read {} {}: {}", place.first->kind, place.second, waiting.why));
}

}  // namespace sluice::host
