// DueTimes: keys, each with a time, in the order of these times and then of the keys.
//
//   DueTimes<std::string> due;
//   due.set("a", now + kSecond);                         // in place of the time that it had
//   while (const auto key = due.take_due(now)) look_at(*key);
//
// Invariant: a key has one time at most. One thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/time.hpp"

namespace sluice::host {

template <typename Key>
class DueTimes {
 public:
  /// O(log n), as all others.
  void set(const Key& key, Time at) {
    erase(key);
    times_.emplace(key, at);
    in_order_.emplace(at, key);
  }
  void erase(const Key& key) {
    const auto found = times_.find(key);
    if (found == times_.end()) return;
    in_order_.erase({found->second, key});
    times_.erase(found);
  }
  bool has(const Key& key) const { return times_.contains(key); }
  std::size_t size() const { return times_.size(); }
  const std::map<Key, Time>& all() const { return times_; }

  /// kNever without one.
  Time next() const { return in_order_.empty() ? kNever : in_order_.begin()->first; }
  /// The first one, which it then has no more; nullopt: none is due.
  std::optional<Key> take_due(Time now) {
    if (in_order_.empty() || next() > now) return std::nullopt;
    Key key = in_order_.begin()->second;
    erase(key);
    return key;
  }

 private:
  std::map<Key, Time> times_;
  std::set<std::pair<Time, Key>> in_order_;  // the same
};

}  // namespace sluice::host
