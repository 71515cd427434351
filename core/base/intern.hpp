// StringPool: each distinct text once, named by a dense number.
//
// Invariant: ids are handed out in order of first use from 0, those of forgotten texts first, and
// do not change while the text is known; nor does its place in memory. Id 0 is always the empty
// text. Used by one thread at a time for intern() and retain(); text() may be called concurrently
// with other text() calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

using StringId = std::uint32_t;

class StringPool {
 public:
  StringPool() { intern(""); }
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  StringId intern(std::string_view text) {
    if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    StringId id = static_cast<StringId>(texts_.size());
    if (free_.empty()) {
      texts_.emplace_back(text);
    } else {
      id = free_.back();
      free_.pop_back();
      texts_[id] = text;
    }
    ids_.emplace(std::string_view(texts_[id]), id);
    return id;
  }

  const std::string& text(StringId id) const { return texts_[id]; }
  /// One more than the greatest id.
  std::size_t size() const { return texts_.size(); }
  std::size_t known() const { return ids_.size(); }

  /// Forgets the texts whose ids are not `used`: nobody may have one of these any more. Returns the
  /// bytes of those that stay. O(size()).
  std::size_t retain(const std::vector<bool>& used) {
    std::size_t bytes = 0;
    free_.clear();
    for (std::size_t i = texts_.size(); i-- > 1;) {
      const auto id = static_cast<StringId>(i);
      const bool stays = id < used.size() && used[id];
      if (stays) {
        bytes += texts_[id].size();
        continue;
      }
      if (const auto it = ids_.find(texts_[id]); it != ids_.end() && it->second == id)
        ids_.erase(it);
      texts_[id] = std::string();
      free_.push_back(id);
    }
    return bytes;
  }

 private:
  std::deque<std::string> texts_;  // a deque keeps the views in ids_ valid
  std::unordered_map<std::string_view, StringId> ids_;
  std::vector<StringId> free_;  // of forgotten texts, the least one last
};

}  // namespace sluice
