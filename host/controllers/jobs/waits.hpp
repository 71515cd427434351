// Waits: which one each of many waits for, to be looked up from both sides.
//
// Invariant: each waits for one at most, and is among those that wait for it. One thread.
#pragma once

#include <map>
#include <set>

namespace sluice::host {

template <typename Waiter, typename Awaited>
class Waits {
 public:
  /// Instead of what it waited for. O(log n), as all others.
  void set(const Waiter& waiter, const Awaited& awaited) {
    erase(waiter);
    awaited_.emplace(waiter, awaited);
    waiters_[awaited].insert(waiter);
  }
  void erase(const Waiter& waiter) {
    const auto wait = awaited_.find(waiter);
    if (wait == awaited_.end()) return;
    const auto all = waiters_.find(wait->second);
    all->second.erase(waiter);
    if (all->second.empty()) waiters_.erase(all);
    awaited_.erase(wait);
  }
  bool empty() const { return awaited_.empty(); }
  bool has(const Waiter& waiter) const { return awaited_.contains(waiter); }
  /// Those that wait for it, valid until the next change.
  const std::set<Waiter>& of(const Awaited& awaited) const {
    static const std::set<Waiter> kNone;
    const auto found = waiters_.find(awaited);
    return found == waiters_.end() ? kNone : found->second;
  }

 private:
  std::map<Waiter, Awaited> awaited_;
  std::map<Awaited, std::set<Waiter>> waiters_;  // none is empty
};

}  // namespace sluice::host
