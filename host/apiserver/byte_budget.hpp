// ByteBudget: how many bytes are held, in all and for each user: bodies while they are read and
// carried out, answers until their clients have taken them.
//
// Invariant: `held` is the sum over the users, and no user holds more than its share unless that is
// one piece; so one user that sends many large bodies, or takes none of his answers, leaves room
// for all others. Any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace sluice::host {

class ByteBudget {
 public:
  /// False, and nothing is counted, when it would be more than `most` in all or more than `share`
  /// of this user (who holds nothing yet always has room for one piece).
  bool take(const std::string& user, std::size_t bytes, std::size_t most, std::size_t share);
  void give(const std::string& user, std::size_t bytes);
  std::size_t held() const;

 private:
  mutable std::mutex mutex_;
  std::size_t held_ = 0;                                // guarded by mutex_
  std::unordered_map<std::string, std::size_t> users_;  // guarded by mutex_; none is 0
};

/// Bytes of a user that are counted in a budget until this is destroyed, on any thread. Otherwise
/// for one thread at a time.
class ByteHold {
 public:
  ByteHold() = default;
  /// Counts `bytes` in all instead of those so far; false, and nothing changed: as
  /// ByteBudget::take(). REQUIRES: they are not fewer, and it is the budget and user of before.
  bool grow(const std::shared_ptr<ByteBudget>& budget, const std::string& user, std::size_t bytes,
            std::size_t most, std::size_t share);
  ByteHold(ByteHold&& other) noexcept;
  ByteHold& operator=(ByteHold&& other) noexcept;
  ~ByteHold() { release(); }

  std::size_t bytes() const { return bytes_; }

 private:
  void release();

  std::shared_ptr<ByteBudget> budget_;
  std::string user_;
  std::size_t bytes_ = 0;
};

}  // namespace sluice::host
