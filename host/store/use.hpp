// UseTable: how many objects and bytes a store holds, in all and by namespace.
//
// Changed by the kernel's thread; total() may be read from any thread, of() by that one.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/text_map.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

struct StoreUse {
  std::size_t objects = 0;
  std::size_t bytes = 0;    ///< of their texts, as they are stored
  std::size_t charged = 0;  ///< what counts against limits; see charged_bytes()
};

/// What an object takes.
std::size_t stored_bytes(const StoredObject& object);

/// An object is held in more forms than its text: in the past that watches read, decoded, on its
/// way to clients and to the disk. Of usual ones the limits on bytes take account of that; few of
/// unusual size would go beyond it, so what lies beyond this counts so many times.
inline constexpr std::size_t kUsualBytes = 16U << 10;
inline constexpr std::size_t kUnusualFactor = 8;
constexpr std::size_t charged_bytes(std::size_t bytes) {
  return bytes <= kUsualBytes ? bytes : bytes + (kUnusualFactor - 1) * (bytes - kUsualBytes);
}

class UseTable {
 public:
  void add(const StoredObject& object);
  void remove(const StoredObject& object);

  StoreUse total() const;
  StoreUse of(std::string_view ns) const;

 private:
  std::atomic<std::size_t> objects_ = 0, bytes_ = 0, charged_ = 0;
  TextMap<StoreUse> by_namespace_;
};

}  // namespace sluice::host
