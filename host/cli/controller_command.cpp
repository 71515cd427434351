#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>
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
  std::string names;
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

/// A slice of endpoints takes no other ones.
std::string check_reachable_ip(const std::string& text) {
  boost::system::error_code bad;
  const auto ip = boost::asio::ip::make_address(text, bad);
  if (!bad && !ip.is_loopback() && !ip.is_unspecified() && !ip.is_multicast()) return {};
  return fmt::format("found \"{}\"; allowed: an IP address that is not of this machine alone",
                     text);
}

void add_webhook_options(CLI::App& command, ControllerArguments& arguments) {
  WebhookOptions& webhook = arguments.options.webhook;
  command
      .add_option("--webhook-address", webhook.address,
                  "Where to answer API servers that ask before they store objects; port 9443 is "
                  "what sluice manifests tells them (default: nowhere)")
      ->type_name("HOST:PORT");
  command
      .add_option("--webhook-names", arguments.names,
                  "By which API servers call it, beside sluice-webhook.NAMESPACE.svc")
      ->type_name("NAME,NAME…");
  command
      .add_option("--advertise-ip", webhook.advertised_ip,
                  "By which API servers reach that address: while this one decides, the Service "
                  "sluice-visibility leads here (default: it leads nowhere)")
      ->type_name("IP")
      ->check(check_reachable_ip);
  CLI::Option* certificate =
      command
          .add_option("--webhook-cert", webhook.cert_file,
                      "Its certificate (default: of an authority of its own, kept in the Secret "
                      "sluice-webhook of the lease's namespace)")
          ->type_name("FILE");
  CLI::Option* key = command.add_option("--webhook-key", webhook.key_file, "Of the certificate")
                         ->type_name("FILE");
  certificate->needs(key);
  key->needs(certificate);
  command
      .add_option("--webhook-ca", webhook.trust_file,
                  "Of who issued the certificate (default: what stands beside it in its file)")
      ->type_name("FILE")
      ->needs(certificate);
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
  add_webhook_options(*command, *arguments);
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
    arguments->options.webhook.names = names_of(arguments->names);
    action = [arguments] { return run_controller(arguments->options); };
  });
}

}  // namespace sluice::host
