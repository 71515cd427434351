// Link: one connection to a server, and the HTTP/1.1 requests that are made on it one after the
// other, as coroutines of the thread that runs their executor.
//
//   Link link(target, executor);
//   Result<LinkAnswer> head = co_await link.ask({.path = "/api/v1/pods?limit=500"}, token);
//   while (true) { Result<bool> more = co_await link.read(body); … }
//
// Every wait has an end. After an error the link is of no more use. An answer that was not read to
// its end is given up with the link.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/base/steady_clock.hpp"  // IWYU pragma: export
#include "host/client/endpoint.hpp"

namespace sluice::host {

struct LinkRequest {
  std::string_view method = "GET";
  std::string path;               ///< with the query
  std::string content_type = {};  ///< of the body; empty: there is none
  std::string body = {};
  Duration patience = 65 * kSecond;  ///< for the head; an API server ends a request after 60
};

struct LinkAnswer {
  int status = 0;
  std::string retry_after;  ///< the header; empty: none
};

class Link {
 public:
  /// `target` must outlive the link.
  Link(const LinkTarget& target, boost::asio::any_io_executor executor);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Unless it is connected: ask() does that, too, but then it is not known when it sends.
  boost::asio::awaitable<Result<void>> connect();
  /// Sends a request and reads the head of the answer. `token` may be empty.
  boost::asio::awaitable<Result<LinkAnswer>> ask(LinkRequest request, std::string token);
  /// Appends the next piece of the body to `out`; false at its end. An error when nothing comes for
  /// `patience`.
  boost::asio::awaitable<Result<bool>> read(std::string& out, Duration patience);
  /// Another request may follow: the answer was read, and the server keeps the connection, and has
  /// not ended it since.
  bool reusable() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
