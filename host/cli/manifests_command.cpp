#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "api/schema/formats.hpp"
#include "host/cli/arguments.hpp"
#include "host/cli/command.hpp"
#include "host/cluster/manifests.hpp"

namespace sluice::host {
namespace {

constexpr const char* kManifestsFooter =
    R"(Without --observe: CustomResourceDefinitions made from the schemas that this host has,
those of its plugins included, the roles of users, and all that runs `sluice controller` in a
cluster. With it: all that runs `sluice observe` there.

Examples:
  sluice manifests --config sluice.yaml --image registry.example.com/sluice:1.0 | kubectl apply -f -
      Sluice decides for a cluster without Kueue
  sluice manifests --definitions-only | kubectl apply -f -
      the cluster learns the kinds; the controller runs elsewhere
  sluice manifests --definitions-only --webhook-url https://10.0.0.5:9443 | kubectl apply -f -
      the same, and API servers ask that controller before they store objects
  sluice manifests --only ClusterRole
  sluice manifests --observe --image registry.example.com/sluice:1.0 | kubectl apply -f -
      look at a cluster on which Kueue decides, from inside)";

std::string check_namespace(const std::string& text) {
  if (api::is_short_dns_label(text)) return {};
  return fmt::format("found \"{}\"; allowed: small letters, digits and -, such as team-a", text);
}

std::string check_url(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (text.starts_with("https://") && colon > 8 && colon != std::string::npos &&
      text.find('/', 8) == std::string::npos)
    return {};
  return fmt::format("found \"{}\"; allowed: https://HOST:PORT", text);
}

void add_webhook_options(CLI::App& command, ManifestsOptions& options, CLI::Option* observe) {
  CLI::Option* none =
      command
          .add_flag_callback(
              "--no-webhooks", [&options] { options.webhooks = false; },
              "Nobody is asked before objects are stored, and versions are not converted")
          ->excludes(observe);
  command
      .add_option("--webhook-url", options.webhook_url,
                  "Where API servers reach a controller that runs outside of the cluster")
      ->type_name("URL")
      ->check(check_url)
      ->excludes(observe)
      ->excludes(none);
}

struct ManifestsArguments {
  ManifestsOptions options;
  std::string groups, only;
};

}  // namespace

void add_manifests_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ManifestsArguments>();
  CLI::App* command = app.add_subcommand(
      "manifests", "Print what a Kubernetes cluster has to be given, for kubectl apply -f -");
  ManifestsOptions& options = arguments->options;
  command->add_option("--config", options.config_file, "Configuration file")->type_name("FILE");
  add_plugins_option(*command, options.plugins, "With");
  command->add_option("--only", arguments->only, "Print objects of these kinds only")
      ->type_name("KIND,KIND…");
  CLI::Option* observe = command->add_flag(
      "--observe", options.observe, "What runs sluice observe there, instead of the definitions");
  CLI::Option* definitions = command
                                 ->add_flag("--definitions-only", options.definitions_only,
                                            "Definitions and roles of users, nothing that runs")
                                 ->excludes(observe);
  command->add_option("--image", options.image, "Of the pods (default sluice:VERSION)")
      ->type_name("IMAGE")
      ->excludes(definitions);
  command->add_option("--namespace", options.ns, "Of the pods (default sluice-system)")
      ->type_name("NAME")
      ->check(check_namespace)
      ->excludes(definitions);
  command
      ->add_option("--groups", arguments->groups,
                   "API groups whose kinds are defined (default kueue.x-k8s.io,sluice.dev)")
      ->type_name("GROUP,GROUP…")
      ->excludes(observe);
  command
      ->add_option("--job-kinds", options.job_kinds,
                   "Files or folders with pages of kinds of jobs (JobKind): the controller may "
                   "follow these kinds, and API servers ask about them")
      ->type_name("PATH…")
      ->excludes(observe);
  add_webhook_options(*command, options, observe);
  command->footer(kManifestsFooter);
  command->callback([command, arguments, &action] {
    ManifestsOptions& all = arguments->options;
    // Definitions alone come without a server that would answer webhooks.
    if (all.definitions_only && all.webhook_url.empty()) all.webhooks = false;
    if (command->count("--groups") > 0) all.groups = names_of(arguments->groups);
    all.only = names_of(arguments->only);
    action = [arguments] { return run_manifests(arguments->options); };
  });
}

}  // namespace sluice::host
