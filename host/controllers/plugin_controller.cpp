#include "host/controllers/plugin_controller.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <charconv>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/base/log.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

namespace json = boost::json;

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

void PluginController::changed(const ObjectChange& change, std::vector<std::string>& keys) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != change.kind) continue;
    const WatchedKind& watched = plugin_.kinds()[i];
    const auto wants = [&](const StoredObject* object) {
      return object && (!watched.claimed || claims(*object, plugin_.plugin())) &&
             (watched.has.empty() || may_have(*object, watched.has));
    };
    if (!wants(change.stored) && !wants(change.before) && (watched.claimed || !watched.has.empty()))
      continue;
    const StoredObject* object = change.stored ? change.stored : change.before;
    std::string key =
        watched.by_owner && object ? owner_of(*object) : fmt::format("{} {}", i, change.key);
    keys.push_back(key.empty() ? fmt::format("{} {}", i, change.key) : std::move(key));
  }
}

bool PluginController::follows(const StoredObject& workload) const {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != workload.kind) continue;
    if (!plugin_.kinds()[i].claimed || claims(workload, plugin_.plugin())) return true;
  }
  return false;
}

/// The key of the controlling owner, if it is of a kind that is watched; else empty.
std::string PluginController::owner_of(const StoredObject& object) const {
  if (object.metadata.find("\"ownerReferences\"") == std::string::npos) return {};
  boost::system::error_code code;
  const json::value metadata = api::parse_deep(object.metadata, code);
  if (code || !metadata.is_object()) return {};
  std::string found;
  for_each_object(metadata.get_object(), "ownerReferences", [&](const json::object& owner) {
    if (!found.empty() || !api::find_bool(owner, "controller", false)) return;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (!kinds_[i] || kinds_[i]->kind != api::find_text(owner, "kind")) continue;
      const std::string_view version = api::find_text(owner, "apiVersion");
      if (version.substr(0, version.find('/')) != kinds_[i]->group) continue;
      const std::string ns =
          kinds_[i]->namespaced ? object.key.substr(0, object.key.find('/') + 1) : std::string();
      found = fmt::format("{} {}{}", i, ns, api::find_text(owner, "name"));
      return;
    }
  });
  return found;
}

bool claims(const StoredObject& object, std::string_view plugin) {
  constexpr std::string_view kMark = "\"sluice.dev/claimed-by\":\"";
  const std::size_t at = object.metadata.find(kMark);
  if (at == std::string::npos) return false;
  const std::size_t begin = at + kMark.size();
  const std::string list =
      "," + object.metadata.substr(begin, object.metadata.find('"', begin) - begin) + ",";
  return list.find(fmt::format(",{},", plugin)) != std::string::npos;
}

bool may_have(const StoredObject& object, std::string_view field) {
  const std::string member = fmt::format("\"{}\":", field.substr(field.rfind('.') + 1));
  return object.body->find(member) != std::string::npos ||
         object.status.find(member) != std::string::npos;
}

Result<Time> PluginController::reconcile(const std::string& key, ObjectAccess& objects) {
  std::size_t number = 0;
  const std::size_t space = key.find(' ');
  std::from_chars(key.data(), key.data() + space, number);
  SLUICE_CHECK(number < kinds_.size() && kinds_[number] != nullptr, "no such kind: ", key);
  const std::string_view object = std::string_view(key).substr(space + 1);
  const std::size_t slash = kinds_[number]->namespaced ? object.find('/') : std::string::npos;
  const std::string_view ns = slash == std::string_view::npos ? "" : object.substr(0, slash);
  const std::string_view name = slash == std::string_view::npos ? object : object.substr(slash + 1);
  const auto again = plugin_.reconcile(plugin_.kinds()[number], ns, name);
  if (!again) return again.error();
  return *again == kNever ? kNever : objects.now() + *again;
}

}  // namespace sluice::host
