// Listener: an address that answers HTTP/1.1, and HTTP/2 where TLS chose it.
//
// A few I/O threads carry all connections; a connection without traffic costs no thread, no CPU and
// a few KiB. Everything that a client can make grow has a limit: head, body, all bodies together,
// what waits to be sent, connections, and the time for each of them. A client that exceeds one gets
// an error, where that is possible, and loses its connection; others do not notice.
//
// open(), stop() and the destructor are for the thread that owns the Listener, everything else for
// any thread. The handler is called on I/O threads, for one connection at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/apiserver/tls.hpp"

namespace sluice::host {

struct ListenerLimits {
  std::size_t header_bytes = 64U << 10;  ///< request line and headers; 431
  std::size_t target_bytes = 8U << 10;   ///< path and query; 414
  std::size_t body_bytes = 3U << 20;     ///< 413
  /// Of all requests that are being read or carried out, and of those of one user; 503. What is
  /// made of a body takes several times its bytes.
  std::size_t bodies_bytes = 48U << 20;
  std::size_t bodies_per_user_bytes = 12U << 20;
  std::size_t backlog_bytes = 4U << 20;  ///< of a stream; a client this far behind is given up
  /// Beyond it the connection that is idle for longest between requests is closed; when none is
  /// idle, the new one is answered 503.
  std::size_t connections = 4096;
  /// Requests at a time on a connection of HTTP/2, watches included.
  std::size_t streams = 250;
  /// Of answers on a connection of HTTP/2 that its client does not take; 429 beyond it, and streams
  /// that would need more are given up.
  std::size_t answers_bytes = 64U << 20;
  /// Of whole answers on all connections of a user that are not taken; beyond it large ones become
  /// 429.
  std::size_t answers_per_user_bytes = 256U << 20;
  std::int64_t header_ms = 10'000;  ///< from the first byte (or the accept) to the end of the head
  std::int64_t body_ms = 60'000;
  std::int64_t idle_ms =
      150'000;  ///< between requests; above the 90 s after which Go clients close
  std::int64_t stall_ms = 60'000;  ///< without the client taking a byte of what it asked for
};

struct ListenerOptions {
  std::string name = "api";  ///< stands in log lines and thread names
  std::string address;       ///< HOST:PORT; HOST is an IP address or localhost; port 0: a free one
  std::optional<TlsOptions> tls;  ///< nullopt: plain HTTP
  bool plain_anywhere = false;    ///< plain HTTP on an address that is not loopback
  bool read_only = false;         ///< GET and HEAD only; others get 405
  /// With read_only: these are let through, too. Any thread; empty: none.
  bool (*but)(const Request& request) = nullptr;
  std::int64_t (*seconds)() = nullptr;  ///< since 1970; nullptr: the system's clock
  unsigned threads = 2;
  ListenerLimits limits;
};

/// Since the start, and (open_…) now.
struct ListenerCounters {
  std::uint64_t accepted = 0;
  std::uint64_t turned_away = 0;  ///< over the limit of connections
  std::uint64_t timed_out = 0;    ///< slow in sending a request, or in taking an answer
  std::uint64_t given_up = 0;     ///< streams of clients that fell too far behind
  std::uint64_t misbehaved = 0;   ///< connections of HTTP/2 that broke a limit of the protocol
  std::uint64_t requests = 0;
  std::size_t open_connections = 0;   ///< of both protocols
  std::size_t http2_connections = 0;  ///< of these
  std::size_t http2_streams = 0;      ///< requests on them
  std::size_t open_streams = 0;
};

/// Whether the HOST of HOST:PORT is a loopback address; an error when it is none at all.
Result<bool> is_loopback(std::string_view address);

class Listener {
 public:
  /// Listens and answers from now on. An error names the address and what is wrong.
  static Result<std::unique_ptr<Listener>> open(ListenerOptions options, Handler handler,
                                                HeadCheck check = {});
  ~Listener();  ///< stop(0)

  /// As in the options.
  const std::string& name() const;
  /// `127.0.0.1:6443`, with the port that was chosen.
  std::string address() const;
  std::uint16_t port() const;

  /// New connections use these certificates from now on; those that are open keep theirs, and the
  /// certificates of their clients are judged by the new client CA. An error changes nothing.
  Result<void> reload_tls(const TlsOptions& options);

  /// For requests that begin from now on, on open connections too; `backlog_bytes` stays as it was.
  /// No connection is closed because it is over a smaller limit now.
  void set_limits(const ListenerLimits& limits);

  /// Accepts nothing more, ends streams in order, lets requests that are being carried out finish
  /// for up to `grace_ms`, then closes what is left. Returns when no I/O thread runs any more. Not
  /// to be called from a handler.
  void stop(std::int64_t grace_ms);

  ListenerCounters counters() const;

 private:
  struct State;
  explicit Listener(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
