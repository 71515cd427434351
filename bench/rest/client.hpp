// The client side of rest_bench and live_bench: many keep-alive connections on one thread, as cheap
// as they can be, because the measured host has to share its processors with them.
//
// A Loop owns the sockets of one thread. A Caller is a closed loop of requests over some
// connections: each connection sends its next request when its answer is complete. A WatchSet
// holds streams and counts the events in them. Errors end the program: a benchmark that goes on
// after one measures something else.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::bench {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& text);

struct Target {
  std::string host;
  std::uint16_t port = 0;
  std::string token;
  SSL_CTX* tls = nullptr;  ///< nullptr: plain http
};

/// Trusts the certificates in `ca` (PEM). Lives as long as the program.
SSL_CTX* make_tls(const std::string& ca);

/// A connected socket that never blocks, with or without TLS.
class Socket {
 public:
  explicit Socket(const Target& target, int receive_buffer = 0);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }
  void send(std::string_view text);  ///< keeps what is not taken at once
  bool flush();                      ///< whether all was taken
  /// Appends what is there to `into`, at most about `most` bytes; false: the other side closed.
  bool receive(std::string& into, std::size_t most);

 private:
  std::ptrdiff_t read(char* into, std::size_t size);
  std::ptrdiff_t write(const char* from, std::size_t size);

  int fd_ = -1;
  SSL* ssl_ = nullptr;
  std::string out_;
};

/// The answer at the front of what was received; size 0: it is not complete.
struct Answer {
  int status = 0;
  std::size_t size = 0;
  std::string_view body;  ///< with its chunk lines, where it is chunked
};
/// Sends what is left of a request, appends to `in` what has come, and reads the answer at its
/// front; size 0: it is not complete. A refusal, or an answer that is cut off, ends the program.
Answer receive_answer(Socket& socket, std::string& in);

/// `METHOD target` with all headers; the body goes behind it.
std::string head(const Target& target, std::string_view method, std::string_view path,
                 std::string_view content_type, std::size_t body_size);

/// The text member of that name, the first one there is.
std::string member(std::string_view json, std::string_view name);

struct Latencies {
  std::vector<std::uint32_t> micros;
  double percentile(double part);  ///< in milliseconds; 0 without any
};

/// Makes the next request of a connection; false: no more.
using NextRequest = std::function<bool(std::string& text)>;

struct CallOptions {
  std::size_t connections = 64;
  double seconds = 5;  ///< infinite: until `next` has no more
  /// Called with each answer's body and the time its request was sent; may be empty.
  std::function<void(std::string_view body, Clock::time_point sent)> answered;
};

struct CallResult {
  std::size_t requests = 0;
  double seconds = 0;
  double client_cpu = 0;  ///< of the calling thread
  std::size_t bytes = 0;  ///< of answers
  Latencies latencies;
};

/// Runs to the end on this thread. Every answer has to be a success.
CallResult call_many(const Target& target, const CallOptions& options, const NextRequest& next);
/// One request; its answer's body.
std::string call_once(const Target& target, std::string_view method, std::string_view path,
                      std::string_view body);

struct WatchOptions {
  std::vector<std::string> paths;  ///< one stream each
  std::size_t sampled = 20;        ///< of which each event is looked at
  bool one_never_reads = false;    ///< in addition
  bool one_reads_slowly = false;   ///< in addition
};

/// Streams on a thread of their own, from construction to destruction.
class WatchSet {
 public:
  WatchSet(const Target& target, const WatchOptions& options);
  ~WatchSet();

  std::size_t events() const;          ///< of all streams but the slow ones
  std::size_t fewest() const;          ///< events of the stream that has fewest
  std::size_t closed() const;          ///< streams that the host ended, the slow ones aside
  std::size_t events_of_slow() const;  ///< of the one that reads slowly
  bool slow_closed() const;
  bool in_order() const;       ///< resource versions rose in all sampled streams
  double cpu_seconds() const;  ///< of its thread
  /// When each event of sampled streams came: the object's name and the time.
  std::vector<std::pair<std::string, Clock::time_point>> arrivals() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

double thread_cpu();
/// As many open files as the system allows: for thousands of connections.
void allow_many_files();

}  // namespace sluice::bench
