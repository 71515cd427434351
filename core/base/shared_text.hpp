// SharedTexts: each distinct text once, for as long as somebody has it.
//
// Where a StringPool gives numbers of texts that stay (names), this gives handles of texts that
// come and go (sentences that name a workload): with the last handle goes the text. Invariant: two
// handles of one pool are equal exactly when their texts are. The pool outlives its handles; one
// thread at a time makes, copies and drops them, any number may read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/text_map.hpp"

namespace sluice {

class SharedTexts;

/// A text of a pool; without one, the empty text.
class SharedText {
 public:
  SharedText() = default;
  SharedText(const SharedText& other) : kept_(other.kept_) { use(); }
  SharedText(SharedText&& other) noexcept : kept_(std::exchange(other.kept_, nullptr)) {}
  SharedText& operator=(SharedText other) noexcept {
    std::swap(kept_, other.kept_);
    return *this;
  }
  ~SharedText() { drop(); }

  const std::string& text() const;
  bool operator==(const SharedText& other) const { return kept_ == other.kept_; }
  bool operator==(std::string_view other) const { return text() == other; }

 private:
  friend class SharedTexts;
  struct Uses {
    SharedTexts* pool = nullptr;
    std::size_t count = 0;
  };
  using Kept = std::pair<const std::string, Uses>;

  explicit SharedText(Kept* kept) : kept_(kept) { use(); }
  void use() const {
    if (kept_) ++kept_->second.count;
  }
  inline void drop();

  Kept* kept_ = nullptr;
};

class SharedTexts {
 public:
  SharedTexts() = default;
  SharedTexts(const SharedTexts&) = delete;
  SharedTexts& operator=(const SharedTexts&) = delete;

  SharedText intern(std::string_view text) {
    if (text.empty()) return SharedText();
    auto it = kept_.find(text);
    if (it == kept_.end()) it = kept_.emplace(std::string(text), SharedText::Uses{this, 0}).first;
    return SharedText(&*it);
  }

  std::size_t size() const { return kept_.size(); }

 private:
  friend class SharedText;
  void forget(const std::string& text) { kept_.erase(kept_.find(text)); }

  TextMap<SharedText::Uses> kept_;
};

inline const std::string& SharedText::text() const {
  static const std::string empty;
  return kept_ ? kept_->first : empty;
}

inline void SharedText::drop() {
  if (kept_ && --kept_->second.count == 0) kept_->second.pool->forget(kept_->first);
}

}  // namespace sluice
