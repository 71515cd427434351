// SweepPace: when a pool of texts looks for unreferenced texts: once it has taken in as many texts,
// or as many bytes, as it kept at the last sweep.
//
// So unreferenced texts never take more than referenced ones (or the least amounts below), and
// sweeping costs O(1) per text and per byte, amortised. Belongs to the pool, under its lock.
#pragma once

#include <algorithm>
#include <cstddef>

namespace sluice {

class SweepPace {
 public:
  explicit SweepPace(std::size_t least_texts) : least_texts_(least_texts) {}

  void took(std::size_t bytes) {
    ++texts_;
    bytes_ += bytes;
  }
  bool due() const { return texts_ >= at_texts() || bytes_ >= at_bytes(); }
  /// It was looked, and these are held.
  void swept(std::size_t texts, std::size_t bytes) {
    kept_texts_ = texts;
    kept_bytes_ = bytes;
    texts_ = bytes_ = 0;
  }

 private:
  static constexpr std::size_t kLeastBytes = 16U << 20;

  std::size_t at_texts() const { return std::max(least_texts_, kept_texts_); }
  std::size_t at_bytes() const { return std::max(kLeastBytes, kept_bytes_); }

  std::size_t least_texts_;
  std::size_t texts_ = 0, bytes_ = 0;  // taken in since
  std::size_t kept_texts_ = 0, kept_bytes_ = 0;
};

}  // namespace sluice
