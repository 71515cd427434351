#include "host/controllers/plugin_controller.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/base/check.hpp"
#include "host/base/log.hpp"

namespace sluice::host {

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
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    if (kinds_[i] == change.kind) keys.push_back(fmt::format("{} {}", i, change.key));
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
