// StartQueue: pods of this machine that are to be started, one after the other.
//
// Namespaces take turns; of one namespace who was added first comes first. So who brings many pods
// keeps others waiting for one start each, not for all of them. A pod stands in it at most once.
// One thread.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace sluice::host {

class StartQueue {
 public:
  struct Pod {
    std::string uid, key;
    bool operator==(const Pod&) const = default;
  };

  /// No-op for one that stands in it.
  void add(const Pod& pod);
  /// No-op for one that does not.
  void drop(const std::string& uid) { keys_.erase(uid); }
  void clear();
  /// Takes out the one whose turn it is; nullopt: there is none. O(log namespaces), amortised.
  std::optional<Pod> next();
  bool empty() const { return keys_.empty(); }

 private:
  std::map<std::string, std::deque<std::string>> lines_;  // UIDs by namespace, dropped ones too
  std::unordered_map<std::string, std::string> keys_;     // by UID
  std::string last_;                                      // the namespace that had its turn
};

}  // namespace sluice::host
