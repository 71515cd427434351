#include "host/apiserver/question_thread.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <optional>
#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {
namespace {

ApiError too_many() { return too_many_requests("too many questions are waiting; try again later"); }

ApiError ending() { return unavailable("the host is shutting down", 1); }

}  // namespace

QuestionThread::~QuestionThread() { stop(); }

void QuestionThread::start() {
  thread_ = std::thread([this] { loop(); });
}

void QuestionThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void QuestionThread::ask(const std::string& user, Question question) {
  bool stopping = false;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
    std::size_t& own = of_user_[user];
    if (!stopping_ && queue_.size() < waiting_ && own < waiting_per_user_) {
      ++own;
      queue_.push(user, Task{user, std::move(question)});
      question = nullptr;
    } else if (own == 0) {
      of_user_.erase(user);
    }
  }
  if (!question) return work_.notify_one();
  const ApiError refused = stopping ? ending() : too_many();
  question(&refused);
}

/// An exception (out of memory) ends the question, not the host.
void QuestionThread::answer(const Task& task, const ApiError* refused) const {
  try {
    return task.question(refused);
  } catch (const std::exception& error) {
    log(LogLevel::kError, name_,
        fmt::format("a question of {} failed: {}", task.user, error.what()));
  }
  const ApiError failed = unavailable("it could not be worked out; try again later", 1);
  task.question(&failed);
}

void QuestionThread::loop() {
  pthread_setname_np(pthread_self(), name_.c_str());
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice_);
  for (;;) {
    std::optional<Task> task;
    bool stopping = false;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      task = queue_.pop();
      stopping = stopping_;
    }
    if (!task) return;
    const ApiError refused = ending();
    answer(*task, stopping ? &refused : nullptr);
    const std::lock_guard lock(mutex_);
    if (const auto own = of_user_.find(task->user); --own->second == 0) of_user_.erase(own);
  }
}

}  // namespace sluice::host
