// TextPool: equal texts share one copy.
//
// Most objects of a trace differ in their metadata alone, so their bodies are kept once. Texts that
// nobody holds any more are dropped as the pool grows. Used by one thread at a time; the texts
// themselves are immutable and may be read from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sluice::host {

class TextPool {
 public:
  using Text = std::shared_ptr<const std::string>;

  /// O(length of the text), amortised.
  Text intern(std::string_view text);
  /// Distinct texts that are kept.
  std::size_t size() const { return texts_.size(); }

 private:
  void sweep();

  std::unordered_map<std::string_view, Text> texts_;  // the key is a view of the value
  std::size_t sweep_at_ = 4096;
};

}  // namespace sluice::host
