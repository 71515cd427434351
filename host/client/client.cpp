#include "host/client/client.hpp"

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "api/json/json.hpp"
#include "host/base/version.hpp"
#include "host/client/endpoint.hpp"

namespace sluice::host {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using Tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;

constexpr auto kConnectTime = std::chrono::seconds(10);
constexpr std::uint64_t kMaxBody = 1ULL << 30;
constexpr std::size_t kMaxRefusal = 1 << 20;

/// One connection, with or without TLS. Throws as Beast does; Client catches.
class Connection {
 public:
  Connection(const std::string& host, const std::string& port, ssl::context* tls) {
    Tcp::resolver resolver(io_);
    const auto found = resolver.resolve(host, port);
    if (!tls) {
      connect(plain_.emplace(io_), found);
      return;
    }
    auto& secure = secure_.emplace(io_, *tls);
    SSL_set_tlsext_host_name(secure.native_handle(), host.c_str());
    secure.set_verify_callback(ssl::host_name_verification(host));
    connect(beast::get_lowest_layer(secure), found);
    secure.handshake(ssl::stream_base::client);
  }

  template <typename F>
  auto with(F&& f) {
    return plain_ ? f(*plain_) : f(*secure_);
  }

 private:
  static void connect(beast::tcp_stream& stream, const Tcp::resolver::results_type& found) {
    stream.expires_after(kConnectTime);
    stream.connect(found);
    stream.expires_never();
  }

  asio::io_context io_;
  std::optional<beast::tcp_stream> plain_;
  std::optional<beast::ssl_stream<beast::tcp_stream>> secure_;
};

/// What a Status object, or a bare status, says.
std::string message_of(const ClientAnswer& answer) {
  beast::error_code problem;
  const boost::json::value value = boost::json::parse(answer.body, problem);
  if (!problem && value.is_object()) {
    const std::string_view message = api::find_text(value.get_object(), "message");
    if (!message.empty()) return std::string(message);
  }
  return "the server answered " + std::to_string(answer.status) +
         (answer.status / 100 == 3 ? ", a redirect, which is not followed" : "");
}

}  // namespace

struct Client::Target {
  Endpoint endpoint;
  ClientTls tls;

  std::unique_ptr<Connection> connect() const {
    return std::make_unique<Connection>(endpoint.host, endpoint.port, tls.get());
  }
};

Client::Client(Kubeconfig config)
    : config_(std::move(config)), target_(std::make_unique<Target>()) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Client> Client::make(Kubeconfig config) {
  Result<Endpoint> endpoint = parse_endpoint(config.server);
  if (!endpoint) return endpoint.error();
  Result<ClientTls> tls = endpoint->secure ? make_tls(config) : ClientTls();
  if (!tls) return tls.error();
  Client client(std::move(config));
  client.target_->endpoint = std::move(*endpoint);
  client.target_->tls = std::move(*tls);
  return client;
}

namespace {

Request make_request(const Kubeconfig& config, std::string_view method, const std::string& target,
                     std::string_view body, const Endpoint& endpoint) {
  Request request(http::string_to_verb({method.data(), method.size()}), endpoint.prefix + target,
                  11);
  request.set(http::field::host, endpoint.host);
  request.set(http::field::user_agent, std::string("sluice/") + std::string(version()));
  request.set(http::field::accept, "application/json, */*");
  if (!config.token.empty()) request.set(http::field::authorization, "Bearer " + config.token);
  if (!body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = std::string(body);
  }
  request.prepare_payload();
  return request;
}

/// The library's own text goes on with the file and line of its source.
Error cannot_reach(const Kubeconfig& config, const std::exception& e) {
  const auto* error = dynamic_cast<const boost::system::system_error*>(&e);
  return Error{"cannot reach " + config.server + ": " +
               (error != nullptr ? error->code().message() : std::string(e.what()))};
}

}  // namespace

Result<ClientAnswer> Client::request(std::string_view method, const std::string& target,
                                     std::string_view body) const {
  try {
    const auto connection = target_->connect();
    const Request request = make_request(config_, method, target, body, target_->endpoint);
    return connection->with([&](auto& stream) -> Result<ClientAnswer> {
      http::write(stream, request);
      beast::flat_buffer buffer;
      http::response_parser<http::string_body> parser;
      parser.body_limit(kMaxBody);
      http::read(stream, buffer, parser);
      return ClientAnswer{static_cast<int>(parser.get().result_int()),
                          std::move(parser.get().body())};
    });
  } catch (const std::exception& e) {
    return cannot_reach(config_, e);
  }
}

Result<boost::json::object> Client::call(std::string_view method, const std::string& target,
                                         std::string_view body, bool* missing) const {
  const Result<ClientAnswer> answer = request(method, target, body);
  if (!answer) return answer.error();
  if (missing) *missing = answer->status == 404;
  if (missing && *missing) return boost::json::object();
  if (answer->status < 200 || answer->status > 299) return Error{message_of(*answer)};
  beast::error_code problem;
  boost::json::value value = boost::json::parse(answer->body, problem);
  if (problem || !value.is_object()) return Error{"the server's answer is not a JSON object"};
  return std::move(value.get_object());
}

Result<void> Client::stream(const std::string& target,
                            const std::function<bool(std::string_view)>& take) const {
  try {
    const auto connection = target_->connect();
    const Request request = make_request(config_, "GET", target, {}, target_->endpoint);
    return connection->with([&](auto& stream) -> Result<void> {
      http::write(stream, request);
      beast::flat_buffer buffer;
      http::response_parser<http::buffer_body> parser;
      parser.body_limit(boost::none);
      http::read_header(stream, buffer, parser);
      const int status = static_cast<int>(parser.get().result_int());
      std::string refusal;
      std::array<char, 16384> piece;
      while (!parser.is_done()) {
        parser.get().body().data = piece.data();
        parser.get().body().size = piece.size();
        beast::error_code problem;
        http::read_some(stream, buffer, parser, problem);
        if (problem == http::error::need_buffer) problem = {};
        if (problem) return Error{"the connection broke: " + problem.message()};
        const std::string_view text(piece.data(), piece.size() - parser.get().body().size);
        if (status != 200) {
          if (refusal.size() < kMaxRefusal) refusal += text;
        } else if (!text.empty() && !take(text)) {
          return {};
        }
      }
      if (status != 200) return Error{message_of({status, refusal})};
      return {};
    });
  } catch (const std::exception& e) {
    return cannot_reach(config_, e);
  }
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

std::string collection_path(std::string_view api_version, std::string_view plural,
                            std::string_view ns) {
  const bool core = api_version.find('/') == std::string_view::npos;
  std::string out = fmt::format("{}{}/", core ? "/api/" : "/apis/", api_version);
  if (!ns.empty()) out += "namespaces/" + percent_encoded(ns) + "/";
  return out.append(plural);
}

}  // namespace sluice::host
