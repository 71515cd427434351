// A small HTTP client for threads of plugins: one request per connection, with a time limit, and
// given up at once when the plugin is turned off.
//
// Everything is a value but Stop, which is shared between the thread that asks and the one that
// ends it. Plain http only: put a proxy before what speaks https.
#pragma once

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace http {

/// What went wrong, as a sentence for a message that people read.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Url {
  std::string host, port, path;
};

/// `http://HOST[:PORT][/PATH]`; throws Error.
inline Url parse_url(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  const std::string whole(text);
  if (!text.starts_with(kScheme)) throw Error("url must start with http://, found " + whole);
  text.remove_prefix(kScheme.size());
  Url url;
  const std::size_t slash = std::min(text.find('/'), text.size());
  url.path = slash < text.size() ? std::string(text.substr(slash)) : "/";
  std::string_view place = text.substr(0, slash);
  const std::size_t colon = place.rfind(':');
  url.port = colon == place.npos ? "80" : std::string(place.substr(colon + 1));
  url.host = std::string(place.substr(0, colon));
  if (url.host.empty() || url.port.empty()) throw Error("url has no host or no port: " + whole);
  return url;
}

/// `a b` → `a%20b`
inline std::string escaped(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
  }
  return out;
}

/// Ends requests that are under way, and every later one.
class Stop {
 public:
  Stop() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) throw Error(std::string("no eventfd: ") + std::strerror(errno));
  }
  ~Stop() { ::close(fd_); }
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  void stop() const { ::eventfd_write(fd_, 1); }
  int fd() const { return fd_; }

 private:
  int fd_;
};

struct Response {
  int status = 0;
  std::string body;
};

/// One request under way. Used by request() only.
class Exchange {
 public:
  using Clock = std::chrono::steady_clock;

  Exchange(const Url& url, std::chrono::milliseconds limit, const Stop& stop)
      : url_(url), end_(Clock::now() + limit), stop_(stop) {}
  ~Exchange() {
    if (fd_ >= 0) ::close(fd_);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void connect() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(url_.host.c_str(), url_.port.c_str(), &hints, &found))
      fail(::gai_strerror(code));
    fd_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int made = fd_ < 0 ? -1 : ::connect(fd_, found->ai_addr, found->ai_addrlen);
    const int error = errno;
    ::freeaddrinfo(found);
    if (fd_ < 0 || (made != 0 && error != EINPROGRESS)) fail(std::strerror(error));
    wait(POLLOUT);
    int result = 0;
    socklen_t size = sizeof(result);
    if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &result, &size) != 0 || result != 0)
      fail(std::strerror(result));
  }

  void send(std::string_view text) {
    while (!text.empty()) {
      wait(POLLOUT);
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (sent < 0) fail(std::strerror(errno));
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  std::string receive() {
    std::string text;
    for (;;) {
      wait(POLLIN);
      char block[4096];
      const ssize_t got = ::recv(fd_, block, sizeof(block), 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got < 0) fail(std::strerror(errno));
      if (got == 0) return text;
      text.append(block, static_cast<std::size_t>(got));
      if (text.size() > kMost) fail("the answer is longer than 16 MiB");
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(url_.host + ":" + url_.port + ": " + what);
  }

 private:
  static constexpr std::size_t kMost = 16U << 20;

  void wait(short event) const {
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count();
      if (left <= 0) fail("no answer in time");
      pollfd ready[2] = {{fd_, event, 0}, {stop_.fd(), POLLIN, 0}};
      const int n = ::poll(ready, 2, static_cast<int>(left));
      if (ready[1].revents != 0) fail("given up");
      if (n > 0) return;
    }
  }

  Url url_;
  Clock::time_point end_;
  const Stop& stop_;
  int fd_ = -1;
};

/// Throws Error when there is no answer within the limit, or stop() was called. `token`: a bearer
/// token; empty: none.
inline Response request(const Url& url, std::string_view method, std::string_view body,
                        std::chrono::milliseconds limit, const Stop& stop,
                        std::string_view token = {}) {
  Exchange exchange(url, limit, stop);
  exchange.connect();
  // HTTP/1.0: the answer ends where the connection does.
  std::string text = std::string(method) + " " + url.path + " HTTP/1.0\r\nHost: " + url.host + ":" +
                     url.port + "\r\nAccept: application/json\r\n";
  if (!token.empty()) text.append("Authorization: Bearer ").append(token).append("\r\n");
  if (!body.empty())
    text +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  exchange.send(text.append("\r\n").append(body));
  const std::string answer = exchange.receive();
  const std::size_t head = answer.find("\r\n\r\n");
  Response response;
  const std::string_view status = std::string_view(answer).substr(0, 12);
  if (head == answer.npos || !status.starts_with("HTTP/1.") || status.size() < 12 ||
      std::from_chars(status.data() + 9, status.data() + 12, response.status).ec != std::errc())
    exchange.fail("it does not speak HTTP");
  response.body = answer.substr(head + 4);
  return response;
}

}  // namespace http
