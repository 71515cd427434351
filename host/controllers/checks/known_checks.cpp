#include "host/controllers/checks/known_checks.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// On an AdmissionCheck: the plugin that answers for it.
constexpr std::string_view kAnsweredBy = "sluice.dev/answered-by";

std::string controller_name(const json::object& check) {
  return std::string(api::find_text(part(check, "spec"), "controllerName"));
}

std::string_view answered_by(const json::object& check) {
  return api::find_text(part(part(check, "metadata"), "annotations"), kAnsweredBy);
}

}  // namespace

const std::string* KnownChecks::answered_by_plugin(const std::string& check) const {
  const auto known = controller_of_.find(check);
  return known != controller_of_.end() && plugins_.provides(known->second) ? &known->second
                                                                           : nullptr;
}

std::optional<std::string> KnownChecks::controller_of(const std::string& check,
                                                      const ObjectAccess& objects) const {
  const auto known = controller_of_.find(check);
  if (known != controller_of_.end()) return known->second;
  const auto object = objects.get(*kind_, check);
  return object ? std::optional(controller_name(*object)) : std::nullopt;
}

void KnownChecks::name(const std::string& check, std::vector<WorkKey>& keys) {
  told_.erase(check);
  keys.push_back(key_of(check));
}

void KnownChecks::name_all(std::optional<std::string_view> controller, std::vector<WorkKey>& keys) {
  for (const auto& [check, answers] : controller_of_)
    if (!controller || answers == *controller) name(check, keys);
}

void KnownChecks::take_late(LateAnswer late, std::vector<WorkKey>& keys) {
  const auto known = controller_of_.find(late.check);
  const auto told = told_.find(late.check);
  if (known == controller_of_.end() || known->second != late.controller || told == told_.end())
    return;
  told->second = std::move(late.activity);
  keys.push_back(key_of(late.check));
}

Result<void> KnownChecks::look_at(const std::string& check, ObjectAccess& objects) {
  const auto object = objects.get(*kind_, check);
  if (!object) {
    told_.erase(check);
    const auto known = controller_of_.extract(check);
    if (known && plugins_.provides(known.mapped())) plugins_.check_changed(check, {});
    return {};
  }
  const std::string controller = controller_name(*object);
  controller_of_[check] = controller;
  const std::string plugin = plugins_.plugin_of(controller);
  if (!plugin.empty()) return ask(*object, controller, plugin, objects);
  const std::string_view answered = answered_by(*object);
  if (answered.empty()) return {};
  return set_active(*object,
                    {false, "PluginNotLoaded",
                     fmt::format("Plugin {}, which answers for controller {}, is not loaded",
                                 answered, controller)},
                    answered, objects);
}

Result<void> KnownChecks::ask(const json::object& check, const std::string& controller,
                              std::string_view plugin, ObjectAccess& objects) {
  const std::string name = host::key_of(check);
  if (const auto told = told_.find(name); told != told_.end()) {
    if (!told->second) return {};  // it is named when there is an answer
    const CheckActivity activity = *told_.extract(told).mapped();
    return set_active(check, activity, plugin, objects);
  }
  if (lines_.has_to_wait(controller, key_of(name))) return {};
  const auto activity = plugins_.check_changed(name, api::to_json(check));
  if (activity) return set_active(check, *activity, plugin, objects);
  told_.try_emplace(name);
  return {};
}

Result<void> KnownChecks::set_active(const json::object& before, const CheckActivity& activity,
                                     std::string_view plugin, ObjectAccess& objects) const {
  if (answered_by(before) != plugin) {
    json::object marked = before;
    object_of(object_of(marked, "metadata"), "annotations")[api::json_view(kAnsweredBy)] =
        api::json_view(plugin);
    if (auto done = plain(objects.update(std::move(marked))); !done) return done;
  }
  const json::object* old = find_condition(part(before, "status"), "Active");
  if (condition_says(old, activity.active, activity.reason, activity.message)) return {};
  json::object condition =
      make_condition("Active", activity.active, activity.reason, activity.message, objects.now());
  if (const auto generation = api::find_int(part(before, "metadata"), "generation"))
    condition["observedGeneration"] = *generation;
  json::object status = part(before, "status");
  put_condition(status, std::move(condition));
  return plain(objects.update_status(*kind_, host::key_of(before), std::move(status)));
}

}  // namespace sluice::host
