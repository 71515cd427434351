#include "host/base/lookout.hpp"

#include <pthread.h>

#include <chrono>

namespace sluice::host {

void Lookout::start(Duration first) {
  thread_ = std::thread([this, first] { run(first); });
}

void Lookout::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Lookout::look_now() {
  {
    const std::lock_guard lock(mutex_);
    asked_ = true;
  }
  changed_.notify_all();
}

void Lookout::run(Duration first) {
  pthread_setname_np(pthread_self(), name_);
  Duration pause = first;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::nanoseconds(pause),
                        [this] { return stopping_ || asked_; });
      if (stopping_) return;
      asked_ = false;
    }
    pause = look_();
  }
}

}  // namespace sluice::host
