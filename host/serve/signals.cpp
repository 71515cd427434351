#include "host/serve/signals.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "host/base/log.hpp"
#include "host/plugins/watchdog.hpp"

namespace sluice::host {
namespace {

constexpr int kOver = SIGUSR1;  // sent to the thread alone: there is nothing more to wait for

sigset_t signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, kOver}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Signals::Signals() {
  const sigset_t set = signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { run(); });
}

Signals::~Signals() {
  pthread_kill(thread_.native_handle(), kOver);
  thread_.join();
}

int Signals::next() {
  std::unique_lock lock(mutex_);
  came_.wait(lock, [this] { return !waiting_.empty(); });
  const int signal = waiting_.front();
  waiting_.pop_front();
  return signal;
}

void Signals::call() {
  const std::lock_guard lock(mutex_);
  if (std::find(waiting_.begin(), waiting_.end(), kOther) == waiting_.end())
    waiting_.push_back(kOther);
  came_.notify_one();
}

void Signals::ask(const Watchdog& watchdog) {
  const std::lock_guard lock(mutex_);
  watchdog_ = &watchdog;
}

void Signals::run() {
  pthread_setname_np(pthread_self(), "signals");
  const sigset_t set = signals();
  timespec until{};
  for (bool ending = false;;) {
    int signal = 0;
    if (!ending) {
      if (sigwait(&set, &signal) != 0) continue;
    } else {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      const Duration left = (until.tv_sec - now.tv_sec) * kSecond + until.tv_nsec - now.tv_nsec;
      if (left <= 0) end_by_force();
      const timespec wait{left / kSecond, left % kSecond};
      signal = sigtimedwait(&set, nullptr, &wait);
      if (signal < 0) continue;  // looked at the time again
    }
    if (signal == kOver) return;
    if (signal != SIGHUP && !ending) {
      ending = true;
      clock_gettime(CLOCK_MONOTONIC, &until);
      until.tv_sec += kOrderlyEnd / kSecond;
    }
    take(signal);
  }
}

/// One reload is enough for all that ask before it begins, and an end goes before reloads.
void Signals::take(int signal) {
  const std::lock_guard lock(mutex_);
  if (signal == SIGHUP) {
    if (std::find(waiting_.begin(), waiting_.end(), SIGHUP) == waiting_.end())
      waiting_.push_back(signal);
  } else {
    waiting_.push_front(signal);
  }
  came_.notify_one();
}

void Signals::end_by_force() {
  // Should the reader of the log be stuck, too, this ends the process in its place.
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  ::signal(SIGALRM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  ::alarm(1);
  std::string waits;
  {
    const std::lock_guard lock(mutex_);
    if (watchdog_ != nullptr)
      for (const Busy& busy : watchdog_->busy())
        waits += fmt::format("{}{}{}{}, for {} s", waits.empty() ? "" : "; ", busy.what,
                             busy.detail.empty() ? "" : " of ", busy.detail, busy.took / kSecond);
  }
  log(LogLevel::kError, "host",
      fmt::format("the host does not come to an end within {} s and is ended; it waits for {}. "
                  "Everything that was acknowledged is on disk",
                  kOrderlyEnd / kSecond, waits.empty() ? "what it does not know" : waits));
  ::_exit(1);
}

}  // namespace sluice::host
