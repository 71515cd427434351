// UidTable: objects by their UIDs. An API server's UIDs are UUIDs, which are kept as the numbers
// that they are; a UID of any other form is kept as its text. Single-threaded; O(1).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/types/uid.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class UidTable {
 public:
  /// In place of what had the UID before.
  void put(std::string_view uid, ObjectRef ref);
  void erase(std::string_view uid);
  /// nullptr: nothing has it. Valid until the next change.
  const ObjectRef* find(std::string_view uid) const;

 private:
  struct Hash {
    // Their last digits are random, or count.
    std::size_t operator()(const UidNumber& uid) const noexcept { return uid.low ^ uid.high; }
  };
  struct Same {
    bool operator()(const UidNumber& a, const UidNumber& b) const noexcept {
      return a.high == b.high && a.low == b.low;
    }
  };

  std::unordered_map<UidNumber, ObjectRef, Hash, Same> uuids_;
  std::unordered_map<std::string, ObjectRef> others_;
};

}  // namespace sluice::host
