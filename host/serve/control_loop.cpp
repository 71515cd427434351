#include "host/serve/control_loop.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {
namespace {

// Times of the API have microseconds at the finest.
Time floor_to_microseconds(Time time) { return time - time % 1'000; }

ApiError overloaded() {
  ApiError out;
  out.code = 429;
  out.reason = "TooManyRequests";
  out.text = "too many writes are waiting; try again later";
  out.retry_after_seconds = 1;
  return out;
}

}  // namespace

ControlLoop::ControlLoop(Machine& machine, LiveStore& store, const PluginClock& clock,
                         ControlLoopLimits limits)
    : machine_(machine), store_(store), clock_(clock), limits_(limits) {}

ControlLoop::~ControlLoop() { stop(); }

void ControlLoop::start() {
  thread_ = std::thread([this] { loop(); });
}

void ControlLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ControlLoop::submit(WriteRequest request, WriteDone done) {
  bool stopping = false;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
    if (!stopping_ && queue_.size() < limits_.waiting_writes) {
      queue_.push_back(Write{std::move(request), std::move(done)});
      done = nullptr;
    }
  }
  if (!done) return work_.notify_one();
  done(stopping ? unavailable("the host is shutting down", 1) : overloaded());
}

void ControlLoop::post(std::function<void(ObjectAccess&)> task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    queue_.push_back(Work{std::move(task), nullptr});
  }
  work_.notify_one();
}

void ControlLoop::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  work_.notify_one();
}

Result<void> ControlLoop::run_and_wait(const std::function<void(ObjectAccess&)>& task) {
  auto promise = std::make_shared<std::promise<Result<void>>>();
  auto future = promise->get_future();
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Error{"the host is shutting down"};
    queue_.push_back(Work{task, [promise](const Result<void>& r) { promise->set_value(r); }});
  }
  work_.notify_one();
  return future.get();
}

/// False: it is time to end.
bool ControlLoop::wait_for_work(bool at_rest, std::vector<Task>& batch) {
  std::unique_lock lock(mutex_);
  const Time next = machine_.next_timer();
  const auto ready = [&] { return !queue_.empty() || stopping_ || woken_; };
  if (at_rest && next == kNever) {
    work_.wait(lock, ready);
  } else if (at_rest && next > clock_.now()) {
    const auto left = std::chrono::nanoseconds(next - clock_.now());
    work_.wait_for(lock, std::min<std::chrono::nanoseconds>(left, std::chrono::hours(1)), ready);
  }
  woken_ = false;
  if (stopping_ && queue_.empty()) return false;
  const std::size_t count = std::min(queue_.size(), limits_.writes_per_turn);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  batch.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return true;
}

void ControlLoop::loop() {
  pthread_setname_np(pthread_self(), "control");
  std::vector<Task> batch;
  for (bool at_rest = true; wait_for_work(at_rest, batch);) {
    at_rest = turn(std::move(batch));
    batch.clear();
  }
  std::unique_lock lock(mutex_);
  durable_.wait(lock, [this] { return under_way_ == 0; });
}

void ControlLoop::wait_for_transactions() {
  std::unique_lock lock(mutex_);
  durable_.wait(lock, [this] { return under_way_ < limits_.transactions_under_way; });
  ++under_way_;
}

bool ControlLoop::turn(std::vector<Task> batch) {
  wait_for_transactions();
  pulse_.beat("the turn of the control thread, which carries out writes", clock_.steady());
  machine_.begin_instant(std::max(machine_.now(), floor_to_microseconds(clock_.now())));
  auto answers = std::make_shared<std::vector<Answer>>();
  auto told = std::make_shared<std::vector<std::function<void(const Result<void>&)>>>();
  for (Task& task : batch) {
    if (auto* write = std::get_if<Write>(&task)) {
      answers->push_back({std::move(write->done), machine_.write(std::move(write->request))});
    } else {
      auto& work = std::get<Work>(task);
      work.task(machine_.objects());
      if (work.done) told->push_back(std::move(work.done));
    }
  }
  pulse_.beat("the turn of the control thread, which runs controllers and scheduling cycles",
              clock_.steady());
  const Duration stop_at = clock_.steady() + limits_.scheduling_per_turn;
  bool at_rest = machine_.run(1);
  while (!at_rest && clock_.steady() < stop_at) at_rest = machine_.run(1);
  ++turns_;
  {
    const std::lock_guard lock(mutex_);
    commits_.push_back(clock_.steady());
  }
  store_.commit([this, answers, told](const Result<void>& durable) {
    const LogBatch audit_lines;
    for (Answer& answer : *answers) {
      if (durable) {
        answer.done(std::move(answer.result));
      } else {
        // The reason names files of the host, and is in its log.
        answer.done(unavailable("the change could not be made durable", 5));
      }
    }
    for (const auto& done : *told) done(durable);
    const std::lock_guard lock(mutex_);
    commits_.pop_front();
    --under_way_;
    durable_.notify_all();  // under the lock: the loop may be destroyed right after
  });
  pulse_.rest();
  return at_rest;
}

std::vector<Busy> ControlLoop::busy(Duration longer_than) const {
  std::vector<Busy> out;
  const Duration now = clock_.steady();
  if (auto turn = pulse_.busy("control", now, longer_than)) out.push_back(std::move(*turn));
  const std::lock_guard lock(mutex_);
  if (!commits_.empty() && now - commits_.front() > longer_than)
    out.push_back({"store", "the write of a transaction to the disk", {}, now - commits_.front()});
  return out;
}

}  // namespace sluice::host
