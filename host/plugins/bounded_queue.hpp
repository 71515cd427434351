// BoundedQueue: what a plugin leaves for the host to take, up to so many and so many bytes: nobody
// knows when the host comes for it.
//
// No lock of its own.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace sluice::host {

template <typename T>
class BoundedQueue {
 public:
  static constexpr std::size_t kMost = 200'000;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  /// `bytes`: of its texts. False: it is full, and nothing was added.
  bool add(T item, std::size_t bytes) {
    bytes += sizeof(T);
    if (items_.size() >= kMost || bytes > kMostBytes - bytes_) return false;
    items_.push_back(std::move(item));
    bytes_ += bytes;
    return true;
  }
  std::vector<T> take() {
    bytes_ = 0;
    return std::exchange(items_, {});
  }

 private:
  std::vector<T> items_;
  std::size_t bytes_ = 0;  // no more than kMostBytes
};

}  // namespace sluice::host
