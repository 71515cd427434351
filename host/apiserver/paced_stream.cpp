#include "host/apiserver/paced_stream.hpp"

#include <utility>

namespace sluice::host {
namespace {

constexpr int kPiecesAtATime = 4;
constexpr std::int64_t kLookAgainMs = 200;

}  // namespace

void PacedStream::start(std::string content_type) {
  stream_ = call_->exchange->stream(200, std::move(content_type), call_->headers);
  thread_ = stream_->thread();
  thread_->post([self = shared_from_this()] {
    if (!self->call_->at->enter(self)) return self->finish();
    self->stream_->on_ready([self] { self->pump(); });
    self->pump();
  });
}

void PacedStream::end() {
  thread_->post([self = shared_from_this()] { self->finish(); });
}

void PacedStream::pump() {
  if (pumping_) return;                  // a write may call on_ready
  const auto self = shared_from_this();  // its end takes away the call that it is in
  pumping_ = true;
  int pieces = 0;
  while (pieces < kPiecesAtATime && step()) ++pieces;
  pumping_ = false;
  if (pieces == kPiecesAtATime) thread_->post([self] { self->pump(); });
}

/// Whether the next step can follow at once.
bool PacedStream::step() {
  if (!stream_) return false;
  if (!stream_->open()) return finish(), false;
  if (waits_ || stream_->backlog() >= call_->at->limits.stream_bytes) return false;
  if (stream_->crowded()) return look_again(), false;
  std::string piece;
  const Progress progress = make(piece);
  if (!piece.empty()) stream_->write(std::make_shared<const std::string>(std::move(piece)));
  if (progress == Progress::kEnd) return finish(), false;
  if (progress == Progress::kNotYet) return look_again(), false;
  return true;
}

void PacedStream::look_again() {
  waits_ = true;
  thread_->after(kLookAgainMs, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->waits_ = false;
    self->pump();
  });
}

void PacedStream::finish() {
  if (!stream_) return;
  stream_->on_ready(nullptr);
  stream_.reset();
  call_->at->leave(this);
}

}  // namespace sluice::host
