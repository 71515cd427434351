// BodyBudget: how many bytes of request bodies are held, in all and for each user, while they are
// read and carried out.
//
// Invariant: `held` is the sum over the users, and no user holds more than its share; so one user
// that sends many large bodies, or sends them slowly, leaves room for all others. Any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sluice::host {

class BodyBudget {
 public:
  /// False, and nothing is counted, when it would be more than `most` in all or more than `share`
  /// of this user (a single body within the limits always has room when nothing else is held).
  bool take(const std::string& user, std::size_t bytes, std::size_t most, std::size_t share);
  void give(const std::string& user, std::size_t bytes);
  std::size_t held() const;

 private:
  mutable std::mutex mutex_;
  std::size_t held_ = 0;                                // guarded by mutex_
  std::unordered_map<std::string, std::size_t> users_;  // guarded by mutex_; none is 0
};

}  // namespace sluice::host
