#include <memory>

#include "host/cli/command.hpp"
#include "host/serve/host.hpp"

namespace sluice::host {

void add_serve_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* serve = app.add_subcommand("serve", "Run the host: API, queues, jobs");
  serve->add_option("--config", options->config_file, "Configuration file (YAML or JSON)")
      ->type_name("FILE");
  serve
      ->add_option_function<std::string>(
          "--log-format",
          [options](const std::string& text) {
            options->log_format = text == "json" ? LogFormat::kJson : LogFormat::kText;
          },
          "Lines of the log: text (default) or json")
      ->check(CLI::IsMember({"text", "json"}));
  serve
      ->add_option_function<std::string>(
          "--log-level",
          [options](const std::string& text) {
            options->log_level = text == "debug"     ? LogLevel::kDebug
                                 : text == "info"    ? LogLevel::kInfo
                                 : text == "warning" ? LogLevel::kWarning
                                                     : LogLevel::kError;
          },
          "The least level that is logged: debug, info (default), warning, error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
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
