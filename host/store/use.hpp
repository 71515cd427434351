// UseTable: how many objects and bytes a store holds, in all and by namespace.
//
// Changed by the kernel's thread; total() may be read from any thread, of() by that one.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host/objects/store.hpp"

namespace sluice::host {

struct StoreUse {
  std::size_t objects = 0;
  std::size_t bytes = 0;  ///< of their texts, as they are stored
};

/// What an object takes.
std::size_t stored_bytes(const StoredObject& object);

class UseTable {
 public:
  void add(const StoredObject& object);
  void remove(const StoredObject& object);

  StoreUse total() const;
  StoreUse of(std::string_view ns) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::atomic<std::size_t> objects_ = 0, bytes_ = 0;
  std::unordered_map<std::string, StoreUse, Hash, std::equal_to<>> by_namespace_;
};

}  // namespace sluice::host
