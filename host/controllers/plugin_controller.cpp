#include "host/controllers/plugin_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "core/base/check.hpp"
#include "host/base/log.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

namespace {

constexpr const char* kAll = "*";
constexpr std::uint32_t kElsewhere = 1;  // sort of keys without a kind: of another place
constexpr char kBetween = '\x1f';        // which stands in no name

std::string key_of_remote(const RemoteChange& what) {
  std::string out;
  for (const std::string* part : {&what.remote, &what.api_version, &what.kind, &what.ns})
    out += *part + kBetween;
  return out + what.name;
}

constexpr std::string_view kStatus = "status.";

/// Whether a decision can give a workload this field, which it does not have.
bool decisions_write(std::string_view field) {
  if (!field.starts_with(kStatus)) return false;
  field.remove_prefix(kStatus.size());
  field = field.substr(0, field.find('.'));
  return std::ranges::find(api::kTypedStatusMembers, field) != std::end(api::kTypedStatusMembers);
}

RemoteChange remote_of_key(std::string_view key) {
  RemoteChange out;
  for (std::string* part : {&out.remote, &out.api_version, &out.kind, &out.ns, &out.name}) {
    const std::size_t end = std::min(key.find(kBetween), key.size());
    *part = key.substr(0, end);
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return out;
}

std::string labels_text(const boost::json::object& object) {
  return api::to_json(part(part(object, "metadata"), "labels"));
}

bool has_field(const boost::json::object& object, std::string_view field) {
  boost::system::error_code code;
  std::string pointer = fmt::format("/{}", field);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return boost::json::value(object).find_pointer(pointer, code) != nullptr;
}

Result<Time> time_of(const ControllerBridge::Looked& again, const ObjectAccess& objects) {
  if (!again) return again.error();
  return *again == kNever ? kNever : objects.now() + *again;
}

}  // namespace

PluginController::PluginController(ControllerBridge& plugin, const api::Scheme& scheme)
    : plugin_(plugin), name_("plugin " + plugin.plugin()) {
  for (const WatchedKind& watched : plugin.kinds()) {
    kinds_.push_back(scheme.find(watched.api_version, watched.kind));
    if (kinds_.back() == nullptr)
      log(LogLevel::kWarning, name_,
          fmt::format("it watches {} of {}, which this host does not have", watched.kind,
                      watched.api_version));
    auto labels = LabelQuery::parse(watched.labels);
    if (!labels) {
      log(LogLevel::kError, name_,
          fmt::format("it watches {} with label:{}, which is left out: {}", watched.kind,
                      watched.labels, labels.error().text));
      kinds_.back() = nullptr;
    }
    labels_.push_back(labels ? *std::move(labels) : LabelQuery());
  }
}

std::vector<std::string> PluginController::watches() const {
  std::vector<std::string> out;
  for (const api::KindInfo* kind : kinds_)
    if (kind) out.push_back(kind->group + "/" + kind->kind);
  return out;
}

std::string PluginController::selector(std::string_view kind) const {
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    if (kinds_[i] && kinds_[i]->group + "/" + kinds_[i]->kind == kind)
      wanted.push_back(plugin_.kinds()[i].labels);
  return selector_of_all(wanted);
}

void PluginController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != change.kind) continue;
    const WatchedKind& watched = plugin_.kinds()[i];
    const auto wants = [&](const StoredObject* object) {
      return object && (!watched.claimed || object->metadata.claimed_by(plugin_.plugin())) &&
             (watched.has.empty() || has_field(*object, watched.has)) &&
             labels_[i].matches(*object);
    };
    const bool narrowed = watched.claimed || !watched.has.empty() || !labels_[i].empty();
    if (narrowed && !wants(change.stored) && !wants(change.before)) continue;
    const StoredObject* object = change.stored ? change.stored : change.before;
    const auto owner = watched.by_owner && object ? owner_of(*object) : std::nullopt;
    keys.push_back(owner ? *owner : key_of(i, change.key));
    note_change(keys.back());
  }
}

/// The answer that the plugin is working at is about what was.
void PluginController::note_change(const WorkKey& key) {
  if (const auto asked = asked_.find(key); asked != asked_.end()) asked->second.changed = true;
}

bool PluginController::follows(const StoredObject& workload) const {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != workload.kind) continue;
    const WatchedKind& watched = plugin_.kinds()[i];
    if (watched.claimed && !workload.metadata.claimed_by(plugin_.plugin())) continue;
    if (!labels_[i].matches(workload)) continue;
    if (watched.has.empty() || decisions_write(watched.has) || has_field(workload, watched.has))
      return true;
  }
  return false;
}

/// The controlling owner, if it is of a kind that is watched.
std::optional<WorkKey> PluginController::owner_of(const StoredObject& object) const {
  for (const OwnerReference& owner : object.metadata.owners()) {
    if (!owner.controller) continue;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (!kinds_[i] || kinds_[i]->kind != owner.kind || kinds_[i]->group != owner.group())
        continue;
      const std::string ns =
          kinds_[i]->namespaced ? object.key.substr(0, object.key.find('/') + 1) : std::string();
      return key_of(i, fmt::format("{}{}", ns, owner.name));
    }
  }
  return std::nullopt;
}

bool has_field(const StoredObject& object, std::string_view field) {
  if (field.starts_with(kStatus))
    return !api::member_at(object.status, field.substr(kStatus.size())).empty();
  return !api::member_at(*object.body, field).empty();
}

void PluginController::poll(std::vector<WorkKey>& keys) {
  if (plugin_.take_restarted()) keys.push_back({nullptr, kAll, 0});
  for (WorkKey& key : std::exchange(named_, {})) keys.push_back(std::move(key));
  for (const RemoteChange& change : plugin_.take_remote_changes()) {
    keys.push_back({nullptr, key_of_remote(change), kElsewhere});
    note_change(keys.back());
  }
}

/// All that it would be told of at start.
void PluginController::name_all(const ObjectAccess& objects) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] == nullptr) continue;
    const WatchedKind& watched = plugin_.kinds()[i];
    for (const std::string& key : objects.keys(*kinds_[i])) {
      if (!watched.has.empty() || !labels_[i].empty()) {
        const auto object = objects.get(*kinds_[i], key);
        if (!object || !labels_[i].matches_labels(labels_text(*object))) continue;
        if (!watched.has.empty() && !has_field(*object, watched.has)) continue;
      }
      named_.push_back(key_of(i, key));
    }
  }
}

/// What the plugin is asked to look at.
RemoteChange PluginController::what_of(const WorkKey& key) const {
  if (key.kind == nullptr) return remote_of_key(key.name);
  const std::size_t number = key.sort;
  SLUICE_CHECK(number < kinds_.size() && kinds_[number], "no such kind: ", to_text(key));
  const WatchedKind& watched = plugin_.kinds()[number];
  const std::size_t slash = key.kind->namespaced ? key.name.find('/') : std::string::npos;
  if (slash == std::string::npos) return {{}, watched.api_version, watched.kind, {}, key.name};
  return {
      {}, watched.api_version, watched.kind, key.name.substr(0, slash), key.name.substr(slash + 1)};
}

Result<Time> PluginController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  if (key.kind == nullptr && key.sort != kElsewhere) {
    name_all(objects);
    return kNever;  // the next poll() names them, once
  }
  if (const auto found = asked_.find(key); found != asked_.end()) {
    if (!found->second.answer) return kUnderWay;  // it is named when there is one
    const Asked asked = std::move(asked_.extract(found).mapped());
    if (!asked.changed) return time_of(*asked.answer, objects);
  }
  const auto now = plugin_.reconcile(what_of(key), [this, key](ControllerBridge::Looked looked) {
    asked_[key].answer = std::move(looked);
    named_.push_back(key);
  });
  if (now) return time_of(*now, objects);
  asked_.try_emplace(key);
  return kUnderWay;
}

}  // namespace sluice::host
