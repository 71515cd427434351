#include "host/controllers/plugin_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "api/schema/predicates.hpp"
#include "core/base/check.hpp"
#include "core/engine/workload_views.hpp"
#include "host/base/log.hpp"
#include "host/objects/object_key.hpp"
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

/// The member of a status that decisions write and in which the field is; empty: none.
std::string_view decided_member(std::string_view field) {
  if (!field.starts_with(kStatus)) return {};
  field.remove_prefix(kStatus.size());
  const auto* end = std::end(api::kTypedStatusMembers);
  const auto* found = std::ranges::find(api::kTypedStatusMembers, field.substr(0, field.find('.')));
  return found == end ? std::string_view() : *found;
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

Result<Time> time_of(const ControllerBridge::Looked& again, const ObjectAccess& objects) {
  if (!again) return again.error();
  return *again == kNever ? kNever : objects.now() + *again;
}

}  // namespace

PluginController::PluginController(ControllerBridge& plugin, const Kernel& kernel)
    : plugin_(plugin), kernel_(kernel), name_("plugin " + plugin.plugin()) {
  for (const WatchedKind& watched : plugin.kinds()) {
    kinds_.push_back(kernel.scheme().find(watched.api_version, watched.kind));
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
    decided_.push_back(decided_member(watched.has));
    add_to_group(labels_.size() - 1);
  }
}

std::vector<std::string> PluginController::watches() const {
  std::vector<std::string> out;
  for (const api::KindInfo* kind : kinds_)
    if (kind) out.push_back(kind->group_kind());
  return out;
}

std::string PluginController::selector(std::string_view kind) const {
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    if (kinds_[i] && kinds_[i]->group_kind() == kind) wanted.push_back(plugin_.kinds()[i].labels);
  return selector_of_all(wanted);
}

/// One group for what the plugin is told of as the same: kind, version, and by owner or not.
void PluginController::add_to_group(std::size_t number) {
  const WatchedKind& watched = plugin_.kinds()[number];
  const auto same = std::ranges::find_if(groups_, [&](const Group& group) {
    const WatchedKind& first = plugin_.kinds()[group.numbers.front()];
    return kinds_[group.numbers.front()] == kinds_[number] &&
           first.api_version == watched.api_version && first.by_owner == watched.by_owner;
  });
  Group& group = same == groups_.end() ? groups_.emplace_back() : *same;
  group.numbers.push_back(number);
  group.all |= !watched.claimed && watched.has.empty() && labels_[number].empty();
  firsts_.push_back(group.numbers.front());
}

/// But for the field that it has to have.
bool PluginController::may_see(std::size_t number, const StoredObject& object) const {
  const bool has_to_be_claimed = plugin_.kinds()[number].claimed;
  return (!has_to_be_claimed || object.metadata.claimed_by(plugin_.plugin())) &&
         labels_[number].matches(object);
}

bool PluginController::wants(const Group& group, const StoredObject* object) {
  if (!object) return false;
  fields_.clear();
  for (const std::size_t i : group.numbers) {
    if (!may_see(i, *object)) continue;
    const std::string_view has = plugin_.kinds()[i].has;
    if (has.empty()) return true;
    fields_.push_back(has);
  }
  return has_any_field(*object, fields_);
}

void PluginController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  for (const Group& group : groups_) {
    const std::size_t first = group.numbers.front();
    if (kinds_[first] != change.kind) continue;
    if (!group.all && !wants(group, change.stored) && !wants(group, change.before)) continue;
    const StoredObject* object = change.stored ? change.stored : change.before;
    const auto owner = plugin_.kinds()[first].by_owner && object ? owner_of(*object) : std::nullopt;
    keys.push_back(owner ? *owner : key_of(first, change.key));
    note_change(keys.back());
  }
}

/// The answer that the plugin is working at is about what was.
void PluginController::note_change(const WorkKey& key) {
  if (const auto asked = asked_.find(key); asked != asked_.end()) asked->second.changed = true;
}

/// Whether decisions can have given the workload the field, which is not stored yet.
bool PluginController::decisions_may_write(const StoredObject& workload, std::size_t number) const {
  if (decided_[number].empty()) return false;
  const auto id = kernel_.engine().find(workload.key);
  return !id || status_may_have(kernel_.engine().model(), *id, decided_[number]);
}

bool PluginController::follows(const StoredObject& workload) const {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != workload.kind) continue;
    if (!may_see(i, workload)) continue;
    const std::string_view has = plugin_.kinds()[i].has;
    if (has.empty() || decisions_may_write(workload, i) || has_any_field(workload, {{has}}))
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
      return key_of(i, host::key_of(*kinds_[i], object.ns(), owner.name));
    }
  }
  return std::nullopt;
}

namespace {

/// Whether the path begins with this member and leads to something in it.
bool leads_into(std::string_view path, std::string_view key, std::string_view value) {
  if (!path.starts_with(key)) return false;
  path.remove_prefix(key.size());
  return path.empty() || (path[0] == '.' && !api::member_at(value, path.substr(1)).empty());
}

/// Whether the object `text` has a field at one of the paths that are `of_status` or not.
bool has_any_in(std::string_view text, std::span<const std::string_view> paths, bool of_status) {
  bool found = false;
  api::each_member(text, [&](std::string_view key, std::string_view value) {
    found = std::ranges::any_of(paths, [&](std::string_view path) {
      if (path.starts_with(kStatus) != of_status) return false;
      return leads_into(of_status ? path.substr(kStatus.size()) : path, key, value);
    });
    return !found;
  });
  return found;
}

}  // namespace

bool has_any_field(const StoredObject& object, std::span<const std::string_view> paths) {
  const auto of_status = [](std::string_view path) { return path.starts_with(kStatus); };
  const bool in_status = !object.status.empty() && std::ranges::any_of(paths, of_status);
  if (in_status && has_any_in(object.status, paths, true)) return true;
  return !std::ranges::all_of(paths, of_status) && has_any_in(*object.body, paths, false);
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
void PluginController::name_all() {
  const std::set<const api::KindInfo*> kinds(kinds_.begin(), kinds_.end());
  for (const api::KindInfo* kind : kinds) {
    if (kind == nullptr) continue;
    for (const StoredObject* stored : kernel_.store().list(*kind))
      changed({kind, stored->key, stored, nullptr}, named_);
  }
}

/// What the plugin is asked to look at.
RemoteChange PluginController::what_of(const WorkKey& key) const {
  if (key.kind == nullptr) return remote_of_key(key.name);
  const std::size_t number = key.sort;
  SLUICE_CHECK(number < kinds_.size() && kinds_[number], "no such kind: ", to_text(key));
  const WatchedKind& watched = plugin_.kinds()[number];
  const auto [ns, name] = split_key(key.name);
  return {{}, watched.api_version, watched.kind, std::string(ns), std::string(name)};
}

Result<Time> PluginController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  if (key.kind == nullptr && key.sort != kElsewhere) {
    name_all();
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
