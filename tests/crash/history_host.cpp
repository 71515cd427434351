#include "tests/crash/history_host.hpp"

#include <chrono>
#include <csignal>

namespace sluice::host::test {
namespace {

constexpr const char* kConfig = R"(
apiVersion: config.sluice.dev/v1alpha1
kind: Configuration
server: {address: "127.0.0.1:0"}
metrics: {address: "127.0.0.1:0"}
store: {path: data}
plugins: {load: []}
executor: {type: none}
)";

}  // namespace

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

HistoryHost::HistoryHost(const std::string& folder) : process_(SLUICE_PROGRAM, folder, kConfig) {}

Result<void> HistoryHost::start() {
  Result<void> ready = process_.spawn();
  if (ready) ready = process_.wait_until_ready();
  const std::lock_guard lock(mutex_);
  up_ = ready.ok();
  failed_ = !up_;
  run_ = {ends_.size(), process_.port(), process_.token()};
  changed_.notify_all();
  return ready;
}

void HistoryHost::crash(std::uint64_t step, std::size_t clients) {
  {
    std::unique_lock lock(mutex_);
    last_step_ = step;
    kill_at_step();
    changed_.wait(lock, [&] { return dying_ || left_ >= clients; });
    // Before it is gone, so that whose connection breaks knows why.
    up_ = false;
    dying_ = true;
    last_step_.reset();
  }
  process_.kill();
  const std::lock_guard lock(mutex_);
  dying_ = false;
  ends_.push_back(now());
  changed_.notify_all();
}

/// With the mutex held.
void HistoryHost::kill_at_step() {
  if (dying_ || !last_step_ || steps_ < *last_step_) return;
  up_ = false;
  dying_ = true;
  ::kill(process_.pid(), SIGKILL);
}

std::optional<HistoryHost::Run> HistoryHost::run() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return up_ || failed_; });
  return up_ ? std::optional(run_) : std::nullopt;
}

std::optional<std::int64_t> HistoryHost::end_of(std::size_t run) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !dying_ || ends_.size() > run; });
  return ends_.size() > run ? std::optional(ends_[run]) : std::nullopt;
}

void HistoryHost::step() {
  const std::lock_guard lock(mutex_);
  ++steps_;
  kill_at_step();
  if (dying_) changed_.notify_all();
}

void HistoryHost::leave() {
  const std::lock_guard lock(mutex_);
  ++left_;
  changed_.notify_all();
}

}  // namespace sluice::host::test
