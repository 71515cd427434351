// FairQueue: what waits for the thread that writes, in lanes by user.
//
// The lanes take turns, an item each; within a lane the order is first in, first out. So a user
// with a thousand waiting requests makes all others wait for one of them, not for a thousand.
// Invariant: no lane is empty. Not synchronised: its holder has a lock.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace sluice::host {

template <typename Item>
class FairQueue {
 public:
  void push(const std::string& who, Item item) {
    const auto [known, fresh] = places_.try_emplace(who);
    if (fresh) known->second = lanes_.insert(lanes_.end(), Lane{who, {}});
    known->second->items.push_back(std::move(item));
    ++size_;
  }

  /// nullopt when nothing waits.
  std::optional<Item> pop() {
    if (lanes_.empty()) return std::nullopt;
    Lane& lane = lanes_.front();
    std::optional<Item> out(std::move(lane.items.front()));
    lane.items.pop_front();
    --size_;
    if (lane.items.empty()) {
      places_.erase(lane.who);
      lanes_.pop_front();
    } else {
      lanes_.splice(lanes_.end(), lanes_, lanes_.begin());
    }
    return out;
  }

  /// The user's items that wait.
  std::size_t size_of(const std::string& who) const {
    const auto known = places_.find(who);
    return known == places_.end() ? 0 : known->second->items.size();
  }

  /// Takes the last item of the longest lane away, if that has more than `most` of them; `spared`
  /// is not looked at. O(lanes).
  std::optional<Item> shed(std::size_t most, const std::string& spared) {
    auto longest = lanes_.end();
    for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane)
      if (lane->items.size() > most && lane->who != spared) {
        longest = lane;
        most = lane->items.size();
      }
    if (longest == lanes_.end()) return std::nullopt;
    std::optional<Item> out(std::move(longest->items.back()));
    longest->items.pop_back();
    --size_;
    if (longest->items.empty()) {
      places_.erase(longest->who);
      lanes_.erase(longest);
    }
    return out;
  }

  /// The user that has its turn; nullptr when nothing waits. Valid until the queue changes.
  const std::string* next() const { return lanes_.empty() ? nullptr : &lanes_.front().who; }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Lane {
    std::string who;
    std::deque<Item> items;
  };
  std::list<Lane> lanes_;  // in the order of their turns
  std::unordered_map<std::string, typename std::list<Lane>::iterator> places_;
  std::size_t size_ = 0;
};

}  // namespace sluice::host
