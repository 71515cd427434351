#include "host/apiserver/stream_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "host/apiserver/responder.hpp"
#include "host/apiserver/worker.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kWholeChunk = 128U << 10;
constexpr std::size_t kCrowdedBytes = 8U << 20;  // of a connection with several streams

}  // namespace

StreamQueue::StreamQueue(std::shared_ptr<Worker> worker,
                         const std::shared_ptr<Responder>& responder, std::size_t most_bytes,
                         std::shared_ptr<OutputBudget> budget)
    : worker_(std::move(worker)),
      responder_(responder),
      most_bytes_(most_bytes),
      budget_(std::move(budget)) {}

StreamQueue::~StreamQueue() { drop(); }

bool StreamQueue::fits(std::size_t bytes) const {
  if (bytes_ + unsent_ == 0) return true;
  if (budget_ && budget_->bytes() + bytes > budget_->most()) return false;
  return bytes_ + unsent_ + bytes <= most_bytes_;
}

void StreamQueue::took(std::size_t bytes) {
  bytes_ -= bytes;
  front_taken_ += bytes;
  if (budget_) budget_->remove(bytes);
  if (front_taken_ < chunks_.front()->size()) return;
  front_taken_ = 0;
  chunks_.pop_front();
}

void StreamQueue::drop() {
  if (budget_) budget_->remove(bytes_);
  chunks_.clear();
  bytes_ = front_taken_ = 0;
}

void StreamQueue::schedule() {
  worker_->dispatch(
      [worker = worker_.get(), responder = responder_] { worker->pump_soon(responder); });
}

bool StreamQueue::write(std::shared_ptr<const std::string> chunk) {
  bool too_far_behind = false;
  {
    const std::lock_guard lock(mutex_);
    if (!open_ || ended_) return false;
    if (chunk->empty()) return true;  // an empty chunk would be the end
    if (!fits(chunk->size())) {
      too_far_behind = true;
      open_ = false;
      drop();
    } else {
      bytes_ += chunk->size();
      if (budget_) budget_->add(chunk->size());
      chunks_.push_back(std::move(chunk));
      if (scheduled_) return true;
      scheduled_ = true;
    }
  }
  if (!too_far_behind) {
    schedule();
    return true;
  }
  worker_->dispatch([responder = responder_] {
    if (const auto alive = responder.lock()) alive->give_up();
  });
  return false;
}

void StreamQueue::end() {
  {
    const std::lock_guard lock(mutex_);
    wake_ = nullptr;
    if (ended_ || !open_) return;
    ended_ = true;
    if (scheduled_) return;
    scheduled_ = true;
  }
  schedule();
}

bool StreamQueue::crowded() const { return budget_ && budget_->bytes() > kCrowdedBytes; }

std::size_t StreamQueue::backlog() const {
  const std::lock_guard lock(mutex_);
  return bytes_ + unsent_;
}

bool StreamQueue::open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

void StreamQueue::on_ready(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = open_ ? std::make_shared<const std::function<void()>>(std::move(wake)) : nullptr;
}

std::shared_ptr<TaskThread> StreamQueue::thread() const { return worker_; }

void StreamQueue::take(std::string& out, std::size_t enough, bool raw) {
  const std::lock_guard lock(mutex_);
  scheduled_ = false;
  while (!chunks_.empty() && out.size() < enough) {
    const std::string& chunk = *chunks_.front();
    // Long ones go in parts, so that no connection holds much that its client does not take.
    const bool whole = front_taken_ == 0 && chunk.size() <= kWholeChunk;
    const std::size_t part =
        whole ? chunk.size() : std::min(chunk.size() - front_taken_, enough - out.size());
    if (!raw) fmt::format_to(std::back_inserter(out), "{:x}\r\n", part);
    out.append(chunk, front_taken_, part);
    if (!raw) out += "\r\n";
    took(part);
    if (front_taken_ > 0) break;
  }
  if (chunks_.empty() && ended_ && !end_taken_) {
    end_taken_ = true;
    if (!raw) out += "0\r\n\r\n";
  }
}

std::size_t StreamQueue::read(std::span<char> into) {
  const std::lock_guard lock(mutex_);
  scheduled_ = false;
  std::size_t size = 0;
  while (!chunks_.empty() && size < into.size()) {
    const std::string& chunk = *chunks_.front();
    const std::size_t part = std::min(chunk.size() - front_taken_, into.size() - size);
    std::memcpy(into.data() + size, chunk.data() + front_taken_, part);
    size += part;
    took(part);
  }
  if (chunks_.empty() && ended_) end_taken_ = true;
  return size;
}

bool StreamQueue::complete() const {
  const std::lock_guard lock(mutex_);
  return end_taken_;
}

void StreamQueue::sent(std::size_t unsent) {
  const std::lock_guard lock(mutex_);
  unsent_ = unsent;
}

void StreamQueue::client_gone() {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    drop();
    unsent_ = 0;
  }
  call_ready();
  on_ready(nullptr);
}

void StreamQueue::finish() {
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    open_ = false;
    ended_ = true;
  }
  call_ready();
  schedule();
}

void StreamQueue::call_ready() {
  std::shared_ptr<const std::function<void()>> wake;
  {
    const std::lock_guard lock(mutex_);
    wake = wake_;
  }
  if (wake && *wake) (*wake)();
}

}  // namespace sluice::host
