// LabelWords: words that objects and plugins bring, as values of a label.
//
// Invariant: it gives no more different words than a limit, and those it was made with always. A
// label with as many values as somebody thinks of fills the memory of the host, and of whoever
// reads its metrics. One thread.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

namespace sluice::host {

class LabelWords {
 public:
  static constexpr const char* kOther = "Other";

  /// `known` have a place of their own beside the `most` first others that come.
  LabelWords(std::initializer_list<std::string_view> known, std::size_t most)
      : words_(known.begin(), known.end()), most_(words_.size() + most) {}

  /// The word itself, or kOther for one that comes when there are too many. O(log n).
  std::string take(const std::string& word) {
    if (words_.contains(word)) return word;
    if (words_.size() >= most_) return kOther;
    words_.insert(word);
    return word;
  }

 private:
  std::set<std::string> words_;
  std::size_t most_;
};

}  // namespace sluice::host
