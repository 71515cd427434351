#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/cli/arguments.hpp"
#include "host/cli/command.hpp"
#include "host/cli/output.hpp"
#include "host/cluster/doctor.hpp"
#include "host/config/config.hpp"
#include "host/decide/cluster_pages.hpp"
#include "host/kube/caller.hpp"
#include "host/machine/rules.hpp"
#include "host/observe/observer.hpp"
#include "host/plugins/clock.hpp"

namespace sluice::host {
namespace {

constexpr Duration kPatience = 20 * kSecond;  // longer than an API server waits for a webhook

constexpr const char* kDoctorFooter =
    R"(It asks the API server for what `sluice manifests` gives a cluster, who decides there, and
whether the webhooks answer, and says what to do. It changes nothing. The exit status is 0 when
nothing is wrong, 3 when something is, 1 when it could see nothing. Of a host of Sluice's own it
tells that it is one, and whether it is ready.

Examples:
  sluice doctor
  sluice doctor --kubeconfig cluster.yaml --namespace batch-system)";

struct DoctorArguments {
  std::string kubeconfig, context, config_file;
  std::optional<std::vector<std::string>> plugins;
  std::string ns = "sluice-system";
  OutputFormat output = OutputFormat::kTable;
};

Result<int> diagnose(const DoctorArguments& arguments) {
  auto config = load_configuration(arguments.config_file);
  if (!config) return config.error();
  auto cluster = cluster_of(arguments.kubeconfig, arguments.context);
  if (!cluster) return cluster.error();
  auto target = link_target(*cluster);
  if (!target) return target.error();
  const VirtualClock still;
  auto rules = Rules::load(config->plugins, arguments.plugins, still);
  if (!rules) return rules.error();
  (*rules)->declare(pages_of_cluster(*cluster, *target));
  ClusterCaller caller(std::move(*target), *cluster, kPatience);
  caller.start();
  DoctorOrder order;
  order.scheme = &(*rules)->scheme;
  order.ns = arguments.ns;
  order.rights = rights_to_decide(*config, **rules);
  order.has_pages = !(*rules)->pages().empty();
  order.now = SystemPluginClock().now();
  const std::vector<Finding> findings =
      examine(order, [&caller](ClusterRequest request) { return caller.ask(std::move(request)); });
  caller.stop();
  fmt::print("{}", printed(findings_document(findings), arguments.output,
                           [&findings] { return findings_text(findings); }));
  if (sees_nothing(findings))
    return Error{"the user of this kubeconfig may see nothing of what belongs to Sluice"};
  return any_wrong(findings) ? kDifferStatus : 0;
}

}  // namespace

void add_doctor_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command = app.add_subcommand(
      "doctor", "Look what keeps Sluice from deciding for a cluster of Kubernetes");
  add_cluster_options(*command, arguments->kubeconfig, arguments->context, arguments->config_file);
  add_plugins_option(*command, arguments->plugins, "With");
  command->add_option("--namespace", arguments->ns, "Of the controllers (default sluice-system)")
      ->type_name("NAMESPACE");
  add_output_option(*command, arguments->output);
  command->footer(kDoctorFooter);
  command->callback(
      [arguments, &action] { action = [arguments] { return diagnose(*arguments); }; });
}

}  // namespace sluice::host
