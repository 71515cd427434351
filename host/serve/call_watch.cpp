#include "host/serve/call_watch.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>

#include "host/base/log.hpp"

namespace sluice::host {
namespace {

constexpr std::chrono::seconds kLook(2);
constexpr Duration kLong = 5 * kSecond;
constexpr Duration kAgain = 60 * kSecond;

}  // namespace

CallWatch::CallWatch(const PluginSet& plugins, const PluginClock& clock)
    : plugins_(plugins), clock_(clock), thread_([this] { watch(); }) {}

CallWatch::~CallWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void CallWatch::watch() {
  pthread_setname_np(pthread_self(), "call-watch");
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kLook, [this] { return stopping_; })) {
    lock.unlock();
    look();
    lock.lock();
  }
}

void CallWatch::look() {
  const Duration now = clock_.steady();
  for (const LongCall& call : plugins_.long_calls(kLong)) {
    Duration& next = next_[call.plugin];
    if (now < next) continue;
    next = now + kAgain;
    log(LogLevel::kError, "plugin " + call.plugin,
        fmt::format("{} has not come back for {} s; no write is carried out until it does",
                    call.hook, call.took / kSecond));
  }
}

}  // namespace sluice::host
