#include "host/client/endpoint.hpp"

#include <boost/asio/buffer.hpp>
#include <exception>
#include <string_view>
#include <utility>

namespace sluice::host {

namespace asio = boost::asio;
namespace ssl = asio::ssl;

Result<Endpoint> parse_endpoint(const std::string& server) {
  const Error malformed{"the server of the kubeconfig is \"" + server +
                        "\"; allowed: https://HOST:PORT or http://HOST:PORT"};
  std::string_view rest = server;
  Endpoint out;
  out.secure = rest.starts_with("https://");
  if (!out.secure && !rest.starts_with("http://")) return malformed;
  rest.remove_prefix(out.secure ? 8 : 7);
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    std::string_view prefix = rest.substr(slash);
    while (prefix.ends_with('/')) prefix.remove_suffix(1);
    out.prefix = prefix;
    rest = rest.substr(0, slash);
  }
  const std::size_t colon = rest.ends_with(']') ? std::string_view::npos : rest.rfind(':');
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  out.host = host;
  out.port = colon == std::string_view::npos ? (out.secure ? "443" : "80") : rest.substr(colon + 1);
  if (out.host.empty() || out.port.empty() || out.prefix.find_first_of("?# ") != std::string::npos)
    return malformed;
  return out;
}

Result<ClientTls> make_tls(const Kubeconfig& config) {
  try {
    auto tls = std::make_shared<ssl::context>(ssl::context::tls_client);
    tls->set_verify_mode(config.verify ? ssl::verify_peer : ssl::verify_none);
    if (config.ca.empty()) {
      tls->set_default_verify_paths();
    } else {
      tls->add_certificate_authority(asio::buffer(config.ca));
    }
    if (!config.client_certificate.empty()) {
      tls->use_certificate_chain(asio::buffer(config.client_certificate));
      tls->use_private_key(asio::buffer(config.client_key), ssl::context::pem);
    }
    return tls;
  } catch (const std::exception& e) {
    return Error{std::string("the certificates of the kubeconfig cannot be used: ") + e.what()};
  }
}

Result<LinkTarget> link_target(const Kubeconfig& config) {
  Result<Endpoint> endpoint = parse_endpoint(config.server);
  if (!endpoint) return endpoint.error();
  Result<ClientTls> tls = endpoint->secure ? make_tls(config) : ClientTls();
  if (!tls) return tls.error();
  return LinkTarget{std::move(*endpoint), std::move(*tls)};
}

}  // namespace sluice::host
