// HttpExchange: the Exchange of a connection's present request. See exchange.hpp. At most one lives
// per connection; it is used as exchange.hpp says, from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "host/apiserver/connection.hpp"
#include "host/apiserver/exchange.hpp"

namespace sluice::host {

class HttpExchange final : public Exchange {
 public:
  HttpExchange(std::shared_ptr<Connection> connection, Request request);
  ~HttpExchange() override;

  const Request& request() const override { return request_; }
  void reply(Reply reply) override;
  std::shared_ptr<Stream> stream(int status, std::string content_type, Headers headers) override;
  void after(std::int64_t delay_ms, std::function<void()> task) override;

 private:
  const std::shared_ptr<Connection> connection_;
  const Request request_;
  std::atomic<bool> answered_{false};
};

}  // namespace sluice::host
