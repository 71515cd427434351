// StreamQueue: what joins the writer of a stream (any thread) and the Responder that sends it.
//
// The writer holds a Stream, the Responder this queue; each may go first. Chunks are shared texts:
// one event that goes to a thousand watchers exists once.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "host/apiserver/exchange.hpp"

namespace sluice::host {

class OutputBudget;
class Responder;
class Worker;

class StreamQueue {
 public:
  StreamQueue(std::shared_ptr<Worker> worker, const std::shared_ptr<Responder>& responder,
              std::size_t most_bytes, std::shared_ptr<OutputBudget> budget);
  ~StreamQueue();

  // ---- the writer, any thread
  bool write(std::shared_ptr<const std::string> chunk);
  void end();  ///< the writer is gone: the answer is complete after what is queued
  std::size_t backlog() const;
  bool crowded() const;
  bool open() const;
  void on_ready(std::function<void()> wake);
  std::shared_ptr<TaskThread> thread() const;

  // ---- the Responder, on its worker's thread
  /// Appends chunks, framed unless `raw`, until `out` holds `enough`. The end of the answer is
  /// appended once.
  void take(std::string& out, std::size_t enough, bool raw);
  /// The same, into a buffer and without frames. Returns how much it is.
  std::size_t read(std::span<char> into);
  bool complete() const;          ///< everything was taken, the end included
  void sent(std::size_t unsent);  ///< bytes that were taken and are not sent yet
  void client_gone();
  /// From now on nothing is taken up; what is queued goes out, and then the end.
  void finish();
  void call_ready();

 private:
  void schedule();
  bool fits(std::size_t bytes) const;
  void took(std::size_t bytes);  // of the first chunk
  void drop();                   // all chunks

  const std::shared_ptr<Worker> worker_;
  const std::weak_ptr<Responder> responder_;
  const std::size_t most_bytes_;
  const std::shared_ptr<OutputBudget> budget_;  // may be null
  mutable std::mutex mutex_;
  // All guarded by mutex_.
  std::deque<std::shared_ptr<const std::string>> chunks_;
  std::size_t front_taken_ = 0;  // of the first chunk
  std::size_t bytes_ = 0;
  std::size_t unsent_ = 0;
  bool open_ = true;
  bool ended_ = false;
  bool end_taken_ = false;
  bool scheduled_ = false;
  std::shared_ptr<const std::function<void()>> wake_;
};

/// The writer's end.
class QueueStream final : public Stream {
 public:
  explicit QueueStream(std::shared_ptr<StreamQueue> queue) : queue_(std::move(queue)) {}
  ~QueueStream() override { queue_->end(); }
  bool write(std::shared_ptr<const std::string> chunk) override {
    return queue_->write(std::move(chunk));
  }
  std::size_t backlog() const override { return queue_->backlog(); }
  bool crowded() const override { return queue_->crowded(); }
  void on_ready(std::function<void()> wake) override { queue_->on_ready(std::move(wake)); }
  bool open() const override { return queue_->open(); }
  std::shared_ptr<TaskThread> thread() const override { return queue_->thread(); }

 private:
  std::shared_ptr<StreamQueue> queue_;
};

}  // namespace sluice::host
