// Births: where objects come to be that the Machine makes itself: at once in its store, or, where
// that follows another store, in that one first.
//
// Belongs to the kernel's thread.
#pragma once

#include "host/objects/store.hpp"

namespace sluice::host {

class Births {
 public:
  virtual ~Births() = default;
  /// Asked of each object that is new to the store. True: it was asked for where it comes from, and
  /// is committed when it arrives from there.
  virtual bool elsewhere(const StoredObject& object) = 0;
};

}  // namespace sluice::host
