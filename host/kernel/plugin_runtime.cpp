#include "host/kernel/plugin_runtime.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <string_view>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/mistakes.hpp"
#include "host/config/bundled.hpp"
#include "host/objects/store.hpp"
#include "host/plugins/plugin_file.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

PluginConfig plugin_named(const std::string& name, const PluginsConfig& config) {
  PluginConfig plugin;
  plugin.name = name;
  plugin.trust = config.trust;
  plugin.host_json = config.host_json;
  return plugin;
}

api::Problem::Kind kind_of(FieldErrorKind kind) {
  switch (kind) {
    case FieldErrorKind::kInvalid:
      return api::Problem::Kind::kInvalid;
    case FieldErrorKind::kRequired:
      return api::Problem::Kind::kRequired;
    case FieldErrorKind::kForbidden:
      return api::Problem::Kind::kForbidden;
    case FieldErrorKind::kNotSupported:
      return api::Problem::Kind::kUnsupported;
    case FieldErrorKind::kDuplicate:
      return api::Problem::Kind::kDuplicate;
  }
  return api::Problem::Kind::kInvalid;
}

/// The text of the error without the path that it starts with.
std::string detail_of(const FieldError& error) {
  std::string text = error.text();
  const std::string prefix = error.path + ": ";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

}  // namespace

std::vector<PluginConfig> chosen_plugins(const PluginsConfig& config,
                                         const std::optional<std::vector<std::string>>& names) {
  std::vector<PluginConfig> listed = config.load.value_or(std::vector<PluginConfig>());
  for (PluginConfig& each : listed) each.host_json = config.host_json;
  std::vector<PluginConfig> out;
  if (!names && config.load) return listed;
  if (!names) {
    const auto files = plugin_names(plugin_directory(config.directory));
    for (const std::string& name : bundled_plugins(config.frameworks))
      if (std::find(files.begin(), files.end(), name) != files.end())
        out.push_back(plugin_named(name, config));
    return out;
  }
  for (const std::string& name : *names) {
    const auto known = std::find_if(listed.begin(), listed.end(), [&](const PluginConfig& plugin) {
      return plugin.name == name;
    });
    out.push_back(known == listed.end() ? plugin_named(name, config) : *known);
    out.back().enabled = true;
  }
  return out;
}

Result<std::unique_ptr<PluginRuntime>> PluginRuntime::load(const std::string& directory,
                                                           std::vector<PluginConfig> plugins,
                                                           const PluginClock& clock,
                                                           api::Scheme& scheme, LogSink log,
                                                           const PluginDeaths* deaths) {
  PluginSetConfig config;
  config.directory = plugin_directory(directory);
  config.plugins = std::move(plugins);
  config.clock = &clock;
  config.log = std::move(log);
  config.deaths = deaths;
  auto set = PluginSet::load(config);
  if (!set) return set.error();
  Mistakes wrong;  // of all of them: whoever mends one mistake per start starts often
  for (const SchemaContribution& contribution : (*set)->schema_contributions()) {
    if (auto added = scheme.add(contribution.json, contribution.plugin); !added)
      wrong.add(added.error().context("plugin " + contribution.plugin));
  }
  if (!wrong.none()) return wrong.error();
  return activated(std::move(*set));
}

Result<std::unique_ptr<PluginRuntime>> PluginRuntime::again(
    const PluginClock& clock, LogSink log, const std::vector<std::string>& quarantined) const {
  auto set = set_->again(clock, std::move(log), quarantined);
  if (!set) return set.error();
  return activated(std::move(*set));
}

Result<std::unique_ptr<PluginRuntime>> PluginRuntime::activated(std::unique_ptr<PluginSet> set) {
  if (auto active = set->activate(); !active) return active.error();
  return std::unique_ptr<PluginRuntime>(new PluginRuntime(std::move(set)));
}

bool PluginRuntime::wants(const api::KindInfo& kind) const {
  return set_->validators().wants(kind.hub_api_version(), kind.kind);
}

void PluginRuntime::check(const api::KindInfo& kind, json::object& object, const json::object* old,
                          const Validate& problems_of, std::vector<api::Problem>& problems,
                          const Asking& asking) {
  check_as(&kind, kind.hub_api_version(), kind.kind, object, old, problems_of, problems, asking);
}

void PluginRuntime::check(std::string_view api_version, std::string_view kind, json::object& object,
                          const json::object* old, const Validate& problems_of,
                          std::vector<api::Problem>& problems, const Asking& asking) {
  check_as(nullptr, api_version, kind, object, old, problems_of, problems, asking);
}

void PluginRuntime::check_as(const api::KindInfo* info, std::string_view api_version,
                             std::string_view kind, json::object& object, const json::object* old,
                             const Validate& problems_of, std::vector<api::Problem>& problems,
                             const Asking& asking) {
  AskedOfWrite* asked = nullptr;
  if (auto* questions = asking.questions; questions != nullptr) {
    if (*questions == nullptr) *questions = std::make_shared<AskedOfWrite>();
    asked = static_cast<AskedOfWrite*>(questions->get());
    asked->begin();
  }
  const std::string text = text_for_plugins(object);
  const std::string old_text = old ? text_for_plugins(*old) : std::string();
  ObjectWrite write{old ? WriteOperation::kUpdate : WriteOperation::kCreate,
                    api_version,
                    kind,
                    text,
                    old_text,
                    asking.user,
                    info};
  const auto first_wrong = [&](json::object& changed) {
    const std::vector<api::Problem> wrong = problems_of(changed);
    return wrong.empty() ? std::string() : wrong.front().text();
  };
  auto defaulted = set_->validators().set_defaults(write, first_wrong, asked);
  if (!defaulted) {
    problems.push_back({api::Problem::Kind::kInvalid, "", defaulted.error().text});
    return;
  }
  write.object = *defaulted;
  const std::vector<FieldError> errors = set_->validators().validate(write, asked);
  if (asked != nullptr && asked->wait()) return;
  for (const FieldError& error : errors)
    problems.push_back({kind_of(error.kind), error.path, detail_of(error)});
  if (*defaulted == text) return;
  if (asking.changed) *asking.changed = true;
  boost::system::error_code code;  // it was judged as an object
  json::object changed = api::parse_deep(*defaulted, code).get_object();
  keep_managed_fields(object, changed);  // which plugins are not told of
  object = std::move(changed);
}

}  // namespace sluice::host
