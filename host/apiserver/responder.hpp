// Responder: who sends the answer to one request: the connection itself in HTTP/1.1, one stream of
// it in HTTP/2. On its worker's thread; exchanges and queues of streams reach it through that.
#pragma once

#include <memory>
#include <string_view>

#include "host/apiserver/exchange.hpp"

namespace sluice::host {

class StreamQueue;

class Responder {
 public:
  virtual ~Responder() = default;
  /// The whole answer. Nothing happens when the client is gone.
  virtual void answer(Reply reply) = 0;
  /// The head of an answer whose rest comes through `queue`.
  virtual void answer_stream(int status, std::string_view content_type, const Headers& headers,
                             std::shared_ptr<StreamQueue> queue) = 0;
  /// Sends what its queue holds, as far as the client takes it.
  virtual void pump() = 0;
  /// The client is too far behind in its stream.
  virtual void give_up() = 0;
};

}  // namespace sluice::host
