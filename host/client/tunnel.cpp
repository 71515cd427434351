#include "host/client/tunnel.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

namespace sluice::host {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr auto kWait = asio::as_tuple(asio::use_awaitable);
constexpr auto kConnectTime = std::chrono::seconds(10);

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

struct Tunnel::State {
  State(const LinkTarget& to, asio::any_io_executor on) : target(to), executor(std::move(on)) {}

  const LinkTarget& target;
  asio::any_io_executor executor;
  std::optional<beast::tcp_stream> plain;
  std::optional<asio::ssl::stream<beast::tcp_stream>> secure;

  beast::tcp_stream& tcp() { return plain ? *plain : secure->next_layer(); }
  void wait_at_most(Duration patience) { tcp().expires_after(std::chrono::nanoseconds(patience)); }

  asio::awaitable<Result<void>> connect() {
    Tcp::resolver resolver(executor);
    auto [unknown, found] =
        co_await resolver.async_resolve(target.endpoint.host, target.endpoint.port, kWait);
    if (unknown) co_return tunnel_error(target, "cannot find", unknown);
    if (target.tls) {
      secure.emplace(executor, *target.tls);
    } else {
      plain.emplace(executor);
    }
    tcp().expires_after(kConnectTime);
    auto [refused, endpoint] = co_await tcp().async_connect(found, kWait);
    if (refused) co_return tunnel_error(target, "cannot connect to", refused);
    keep_alive(tcp().socket());
    if (!secure) co_return Result<void>();
    SSL_set_tlsext_host_name(secure->native_handle(), target.endpoint.host.c_str());
    secure->set_verify_callback(asio::ssl::host_name_verification(target.endpoint.host));
    tcp().expires_after(kConnectTime);
    auto [distrusted] = co_await secure->async_handshake(asio::ssl::stream_base::client, kWait);
    if (distrusted) co_return tunnel_error(target, "no TLS with", distrusted);
    co_return Result<void>();
  }

  template <typename Stream>
  static asio::awaitable<error_code> write(Stream& stream, std::string_view bytes) {
    while (!bytes.empty()) {
      const asio::const_buffer buffer(bytes.data(), bytes.size());
      auto [problem, size] = co_await stream.async_write_some(buffer, kWait);
      if (problem) co_return problem;
      bytes.remove_prefix(size);
    }
    co_return error_code();
  }

  template <typename Stream>
  static asio::awaitable<error_code> read(Stream& stream, std::span<char> into, std::size_t& size) {
    const asio::mutable_buffer buffer(into.data(), into.size());
    auto [problem, came] = co_await stream.async_read_some(buffer, kWait);
    size = came;
    co_return problem;
  }
};

Tunnel::Tunnel(const LinkTarget& target, asio::any_io_executor executor)
    : state_(std::make_unique<State>(target, std::move(executor))) {}
Tunnel::~Tunnel() = default;

bool Tunnel::connected() const { return state_->plain || state_->secure; }

asio::awaitable<Result<void>> Tunnel::connect() { return state_->connect(); }

asio::awaitable<error_code> Tunnel::write(std::string_view bytes, Duration patience) {
  state_->wait_at_most(patience);
  if (state_->plain) return State::write(*state_->plain, bytes);
  return State::write(*state_->secure, bytes);
}

asio::awaitable<error_code> Tunnel::read(std::span<char> into, std::size_t& size,
                                         Duration patience) {
  state_->wait_at_most(patience);
  if (state_->plain) return State::read(*state_->plain, into, size);
  return State::read(*state_->secure, into, size);
}

bool Tunnel::ended_by_peer() {
  char next = 0;
  const int socket = state_->tcp().socket().native_handle();
  return ::recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

Error tunnel_error(const LinkTarget& target, std::string_view what, const error_code& problem) {
  return Error{
      fmt::format("{} {}:{}: {}", what, target.endpoint.host, target.endpoint.port,
                  problem == beast::error::timeout ? "it took too long" : problem.message())};
}

}  // namespace sluice::host
