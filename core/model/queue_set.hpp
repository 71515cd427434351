// QueueSet: queues by number, passed through in order of number.
//
// A bit for each queue, so that a pass over a thousand of which none is in the set costs next to
// nothing. The engine's thread only.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/hooks/hooks.hpp"

namespace sluice {

class QueueSet {
 public:
  void insert(hooks::QueueId id) {
    if (words_.size() <= id / kBits) words_.resize(id / kBits + 1);
    words_[id / kBits] |= bit(id);
  }
  /// fn(id) for each; false takes it out of the set. What fn inserts meanwhile may be passed by.
  template <typename Fn>
  void keep_if(Fn&& fn) {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t left = words_[w]; left != 0; left &= left - 1) {
        const auto id =
            static_cast<hooks::QueueId>(w * kBits + static_cast<unsigned>(std::countr_zero(left)));
        if (!fn(id)) words_[w] &= ~bit(id);
      }
    }
  }

 private:
  static constexpr std::size_t kBits = 64;
  static std::uint64_t bit(hooks::QueueId id) { return std::uint64_t{1} << (id % kBits); }

  std::vector<std::uint64_t> words_;
};

}  // namespace sluice
