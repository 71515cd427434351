#include "provisioner.hpp"

#include <algorithm>
#include <utility>

namespace provisioning {

Provisioner::~Provisioner() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
    for (const auto& [uid, cancellation] : under_way_) cancellation->cancel();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Provisioner::start(Run run) {
  {
    const std::lock_guard lock(mutex_);
    const auto [it, fresh] = under_way_.try_emplace(run.uid);
    if (!fresh || ending_) return;
    it->second = std::make_shared<Cancellation>();
    waiting_.push_back(std::move(run));
    if (threads_.size() < concurrency_ && threads_.size() < under_way_.size())
      threads_.emplace_back([this] { work(); });
  }
  changed_.notify_one();
}

void Provisioner::cancel(const std::string& uid) {
  const std::lock_guard lock(mutex_);
  const auto found = under_way_.find(uid);
  if (found == under_way_.end()) return;
  found->second->cancel();
  under_way_.erase(found);
  std::erase_if(waiting_, [&](const Run& run) { return run.uid == uid; });
  std::erase_if(results_, [&](const RunResult& result) { return result.run.uid == uid; });
}

std::vector<RunResult> Provisioner::take_results() {
  const std::lock_guard lock(mutex_);
  for (const RunResult& result : results_) under_way_.erase(result.run.uid);
  return std::exchange(results_, {});
}

void Provisioner::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    Run run = std::move(waiting_.front());
    waiting_.pop_front();
    const std::shared_ptr<Cancellation> cancellation = under_way_.at(run.uid);
    lock.unlock();
    CommandResult result = run_command(command_, run.input, *cancellation);
    const bool wanted = !cancellation->cancelled();
    lock.lock();
    if (!wanted || cancellation->cancelled()) continue;
    results_.push_back({std::move(run), std::move(result)});
    lock.unlock();
    on_result_();
    lock.lock();
  }
}

}  // namespace provisioning
