#include "host/base/fair_pool.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <optional>
#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {
namespace {

constexpr int kNice = 5;

}  // namespace

FairPool::FairPool(std::string name, std::size_t threads, std::size_t waiting)
    : name_(std::move(name)), waiting_(waiting) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

FairPool::~FairPool() { stop(); }

bool FairPool::post(const std::string& who, Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= waiting_) return false;
    queue_.push(who, std::move(task));
  }
  work_.notify_one();
  return true;
}

void FairPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void FairPool::run() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  for (;;) {
    std::optional<Task> task;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      task = queue_.pop();
    }
    if (!task) return;
    try {
      (*task)();
    } catch (const std::exception& error) {
      log(LogLevel::kError, name_, "a task ended in an exception", {{"what", error.what()}});
    }
  }
}

}  // namespace sluice::host
