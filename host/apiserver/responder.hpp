// Responder: sends the answer to one request: the connection itself in HTTP/1.1, one stream of it
// in HTTP/2. On its worker's thread; exchanges and queues of streams reach it through that.
// OutputBudget: how many bytes several of them may keep for a client that does not take them. Any
// thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>

#include "host/apiserver/exchange.hpp"

namespace sluice::host {

class StreamQueue;

class OutputBudget {
 public:
  explicit OutputBudget(std::size_t most) : most_(most) {}
  void add(std::size_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove(std::size_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  std::size_t most() const { return most_; }
  bool full() const { return bytes() >= most_; }

 private:
  const std::size_t most_;
  std::atomic<std::size_t> bytes_{0};
};

/// Something that sends behind the requests that are ready: see Worker::pump_soon().
class Sender {
 public:
  virtual ~Sender() = default;
  /// Sends what is there, as far as the client takes it.
  virtual void pump() = 0;
  /// The client is too far behind.
  virtual void give_up() = 0;
};

class Responder : public Sender {
 public:
  /// The whole answer. Nothing happens when the client is gone.
  virtual void answer(Reply reply) = 0;
  /// The head of an answer; the rest of it comes through `queue`.
  virtual void answer_stream(int status, std::string_view content_type, const Headers& headers,
                             std::shared_ptr<StreamQueue> queue) = 0;
  /// That its streams share with others. Any thread; null: there are no others.
  virtual std::shared_ptr<OutputBudget> budget() const { return nullptr; }
};

}  // namespace sluice::host
