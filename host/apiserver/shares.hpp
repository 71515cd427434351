// Shares: how many requests of each user an I/O thread has in hand, and who waits to be read.
//
// Reading a request costs about as much as carrying it out, so turns alone are not fair: a user
// with a thousand connections would have a thousand requests read and decrypted while each of the
// others has one. Once a user has his share in hand, what his other connections send stays in the
// kernel's buffers. The share is the total over the users that asked lately, and never less than
// kLeast: alone, a user has the whole. Lately, not now: who asks again as soon as he has his answer
// has nothing in hand while that is on its way.
//
// Invariant: while somebody of a user waits the user has requests in hand, or next() will be asked;
// so nobody waits for ever. Belongs to one thread. All O(1) but forget().
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/check.hpp"

namespace sluice::host {

template <typename Waiting>
class Shares {
 public:
  static constexpr std::size_t kLeast = 4;

  explicit Shares(std::size_t total) : total_(total) {}

  void begin(const std::string& user) {
    Share& share = users_[user];
    ++share.in_hand;
    share.asked = true;
  }

  /// REQUIRES: a request of the user's was begun and has not ended.
  void end(const std::string& user) {
    const auto known = users_.find(user);
    SLUICE_CHECK(known != users_.end() && known->second.in_hand > 0, user,
                 " has no request in hand that could end");
    --known->second.in_hand;
  }

  /// Whether he has his share in hand.
  bool full(const std::string& user) const {
    const auto known = users_.find(user);
    return known != users_.end() && known->second.in_hand >= share();
  }

  void wait(const std::string& user, Waiting who) {
    users_[user].waiting.push_back(std::move(who));
  }

  /// Whoever of the user's has waited longest, unless the user has his share in hand.
  std::optional<Waiting> next(const std::string& user) {
    const auto known = users_.find(user);
    if (known == users_.end() || known->second.waiting.empty() || full(user)) return std::nullopt;
    std::optional<Waiting> out(std::move(known->second.waiting.front()));
    known->second.waiting.pop_front();
    return out;
  }

  bool waits(const std::string& user) const {
    const auto known = users_.find(user);
    return known != users_.end() && !known->second.waiting.empty();
  }

  /// Whoever has nothing in hand and did not ask since the last call has no share from here on.
  /// Whether anybody has one. O(users).
  bool forget() {
    for (auto user = users_.begin(); user != users_.end();) {
      Share& share = user->second;
      const bool asked = std::exchange(share.asked, false);
      const bool idle = !asked && share.in_hand == 0 && share.waiting.empty();
      user = idle ? users_.erase(user) : std::next(user);
    }
    return !users_.empty();
  }

 private:
  struct Share {
    std::size_t in_hand = 0;
    bool asked = false;  // since the last forget()
    std::deque<Waiting> waiting;
  };

  std::size_t share() const {
    return std::max(kLeast, total_ / std::max<std::size_t>(1, users_.size()));
  }

  const std::size_t total_;
  std::unordered_map<std::string, Share> users_;
};

}  // namespace sluice::host
