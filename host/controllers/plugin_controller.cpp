#include "host/controllers/plugin_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <utility>

#include "api/json/json_text.hpp"
#include "core/base/check.hpp"
#include "host/base/log.hpp"

namespace sluice::host {

namespace {

constexpr const char* kAll = "*";

}  // namespace

PluginController::PluginController(ControllerBridge& plugin, const api::Scheme& scheme)
    : plugin_(plugin), name_("plugin " + plugin.plugin()) {
  for (const WatchedKind& watched : plugin.kinds()) {
    kinds_.push_back(scheme.find(watched.api_version, watched.kind));
    if (kinds_.back() == nullptr)
      log(LogLevel::kWarning, name_,
          fmt::format("it watches {} of {}, which this host does not have", watched.kind,
                      watched.api_version));
  }
}

std::vector<std::string> PluginController::watches() const {
  std::vector<std::string> out;
  for (const api::KindInfo* kind : kinds_)
    if (kind) out.push_back(kind->group + "/" + kind->kind);
  return out;
}

void PluginController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != change.kind) continue;
    const WatchedKind& watched = plugin_.kinds()[i];
    const auto wants = [&](const StoredObject* object) {
      return object && (!watched.claimed || object->metadata.claimed_by(plugin_.plugin())) &&
             (watched.has.empty() || has_field(*object, watched.has));
    };
    if (!wants(change.stored) && !wants(change.before) && (watched.claimed || !watched.has.empty()))
      continue;
    const StoredObject* object = change.stored ? change.stored : change.before;
    const auto owner = watched.by_owner && object ? owner_of(*object) : std::nullopt;
    keys.push_back(owner ? *owner : key_of(i, change.key));
  }
}

bool PluginController::follows(const StoredObject& workload) const {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != workload.kind) continue;
    if (!plugin_.kinds()[i].claimed || workload.metadata.claimed_by(plugin_.plugin())) return true;
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
  if (constexpr std::string_view kStatus = "status."; field.starts_with(kStatus))
    return !member_at(object.status, field.substr(kStatus.size())).empty();
  return !member_at(*object.body, field).empty();
}

void PluginController::poll(std::vector<WorkKey>& keys) {
  if (plugin_.take_restarted()) keys.push_back({nullptr, kAll, 0});
  for (WorkKey& key : std::exchange(named_, {})) keys.push_back(std::move(key));
}

/// All that it would be told of at start.
void PluginController::name_all(const ObjectAccess& objects) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] == nullptr) continue;
    const WatchedKind& watched = plugin_.kinds()[i];
    for (const std::string& key : objects.keys(*kinds_[i])) {
      if (!watched.has.empty()) {
        const auto object = objects.get(*kinds_[i], key);
        boost::system::error_code code;
        std::string pointer = "/" + watched.has;
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        if (!object || boost::json::value(*object).find_pointer(pointer, code) == nullptr) continue;
      }
      named_.push_back(key_of(i, key));
    }
  }
}

Result<Time> PluginController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  if (key.kind == nullptr) {
    name_all(objects);
    return named_.empty() ? kNever : objects.now();
  }
  const std::size_t number = key.sort;
  SLUICE_CHECK(number < kinds_.size() && kinds_[number], "no such kind: ", to_text(key));
  const std::string_view object = key.name;
  const std::size_t slash = key.kind->namespaced ? object.find('/') : std::string::npos;
  const std::string_view ns = slash == std::string_view::npos ? "" : object.substr(0, slash);
  const std::string_view name = slash == std::string_view::npos ? object : object.substr(slash + 1);
  const auto again = plugin_.reconcile(plugin_.kinds()[number], ns, name);
  if (!again) return again.error();
  return *again == kNever ? kNever : objects.now() + *again;
}

}  // namespace sluice::host
