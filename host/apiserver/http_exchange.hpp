// HttpExchange: the Exchange of a request that a Responder answers. See exchange.hpp; used as that
// says, from any thread, but made on the Worker's: from then on, until it has its answer, the
// request is one that its user has in hand there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "host/apiserver/exchange.hpp"
#include "host/apiserver/request_head.hpp"
#include "host/apiserver/responder.hpp"
#include "host/apiserver/worker.hpp"

namespace sluice::host {

class HttpExchange final : public Exchange {
 public:
  HttpExchange(std::shared_ptr<Worker> worker, std::shared_ptr<Responder> responder,
               Request request, ByteHold hold);
  ~HttpExchange() override;

  const Request& request() const override { return request_; }
  void reply(Reply reply) override;
  std::shared_ptr<Stream> stream(int status, std::string content_type, Headers headers) override;
  void after(std::int64_t delay_ms, std::function<void()> task) override;

 private:
  void end(Task answer);

  const std::shared_ptr<Worker> worker_;
  const std::shared_ptr<Responder> responder_;
  const Request request_;
  ByteHold hold_;  // of the body, until there is an answer
  std::atomic<bool> answered_{false};
};

}  // namespace sluice::host
