// QuestionThread: a thread that answers questions of clients one at a time, those of several users
// in turns, while a few may wait.
//
// For answers that cost more than a read and must not keep connections or the host's own work
// waiting: the thread has a low priority unless it is given another. ask() may be called from any
// thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "host/base/fair_queue.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

class QuestionThread {
 public:
  /// Answers; with an error where it is refused without being looked at. Called once, and if an
  /// exception left it (out of memory) once more, with an error.
  using Question = std::function<void(const ApiError* refused)>;

  /// `name`: of the thread, 15 characters. `waiting`: questions that may wait, 429 beyond it.
  /// `nice`: its priority; 0: that of the host's own threads.
  QuestionThread(std::string name, std::size_t waiting, std::size_t waiting_per_user, int nice = 10)
      : name_(std::move(name)),
        waiting_(waiting),
        waiting_per_user_(waiting_per_user),
        nice_(nice) {}
  ~QuestionThread();  // as stop()

  void start();
  /// Ends the thread when the question that it works on is answered; those that wait are refused.
  void stop();

  /// A question that is not taken is refused at once, on the thread that asks.
  void ask(const std::string& user, Question question);

 private:
  struct Task {
    std::string user;
    Question question;
  };
  void answer(const Task& task, const ApiError* refused) const;
  void loop();

  const std::string name_;
  const std::size_t waiting_, waiting_per_user_;
  const int nice_;
  std::mutex mutex_;
  std::condition_variable work_;
  FairQueue<Task> queue_;                                 // guarded by mutex_, as the rest
  std::unordered_map<std::string, std::size_t> of_user_;  // waiting or worked on
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::host
