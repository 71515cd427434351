// Findings: what checks found wrong, one sentence each; only the first ones are kept.
//
// Any thread.
#pragma once

#include <mutex>
#include <string>
#include <vector>

namespace sluice::host::test {

class Findings {
 public:
  void add(std::string text) {
    const std::lock_guard lock(mutex_);
    if (texts_.size() < kMost) texts_.push_back(std::move(text));
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  bool none() const { return all().empty(); }

 private:
  static constexpr std::size_t kMost = 50;
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

}  // namespace sluice::host::test
