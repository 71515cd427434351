// Endpoint: where a kubeconfig's server is, and the TLS by which it is reached.
//
// Plain values and pure functions, any thread. Invariant: host and port are not empty; the prefix
// is empty or begins with a slash and ends without one.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "host/client/kubeconfig.hpp"

namespace sluice::host {

struct Endpoint {
  bool secure = true;
  std::string host, port;
  std::string prefix;  ///< of every path, where the API does not lie at the root
};

/// `https://HOST[:PORT][/PREFIX]`, or http.
Result<Endpoint> parse_endpoint(const std::string& server);

using ClientTls = std::shared_ptr<boost::asio::ssl::context>;

/// An error when certificates or keys cannot be used.
Result<ClientTls> make_tls(const Kubeconfig& config);

/// Where a link leads. `tls` is null for plain http.
struct LinkTarget {
  Endpoint endpoint;
  ClientTls tls;
};

/// Of the server that the kubeconfig names. An error when its address or certificates cannot be
/// used.
Result<LinkTarget> link_target(const Kubeconfig& config);

}  // namespace sluice::host
