// A server for the tests of plugins that speak HTTP: one connection at a time, on a free port of
// this machine, answers by a function.
//
// The function is called on the server's own thread.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace http {

class TestServer {
 public:
  struct Request {
    std::string line, body;  ///< `POST /path HTTP/1.0`
    std::string head = {};   ///< all of it, the line included
  };
  using Handler = std::function<std::pair<int, std::string>(const Request&)>;

  explicit TestServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, raw, size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, raw, &size) != 0)
      throw std::runtime_error("the test server cannot listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~TestServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void serve() const {
    for (;;) {
      const int peer = ::accept(listener_, nullptr, nullptr);
      if (peer < 0) return;
      answer(peer);
      ::close(peer);
    }
  }

  void answer(int peer) const {
    std::string text;
    std::size_t head = text.npos;
    std::size_t expected = 0;
    while (head == text.npos || text.size() < head + 4 + expected) {
      char block[4096];
      const ssize_t got = ::recv(peer, block, sizeof(block), 0);
      if (got <= 0) return;
      text.append(block, static_cast<std::size_t>(got));
      head = text.find("\r\n\r\n");
      const std::size_t length = text.find("Content-Length: ");
      if (head != text.npos && length < head) expected = std::stoul(text.substr(length + 16));
    }
    const auto [status, body] =
        handler_({text.substr(0, text.find("\r\n")), text.substr(head + 4), text.substr(0, head)});
    const std::string out = "HTTP/1.0 " + std::to_string(status) +
                            " Done\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                            body;
    for (std::size_t sent = 0; sent < out.size();) {
      const ssize_t n = ::send(peer, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }

  Handler handler_;
  int listener_ = -1;
  unsigned port_ = 0;
  std::thread thread_;
};

}  // namespace http
