// StringPool: each distinct text once, named by a dense number.
//
// Invariant: ids are handed out in order of first use from 0 and never change; text(id) stays valid
// as long as the pool. Used by one thread at a time for intern(); text() may be called concurrently
// with other text() calls. Id 0 is always the empty text.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sluice {

using StringId = std::uint32_t;

class StringPool {
 public:
  StringPool() { intern(""); }
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  StringId intern(std::string_view text) {
    if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    const auto id = static_cast<StringId>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(std::string_view(texts_.back()), id);
    return id;
  }

  const std::string& text(StringId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque keeps the views in ids_ valid
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace sluice
