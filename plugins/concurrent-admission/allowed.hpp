// AllowedFlavors: the flavors that a workload may have, by its key; of those that limit them.
//
// Nobody is told of every workload that ends, so the table holds some that have: who needs theirs
// no more is to be looked for whenever it is full. Who was noted since the last time is kept then,
// because a workload is asked about before it is written; so there is room for as many of those as
// of the others. Written in [control] calls, read by the hooks of a cycle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace options {

class AllowedFlavors {
 public:
  static constexpr std::size_t kFew = 1024;  ///< fewer are not looked through

  void set(std::string key, std::vector<std::string> flavors) {
    noted_.insert_or_assign(std::move(key), Noted{std::move(flavors)});
  }
  void erase(const std::string& key) { noted_.erase(key); }
  /// nullptr: the workload may have all.
  const std::vector<std::string>* find(const std::string& key) const {
    const auto found = noted_.find(key);
    return found == noted_.end() ? nullptr : &found->second.flavors;
  }

  bool is_full() const { return noted_.size() >= full_; }
  /// needed(key): the workload is there, and may be asked about.
  template <typename Needed>
  void keep_if(const Needed& needed) {
    std::erase_if(noted_,
                  [&](const auto& each) { return !each.second.is_new && !needed(each.first); });
    std::size_t known = 0;
    for (auto& [key, noted] : noted_) known += std::exchange(noted.is_new, false) ? 0 : 1;
    full_ = noted_.size() + std::max(kFew, known);
  }
  std::size_t size() const { return noted_.size(); }

 private:
  struct Noted {
    std::vector<std::string> flavors;
    bool is_new = true;  ///< since it was last looked who is needed
  };
  std::unordered_map<std::string, Noted> noted_;
  std::size_t full_ = kFew;
};

}  // namespace options
