// Request, Reply and Stream: one HTTP exchange as the API's handlers see it. The transport (TLS,
// connections, limits, timeouts) is behind it.
//
// A handler is called on an I/O thread with a complete request; it answers once, at once or later,
// from any thread, through the Exchange. Nothing here may block. An Exchange that is dropped
// without an answer answers 500; a second answer is ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/access/authenticator.hpp"
#include "host/access/identity.hpp"

namespace sluice::host {

struct Request {
  std::string method;                                      ///< GET, POST, PUT, PATCH, DELETE, …
  std::string path;                                        ///< decoded, normalised, no query
  std::vector<std::pair<std::string, std::string>> query;  ///< decoded, in order
  std::string accept, content_type, user_agent;
  std::vector<std::pair<std::string, std::string>> headers;  ///< all of them, names in lower case
  std::string body;
  Identity user;                                  ///< set by the listener's HeadCheck
  std::string peer;                               ///< address:port
  std::optional<CertificateSubject> certificate;  ///< of the client, when TLS verified it

  /// nullptr when absent; the first one otherwise.
  const std::string* parameter(std::string_view name) const;
  const std::string* header(std::string_view lower_case_name) const;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::shared_ptr<const std::string> body;
  Headers headers;
};

/// A text for people and probes.
inline Reply plain_reply(int status, std::string text) {
  return {status,
          "text/plain; charset=utf-8",
          std::make_shared<const std::string>(std::move(text)),
          {}};
}

/// An I/O thread. Tasks run in order; those that come after its end are dropped.
class TaskThread {
 public:
  virtual ~TaskThread() = default;
  virtual void post(std::function<void()> task) = 0;
  /// From tasks of this thread only.
  virtual void after(std::int64_t delay_ms, std::function<void()> task) = 0;
  /// Streams of this thread should get no more before then, so that requests are not held up. From
  /// tasks of this thread only.
  virtual std::chrono::steady_clock::time_point streams_rest_until() const { return {}; }
};

/// A chunked answer that goes on (watches, logs). Held by its writer; destroying it ends it.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Queues a chunk. False when the client is gone, or so slow that it was given up.
  virtual bool write(std::shared_ptr<const std::string> chunk) = 0;
  /// Bytes that are queued and not sent yet.
  virtual std::size_t backlog() const = 0;
  /// So much waits in the connection that what need not be made yet should be made later.
  virtual bool crowded() const = 0;
  /// Called (on an I/O thread) when the backlog became empty, and when the client went away.
  virtual void on_ready(std::function<void()> wake) = 0;
  virtual bool open() const = 0;
  /// The thread on which on_ready() calls.
  virtual std::shared_ptr<TaskThread> thread() const = 0;
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  virtual void reply(Reply reply) = 0;
  /// Sends the head of the answer at once.
  virtual std::shared_ptr<Stream> stream(int status, std::string content_type, Headers headers) = 0;
  /// Runs `task` on an I/O thread after `delay_ms`; nothing happens when the server stops first.
  virtual void after(std::int64_t delay_ms, std::function<void()> task) = 0;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;

/// Looks at the head of a request before its body is read (request.body is empty): may set
/// request.user, or refuse with an answer. On an I/O thread; must not block.
using HeadCheck = std::function<std::optional<Reply>(Request& request)>;

/// An error as a Status object, with Retry-After where it has one.
Reply error_reply(const ApiError& error);

}  // namespace sluice::host
