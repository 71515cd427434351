#include "host/simulate/progress_notes.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <utility>

#include "host/simulate/story.hpp"

namespace sluice::host {

ProgressNotes::ProgressNotes(std::chrono::nanoseconds every, Say say)
    : every_(every), say_(std::move(say)), thread_([this] { run(); }) {}

ProgressNotes::~ProgressNotes() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void ProgressNotes::run() {
  pthread_setname_np(pthread_self(), "progress");
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, every_, [this] { return stopping_; })) {
    const Duration offset = offset_.load(std::memory_order_relaxed);
    if (offset < 0) {
      say_("note: still reading the manifests");
    } else {
      say_(fmt::format("note: still running: {} of virtual time, {} decisions", offset_text(offset),
                       decisions_.load(std::memory_order_relaxed)));
    }
  }
}

}  // namespace sluice::host
