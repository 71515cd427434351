// A listener on a free port that answers with what it saw, for the tests of the transport. Its
// handlers are called on its I/O threads.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "host/apiserver/listener.hpp"

namespace sluice::host::test {

inline std::shared_ptr<const std::string> shared_text(std::string value) {
  return std::make_shared<const std::string>(std::move(value));
}

/// Says what it saw.
inline void echo(const std::shared_ptr<Exchange>& exchange) {
  const Request& request = exchange->request();
  std::string out = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) out += " " + name + "=" + value;
  out += " user=" + request.user.user;
  if (request.certificate) {
    out += " cn=" + request.certificate->common_name;
    for (const auto& organization : request.certificate->organizations) out += " o=" + organization;
  }
  exchange->reply({200, "text/plain", shared_text(out + " body=" + request.body), {}});
}

/// On a free port, whatever address the options have.
inline std::unique_ptr<Listener> open_with(ListenerOptions options, Handler handler,
                                           HeadCheck check = {}) {
  options.address = "127.0.0.1:0";
  auto out = Listener::open(std::move(options), std::move(handler), std::move(check));
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text);
  return std::move(*out);
}

inline std::unique_ptr<Listener> open(Handler handler = echo, ListenerLimits limits = {},
                                      HeadCheck check = {}, bool read_only = false) {
  ListenerOptions options;
  options.limits = limits;
  options.read_only = read_only;
  return open_with(std::move(options), std::move(handler), std::move(check));
}

}  // namespace sluice::host::test
