#include "host/kube/link.hpp"

#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "host/base/version.hpp"

namespace sluice::host {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr auto kWait = asio::as_tuple(asio::use_awaitable);
constexpr auto kConnectTime = std::chrono::seconds(10);
constexpr auto kHeadTime = std::chrono::seconds(65);  // an API server ends a request after 60
constexpr std::uint32_t kLongestHead = 64U << 10;
constexpr std::size_t kPiece = 64U << 10;

/// A peer that is gone without a word is noticed after a minute, also while nothing is sent.
void keep_alive(Tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  using Seconds = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
  using Between = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
  using Times = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;
  socket.set_option(Seconds(30), ignored);
  socket.set_option(Between(10), ignored);
  socket.set_option(Times(3), ignored);
}

}  // namespace

struct Link::State {
  State(const LinkTarget& to, asio::any_io_executor on)
      : target(to), executor(std::move(on)), piece(kPiece) {}

  const LinkTarget& target;
  asio::any_io_executor executor;
  std::optional<beast::tcp_stream> plain;
  std::optional<beast::ssl_stream<beast::tcp_stream>> secure;
  beast::flat_buffer buffer;
  std::optional<http::response_parser<http::buffer_body>> parser;
  std::vector<char> piece;

  beast::tcp_stream& tcp() { return plain ? *plain : beast::get_lowest_layer(*secure); }
  bool connected() const { return plain || secure; }

  /// While nothing is asked there is nothing to read but an end.
  bool ended_by_peer() {
    char next = 0;
    const int socket = tcp().socket().native_handle();
    return ::recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
  }

  Error failed(const char* what, const error_code& problem) const {
    const Endpoint& to = target.endpoint;
    const std::string why =
        problem == beast::error::timeout ? "it took too long" : problem.message();
    return Error{std::string(what) + " " + to.host + ":" + to.port + ": " + why};
  }

  asio::awaitable<Result<void>> connect() {
    Tcp::resolver resolver(executor);
    auto [unknown, found] =
        co_await resolver.async_resolve(target.endpoint.host, target.endpoint.port, kWait);
    if (unknown) co_return failed("cannot find", unknown);
    if (target.tls) {
      secure.emplace(executor, *target.tls);
    } else {
      plain.emplace(executor);
    }
    tcp().expires_after(kConnectTime);
    auto [refused, endpoint] = co_await tcp().async_connect(found, kWait);
    if (refused) co_return failed("cannot connect to", refused);
    keep_alive(tcp().socket());
    if (!secure) co_return Result<void>();
    SSL_set_tlsext_host_name(secure->native_handle(), target.endpoint.host.c_str());
    secure->set_verify_callback(asio::ssl::host_name_verification(target.endpoint.host));
    tcp().expires_after(kConnectTime);
    auto [distrusted] = co_await secure->async_handshake(asio::ssl::stream_base::client, kWait);
    if (distrusted) co_return failed("no TLS with", distrusted);
    co_return Result<void>();
  }

  template <typename Stream>
  asio::awaitable<error_code> exchange(Stream& stream, http::request<http::string_body>& request) {
    tcp().expires_after(kHeadTime);
    auto [unsent, sent] = co_await http::async_write(stream, request, kWait);
    if (unsent) co_return unsent;
    auto [unread, read] = co_await http::async_read_header(stream, buffer, *parser, kWait);
    co_return unread;
  }

  template <typename Stream>
  asio::awaitable<error_code> read_some(Stream& stream) {
    auto [problem, size] = co_await http::async_read_some(stream, buffer, *parser, kWait);
    co_return problem;
  }
};

Duration steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

Result<LinkTarget> link_target(const Kubeconfig& config) {
  Result<Endpoint> endpoint = parse_endpoint(config.server);
  if (!endpoint) return endpoint.error();
  Result<ClientTls> tls = endpoint->secure ? make_tls(config) : ClientTls();
  if (!tls) return tls.error();
  return LinkTarget{std::move(*endpoint), std::move(*tls)};
}

Link::Link(const LinkTarget& target, asio::any_io_executor executor)
    : state_(std::make_unique<State>(target, std::move(executor))) {}
Link::~Link() = default;

bool Link::reusable() const {
  return state_->parser && state_->parser->is_done() && state_->parser->get().keep_alive() &&
         !state_->ended_by_peer();
}

asio::awaitable<Result<void>> Link::connect() {
  if (state_->connected()) co_return Result<void>();
  co_return co_await state_->connect();
}

asio::awaitable<Result<LinkAnswer>> Link::ask(LinkRequest asked, std::string token) {
  State& state = *state_;
  Result<void> connected = co_await connect();
  if (!connected) co_return connected.error();
  const Endpoint& to = state.target.endpoint;
  http::request<http::string_body> request(
      http::string_to_verb({asked.method.data(), asked.method.size()}), to.prefix + asked.path, 11);
  request.set(http::field::host, to.host + ":" + to.port);
  request.set(http::field::user_agent, "sluice/" + std::string(version()));
  request.set(http::field::accept, "application/json");
  if (!token.empty()) request.set(http::field::authorization, "Bearer " + token);
  if (!asked.content_type.empty()) {
    request.set(http::field::content_type, asked.content_type);
    request.body() = std::move(asked.body);
    request.prepare_payload();
  }
  state.parser.emplace();
  state.parser->header_limit(kLongestHead);
  state.parser->body_limit(boost::none);  // read() has a limit of its own
  error_code problem;
  if (state.plain) {
    problem = co_await state.exchange(*state.plain, request);
  } else {
    problem = co_await state.exchange(*state.secure, request);
  }
  if (problem) co_return state.failed("no answer from", problem);
  LinkAnswer answer;
  answer.status = static_cast<int>(state.parser->get().result_int());
  answer.retry_after = std::string(state.parser->get()[http::field::retry_after]);
  co_return answer;
}

asio::awaitable<Result<bool>> Link::read(std::string& out, Duration patience) {
  State& state = *state_;
  if (state.parser->is_done()) co_return false;
  http::buffer_body::value_type& body = state.parser->get().body();
  body.data = state.piece.data();
  body.size = state.piece.size();
  state.tcp().expires_after(std::chrono::nanoseconds(patience));
  error_code problem;
  if (state.plain) {
    problem = co_await state.read_some(*state.plain);
  } else {
    problem = co_await state.read_some(*state.secure);
  }
  if (problem && problem != http::error::need_buffer)
    co_return state.failed("the answer broke off from", problem);
  out.append(state.piece.data(), state.piece.size() - body.size);
  co_return true;
}

}  // namespace sluice::host
