#include <memory>
#include <string>

#include "core/base/time.hpp"
#include "host/cli/arguments.hpp"
#include "host/cli/command.hpp"
#include "host/decide/decider.hpp"

namespace sluice::host {
namespace {

constexpr const char* kControllerFooter =
    R"(It follows the cluster and, while it holds the lease, decides: workloads get quota, jobs are
started and stopped, and what it decided is written there. Several may run; one decides.

The definitions of the kinds and the rights that it needs: sluice manifests.

Examples:
  sluice manifests | kubectl apply -f - && sluice controller
      decide for the cluster of kubectl
  sluice controller --config sluice.yaml --kubeconfig cluster.yaml --lease-namespace kube-system)";

struct ControllerArguments {
  ControllerOptions options;
  std::string lasts = "15s";
};

void add_lease_options(CLI::App& command, ControllerArguments& arguments) {
  LeaseOptions& lease = arguments.options.lease;
  command
      .add_option("--lease-namespace", lease.ns,
                  "Where the Lease is whose holder decides (default sluice-system)")
      ->type_name("NAMESPACE");
  command.add_option("--lease-name", lease.name, "Its name (default sluice-controller)")
      ->type_name("NAME");
  command
      .add_option("--lease-duration", arguments.lasts,
                  "How long a holder that is gone keeps the others waiting (default 15s)")
      ->type_name("DURATION")
      ->check(check_duration);
}

}  // namespace

void add_controller_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ControllerArguments>();
  CLI::App* command =
      app.add_subcommand("controller", "Decide for a cluster of Kubernetes, whose jobs run there");
  ControllerOptions& options = arguments->options;
  add_cluster_options(*command, options.kubeconfig, options.context, options.config_file);
  add_plugins_option(*command, options.plugins, "Decide with");
  add_lease_options(*command, *arguments);
  command
      ->add_option("--address", options.address,
                   "Where to answer questions, reading only (default 127.0.0.1:6481)")
      ->type_name("HOST:PORT");
  command
      ->add_option("--write-kubeconfig", options.own_kubeconfig,
                   "Where clients find how to ask it (default sluice-controller.kubeconfig)")
      ->type_name("FILE");
  add_log_options(*command, options.log_format, options.log_level);
  command->footer(kControllerFooter);
  command->callback([arguments, &action] {
    const Duration lasts = *parse_duration(arguments->lasts);
    if (lasts < 5 * kSecond) throw CLI::ValidationError("--lease-duration", "5s at least");
    LeaseTimes& times = arguments->options.lease.times;
    times.lasts = lasts;
    times.renewed_each = lasts / 6;
    times.margin = lasts / 6;
    action = [arguments] { return run_controller(arguments->options); };
  });
}

}  // namespace sluice::host
