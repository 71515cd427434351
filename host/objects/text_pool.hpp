// TextPool: equal texts share one copy.
//
// Most objects of a trace differ in their metadata alone, so their bodies are kept once.
// Unreferenced texts are dropped as the pool grows. Any thread; the texts are immutable.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/sweep_pace.hpp"

namespace sluice::host {

class TextPool {
 public:
  using Text = std::shared_ptr<const std::string>;

  /// O(length of the text), amortised.
  Text intern(std::string_view text);
  /// Distinct texts that are kept.
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return texts_.size();
  }

 private:
  void sweep();

  mutable std::mutex mutex_;
  // Guarded by mutex_, as the rest; the key is a view of the value.
  std::unordered_map<std::string_view, Text> texts_;
  SweepPace pace_{4096};
};

}  // namespace sluice::host
