#include <memory>

#include "host/cli/arguments.hpp"
#include "host/cli/command.hpp"
#include "host/serve/host.hpp"

namespace sluice::host {

void add_serve_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* serve = app.add_subcommand("serve", "Run the host: API, queues, jobs");
  serve->add_option("--config", options->config_file, "Configuration file (YAML or JSON)")
      ->type_name("FILE");
  add_log_options(*serve, options->log_format, options->log_level);
  serve->callback([options, &action] { action = [options] { return run_host(*options); }; });
  serve->footer(
      R"(Prints `ready https://ADDRESS kubeconfig FILE` once it answers; everything else goes to
standard error.
SIGHUP reads the configuration again, SIGTERM ends it in order.

Examples:
  sluice serve --config sluice.yaml
  KUBECONFIG=./sluice-data/kubeconfig kubectl get clusterqueues)");
}

}  // namespace sluice::host
