// Which host a command asks, with which credentials, and in which namespace: the options
// --kubeconfig and --namespace, and the Client that they lead to.
//
// Plain values; main thread. Connecting reads files and sends nothing yet.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/base/result.hpp"
#include "host/client/client.hpp"

namespace sluice::host {

struct HostOptions {
  std::string kubeconfig;  ///< empty: where find_kubeconfig() looks
  std::string ns;          ///< empty: that of the kubeconfig
};

/// `options` must outlive the reading of the command line. `about_namespace`: what it is good for.
void add_host_options(CLI::App& command, HostOptions& options,
                      const std::string& about_namespace = "Namespace (default: the kubeconfig's)");

/// What the options lead to; an error says where it was looked for.
Result<Kubeconfig> kubeconfig_of(const HostOptions& options);
Result<Client> client_of(const HostOptions& options);

}  // namespace sluice::host
