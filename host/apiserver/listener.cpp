#include "host/apiserver/listener.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

#include "host/apiserver/handshake.hpp"
#include "host/apiserver/http1_connection.hpp"
#include "host/apiserver/worker.hpp"
#include "host/base/log.hpp"

namespace sluice::host {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::size_t kTurnedAway = 64;      // over the limit, kept long enough for an answer
constexpr std::int64_t kAcceptAgainMs = 50;  // after an accept that failed (no file descriptor)
constexpr rlim_t kOtherFiles = 512;          // store, plugins, logs, pods

Result<tcp::endpoint> parse_address(std::string_view address) {
  const Error wrong{
      fmt::format("{} is no address: HOST:PORT is expected, where HOST is an IP "
                  "address or localhost and PORT is 0 to 65535",
                  address)};
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return wrong;
  std::string_view host = address.substr(0, colon);
  const std::string_view port_text = address.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, bad] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (bad != std::errc() || end != port_text.data() + port_text.size()) return wrong;
  if (host == "localhost") host = "127.0.0.1";
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(std::string(host), error);
  if (error || ip.is_v6() != brackets) return wrong;
  return tcp::endpoint(ip, port);
}

// Connections are file descriptors: the soft limit of the process is often 1,024.
void raise_file_limit(std::size_t connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, static_cast<rlim_t>(connections) + kOtherFiles);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Result<tcp::acceptor> listen(asio::io_context& io, const ListenerOptions& options,
                             const tcp::endpoint& endpoint) {
  tcp::acceptor acceptor(io);
  boost::system::error_code error;
  if (!acceptor.open(endpoint.protocol(), error) &&
      !acceptor.set_option(tcp::acceptor::reuse_address(true), error) &&
      !acceptor.bind(endpoint, error))
    acceptor.listen(4096, error);
  if (error) return Error{fmt::format("cannot listen on {}: {}", options.address, error.message())};
  return acceptor;
}

}  // namespace

Result<bool> is_loopback(std::string_view address) {
  auto endpoint = parse_address(address);
  if (!endpoint) return endpoint.error();
  return endpoint->address().is_loopback();
}

struct Listener::State {
  std::shared_ptr<ListenerShared> shared = std::make_shared<ListenerShared>();
  std::vector<std::shared_ptr<Worker>> workers;
  std::unique_ptr<tcp::acceptor> acceptor;  // used on the first worker's thread
  tcp::endpoint endpoint;
  bool stopped = false;

  void accept();
  void accepted(const std::shared_ptr<Worker>& worker, tcp::socket socket);
};

void Listener::State::accept() {
  const auto worker = *std::min_element(
      workers.begin(), workers.end(),
      [](const auto& a, const auto& b) { return a->connections() < b->connections(); });
  acceptor->async_accept(
      worker->io(), [this, worker](const boost::system::error_code& error, tcp::socket socket) {
        if (!acceptor->is_open()) return;
        if (!error) {
          accepted(worker, std::move(socket));
          return accept();
        }
        if (error == asio::error::connection_aborted) return accept();
        // Out of file descriptors or memory: make room, and go on when there is some.
        log(LogLevel::kWarning, shared->options.name, "a connection could not be accepted",
            {{"what", error.message()}});
        worker->post([worker] { worker->shed(); });
        workers.front()->after(kAcceptAgainMs, [this] {
          if (acceptor->is_open()) accept();
        });
      });
}

void Listener::State::accepted(const std::shared_ptr<Worker>& worker, tcp::socket socket) {
  shared->accepted.fetch_add(1, std::memory_order_relaxed);
  shared->open_connections.fetch_add(1);
  std::shared_ptr<Connection> connection;
  if (auto secure = std::atomic_load(&shared->tls))
    connection = std::make_shared<Handshake>(worker, std::move(socket), std::move(secure));
  else
    connection = std::make_shared<Http1Connection>(worker, std::move(socket));
  worker->dispatch([worker, connection = std::move(connection)] {
    auto& all = worker->shared();
    const std::size_t limit = worker->limits().connections;
    if (all.open_connections > limit && !worker->shed()) {
      all.turned_away.fetch_add(1, std::memory_order_relaxed);
      if (all.open_connections > limit + kTurnedAway) return connection->close();
      connection->turn_away();
    }
    connection->start();
  });
}

Listener::Listener(std::unique_ptr<State> state) : state_(std::move(state)) {}

Listener::~Listener() { stop(0); }

Result<std::unique_ptr<Listener>> Listener::open(ListenerOptions options, Handler handler,
                                                 HeadCheck check) {
  auto endpoint = parse_address(options.address);
  if (!endpoint) return endpoint.error();
  if (!options.tls && !options.plain_anywhere && !endpoint->address().is_loopback())
    return Error{fmt::format("plain http is served on loopback addresses only, and {} is none",
                             options.address)};
  auto state = std::make_unique<State>();
  if (options.tls) {
    auto tls = TlsContext::create(*options.tls);
    if (!tls) return tls.error();
    state->shared->tls = std::move(*tls);
    options.tls.reset();  // the key is kept in one place
  }
  raise_file_limit(options.limits.connections);
  auto& shared = *state->shared;
  shared.options = std::move(options);
  shared.handler = std::move(handler);
  shared.check = std::move(check);
  for (unsigned i = 0; i < std::max(1U, shared.options.threads); ++i)
    state->workers.push_back(std::make_shared<Worker>(state->shared));
  auto acceptor = listen(state->workers.front()->io(), shared.options, *endpoint);
  if (!acceptor) return acceptor.error();
  state->acceptor = std::make_unique<tcp::acceptor>(std::move(*acceptor));
  boost::system::error_code error;
  state->endpoint = state->acceptor->local_endpoint(error);
  for (const auto& worker : state->workers) worker->start();
  state->workers.front()->post([raw = state.get()] { raw->accept(); });
  return std::unique_ptr<Listener>(new Listener(std::move(state)));
}

const std::string& Listener::name() const { return state_->shared->options.name; }

std::string Listener::address() const {
  const auto& ip = state_->endpoint.address();
  return fmt::format(fmt::runtime(ip.is_v6() ? "[{}]:{}" : "{}:{}"), ip.to_string(),
                     state_->endpoint.port());
}

std::uint16_t Listener::port() const { return state_->endpoint.port(); }

Result<void> Listener::reload_tls(const TlsOptions& options) {
  auto tls = TlsContext::create(options);
  if (!tls) return tls.error();
  std::atomic_store(&state_->shared->tls, std::move(*tls));
  return {};
}

void Listener::set_limits(const ListenerLimits& limits) {
  if (state_->stopped) return;
  raise_file_limit(limits.connections);
  for (const auto& worker : state_->workers)
    worker->post([raw = worker.get(), limits] { raw->set_limits(limits); });
}

void Listener::stop(std::int64_t grace_ms) {
  if (std::exchange(state_->stopped, true)) return;
  auto& shared = *state_->shared;
  shared.stopping = true;
  state_->workers.front()->post([this] {
    boost::system::error_code ignored;
    state_->acceptor->close(ignored);
  });
  if (grace_ms > 0) {
    for (const auto& worker : state_->workers) worker->post([raw = worker.get()] { raw->drain(); });
    std::unique_lock lock(shared.mutex);
    shared.closed.wait_for(lock, std::chrono::milliseconds(grace_ms),
                           [&] { return shared.open_connections == 0; });
  }
  // The first one holds the acceptor: it goes last, so that no connection is handed to one that
  // ended.
  for (auto worker = state_->workers.rbegin(); worker != state_->workers.rend(); ++worker)
    (*worker)->stop();
}

ListenerCounters Listener::counters() const {
  const auto& shared = *state_->shared;
  ListenerCounters out;
  out.accepted = shared.accepted;
  out.turned_away = shared.turned_away;
  out.timed_out = shared.timed_out;
  out.given_up = shared.given_up;
  out.misbehaved = shared.misbehaved;
  out.requests = shared.requests;
  out.http2_connections = shared.http2_connections;
  out.http2_streams = shared.http2_streams;
  out.open_connections = shared.open_connections;
  out.open_streams = shared.open_streams;
  return out;
}

}  // namespace sluice::host
