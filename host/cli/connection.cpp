#include "host/cli/connection.hpp"

#include <utility>

namespace sluice::host {

void add_host_options(CLI::App& command, HostOptions& options, const std::string& about_namespace) {
  command.add_option("--namespace,-n", options.ns, about_namespace)->type_name("NAME");
  command
      .add_option("--kubeconfig", options.kubeconfig,
                  "Default: $KUBECONFIG, ./sluice-data/kubeconfig, ~/.kube/config")
      ->type_name("FILE");
}

Result<Kubeconfig> kubeconfig_of(const HostOptions& options) {
  const Result<std::string> path = find_kubeconfig(options.kubeconfig);
  return path ? load_kubeconfig(*path) : path.error();
}

Result<Client> client_of(const HostOptions& options) {
  Result<Kubeconfig> config = kubeconfig_of(options);
  return config ? Client::make(std::move(*config)) : config.error();
}

}  // namespace sluice::host
