#include "host/cluster/manifests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "api/json/json.hpp"
#include "host/access/secrets.hpp"
#include "host/aggregation/configuration.hpp"
#include "host/base/version.hpp"
#include "host/cluster/definitions.hpp"
#include "host/cluster/deployment.hpp"
#include "host/cluster/rights.hpp"
#include "host/cluster/roles.hpp"
#include "host/config/config.hpp"
#include "host/decide/followed_kinds.hpp"
#include "host/machine/rules.hpp"
#include "host/manifests/manifests.hpp"
#include "host/manifests/yaml_text.hpp"
#include "host/observe/mirror.hpp"
#include "host/plugins/clock.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

void append(json::array& list, json::array more) {
  for (json::value& each : more) list.push_back(std::move(each));
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// Kinds that a definition can be made of, by group and name.
std::vector<const api::KindInfo*> custom_kinds(const api::Scheme& scheme) {
  std::vector<const api::KindInfo*> out;
  for (const api::KindInfo* kind : scheme.kinds())
    if (is_custom(*kind)) out.push_back(kind);
  return out;
}

Result<std::vector<const api::KindInfo*>> chosen_kinds(const api::Scheme& scheme,
                                                       const std::vector<std::string>& groups) {
  std::set<std::string> known;
  std::vector<const api::KindInfo*> out;
  for (const api::KindInfo* kind : custom_kinds(scheme)) {
    known.insert(kind->group);
    if (contains(groups, kind->group)) out.push_back(kind);
  }
  for (const std::string& group : groups)
    if (!known.contains(group))
      return Error{
          fmt::format("--groups: found \"{}\"; allowed: {}", group, fmt::join(known, ", "))};
  return out;
}

/// What a user has to know before applying it to a cluster.
std::string about_definitions(const api::Scheme& scheme,
                              const std::vector<const api::KindInfo*>& kinds, bool converts) {
  std::string unserved, others, out;
  for (const api::KindInfo* kind : kinds)
    for (const auto& version : kind->versions)
      if (!converts && !is_served(scheme, *kind, version.name))
        unserved += fmt::format("#   {} {}\n", kind->kind, version.name);
  for (const api::KindInfo* kind : custom_kinds(scheme))
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      others += fmt::format("#   {} of {}\n", kind->kind, kind->group);
  out = "# For a cluster in which nobody else defines these kinds, as Kueue does where it is.\n";
  if (!unserved.empty())
    out +=
        "# Nobody converts between versions there (no webhook), so a version is served only where "
        "its\n# objects differ from the stored ones in nothing but apiVersion. Not served:\n" +
        unserved;
  if (!others.empty())
    out += "# Kinds of other groups (--groups), which are not in here:\n" + others;
  return out;
}

std::string head(const Rules& rules) {
  std::vector<std::string> plugins;
  for (const PluginStatus& each : rules.plugins->plugins().status()) plugins.push_back(each.name);
  return fmt::format("# sluice {} manifests; plugins: {}\n", version(),
                     plugins.empty() ? "none" : fmt::format("{}", fmt::join(plugins, ", ")));
}

/// A history is kept in a file that outlives the pod: its folder is a volume, twice as large as the
/// file may be, because the log of what is written to it lies beside it.
Result<void> keep_history(const HistoryConfig& history, ClusterDeployment& out) {
  if (!history.enabled || history.path.empty()) return {};
  out.kept_folder = std::filesystem::path(history.path).parent_path().lexically_normal().string();
  out.kept_bytes = 2 * history.keep_bytes;
  constexpr std::string_view kTaken[] = {"/", "/etc", "/run", "/run/sluice", "/usr", "/usr/bin"};
  const bool taken =
      std::find(std::begin(kTaken), std::end(kTaken), out.kept_folder) != std::end(kTaken);
  if (taken || out.kept_folder == "/etc/" + out.name)
    return Error{
        fmt::format("history.path: found \"{}\"; allowed in a pod: a file in a folder of its own, "
                    "such as /var/lib/sluice-history/history.db",
                    history.path)};
  return {};
}

/// What runs there, but for what it may do.
Result<ClusterDeployment> deployment_of(const ManifestsOptions& options,
                                        const Configuration& config) {
  ClusterDeployment out;
  out.name = options.observe ? "sluice-observer" : "sluice-controller";
  out.command = options.observe ? "observe" : "controller";
  out.port = options.observe ? 6480 : 6481;
  out.replicas = options.observe ? 1 : 2;
  out.ns = options.ns;
  out.image = options.image.empty() ? fmt::format("sluice:{}", version()) : options.image;
  if (!options.config_file.empty()) {
    auto text = read_small_file(options.config_file);
    if (!text) return text.error();
    out.config = std::move(*text);
  }
  if (auto kept = keep_history(config.history, out); !kept) return kept.error();
  if (options.plugins)
    out.options = {"--plugins", options.plugins->empty()
                                    ? "none"
                                    : fmt::format("{}", fmt::join(*options.plugins, ","))};
  if (options.observe) return out;
  out.options.insert(out.options.end(), {"--lease-namespace", options.ns});
  if (!options.webhooks) return out;
  out.webhook_port = kWebhookPort;
  out.advertises = true;
  out.options.insert(out.options.end(),
                     {"--webhook-address", fmt::format("0.0.0.0:{}", kWebhookPort)});
  return out;
}

Result<std::vector<json::object>> observer_of(const ManifestsOptions& options,
                                              const Configuration& config, const Rules& rules) {
  auto deployment = deployment_of(options, config);
  if (!deployment) return deployment.error();
  deployment->cluster_rules = rules_to_follow(kinds_to_follow(rules.scheme, true));
  return deployment_objects(*deployment);
}

Result<std::vector<json::object>> controller_of(const ManifestsOptions& options,
                                                const Configuration& config, Rules& rules) {
  auto deployment = deployment_of(options, config);
  if (!deployment) return deployment.error();
  ControllerRights rights = rights_to_decide(config, rules);
  deployment->cluster_rules = std::move(rights.anywhere);
  deployment->own_rules = std::move(rights.own);
  if (options.webhooks) {
    append(deployment->cluster_rules,
           rules_to_be_trusted(deployment->name, converted_definitions(rules.scheme),
                               visibility_api_services()));
    append(deployment->own_rules, rules_to_keep_keys(WebhookPlace().name));
    append(deployment->cluster_rules, rules_to_ask_access());
    append(deployment->own_rules, rules_to_be_found());
  }
  std::vector<json::object> out = deployment_objects(*deployment);
  if (!options.webhooks) return out;
  out.push_back(visibility_binding(deployment->name, options.ns));
  if (!options.webhook_url.empty()) return out;
  out.push_back(webhook_service({.ns = options.ns}, deployment->name));
  for (json::object& each : visibility_objects(options.ns, WebhookPlace().name))
    out.push_back(std::move(each));
  return out;
}

/// Those that a webhook is asked about: what is defined here, and jobs of the kinds that are known.
Result<WebhookPlan> plan_of(const ManifestsOptions& options, const Rules& rules,
                            const std::vector<const api::KindInfo*>& defined) {
  WebhookPlan out;
  out.place = {.ns = options.ns, .url = options.webhook_url};
  out.controller = "sluice-controller";
  for (const api::KindInfo* kind : defined)
    if (!kind->job) out.own.push_back(kind);
  for (const api::KindInfo* kind : rules.scheme.kinds())
    if (kind->job) out.jobs.push_back(kind);
  out.pods = rules.hooks.pod_gate != nullptr;
  std::vector<const api::KindInfo*> known = out.jobs;
  known.insert(known.end(), defined.begin(), defined.end());
  auto asked = asked_kinds(rules.plugins->plugins().validators().judged(), rules.scheme, known);
  if (!asked) return asked.error();
  out.asked = std::move(*asked);
  return out;
}

/// Definitions, roles of users, and what decides.
Result<std::vector<json::object>> all_of_it(const ManifestsOptions& options,
                                            const Configuration& config, Rules& rules,
                                            const std::vector<const api::KindInfo*>& kinds) {
  std::vector<json::object> out;
  const auto planned = plan_of(options, rules, kinds);
  if (!planned) return planned.error();
  const WebhookPlan& plan = *planned;
  for (const api::KindInfo* kind : kinds)
    out.push_back(definition_of(rules.scheme, *kind, options.webhooks ? &plan.place : nullptr));
  std::vector<std::string> aggregated;
  if (options.webhooks) aggregated.emplace_back(kVisibilityGroup);
  for (json::object& role : user_roles(rules.scheme, kinds, aggregated))
    out.push_back(std::move(role));
  if (!options.definitions_only) {
    auto made = controller_of(options, config, rules);
    if (!made) return made.error();
    std::move(made->begin(), made->end(), std::back_inserter(out));
  }
  // Last, so that nothing of this waits for what it brings.
  if (options.webhooks)
    for (json::object& each : webhook_configurations(plan)) out.push_back(std::move(each));
  return out;
}

/// Has the kinds known that these pages declare.
Result<void> declare_pages(const std::vector<std::string>& paths, Rules& rules) {
  if (paths.empty()) return {};
  std::vector<json::object> found;
  const auto loaded = load_manifests(paths, {}, [&](Document&& document) -> Result<void> {
    if (api::find_text(document.object, "kind") == "JobKind")
      found.emplace_back(document.object, json::storage_ptr());
    return {};
  });
  if (!loaded) return loaded.error().context("--job-kinds");
  if (found.empty()) return Error{"--job-kinds: there is no JobKind in these files"};
  rules.declare(pages_of(found));
  for (const auto& [name, page] : rules.pages())
    if (!page.problem.empty())
      return Error{fmt::format("--job-kinds: JobKind {} cannot be served: {}", name, page.problem)};
  return {};
}

Result<void> print(std::string text, const std::vector<json::object>& objects,
                   const std::vector<std::string>& only) {
  std::set<std::string> there;
  for (const json::object& object : objects) {
    const std::string kind(api::find_text(object, "kind"));
    there.insert(kind);
    if (!only.empty() && !contains(only, kind)) continue;
    text += "---\n";
    append_yaml(object, text);
  }
  for (const std::string& kind : only)
    if (!there.contains(kind))
      return Error{fmt::format("--only: found \"{}\"; allowed: {}", kind, fmt::join(there, ", "))};
  fmt::print("{}", text);
  return {};
}

}  // namespace

Result<int> run_manifests(const ManifestsOptions& options) {
  const auto loaded = load_configuration(options.config_file);
  if (!loaded) return loaded.error();
  const Configuration& config = *loaded;
  const VirtualClock clock;
  auto rules = Rules::load(config.plugins, options.plugins, clock);
  if (!rules) return rules.error();
  if (auto declared = declare_pages(options.job_kinds, **rules); !declared) return declared.error();
  std::string text = head(**rules);
  std::vector<json::object> objects;
  if (options.observe) {
    auto made = observer_of(options, config, **rules);
    if (!made) return made.error();
    objects = std::move(*made);
  } else {
    const auto kinds = chosen_kinds((*rules)->scheme, options.groups);
    if (!kinds) return kinds.error();
    text += about_definitions((*rules)->scheme, *kinds, options.webhooks);
    auto made = all_of_it(options, config, **rules, *kinds);
    if (!made) return made.error();
    objects = std::move(*made);
  }
  if (auto printed = print(std::move(text), objects, options.only); !printed)
    return printed.error();
  return 0;
}

}  // namespace sluice::host
