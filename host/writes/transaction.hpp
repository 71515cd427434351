// Transaction: changes that take effect together, or not at all.
//
// While one is open, what is written through the ObjectWriter is kept in it: reads on this thread
// see it, as it would be stored; neither the engine nor any watcher gets it. Each change was
// validated against what the earlier ones left, so commit() cannot be refused: it lets the changes
// take effect in their order, and what follows from each with it (dependents of what is deleted; a
// workload whose status says that it is finished ends). A transaction that is dropped, or
// forgotten, leaves nothing. One at a time; the kernel's thread. One that is suspended is not open:
// what it holds comes back with resume(), unless others changed one of its objects meanwhile.
#pragma once

#include <memory>

#include "core/base/result.hpp"
#include "host/kernel/staged_changes.hpp"
#include "host/writes/object_writer.hpp"

namespace sluice::host {

class Transaction {
 public:
  /// `objects` must outlive it. REQUIRES: none is open.
  explicit Transaction(ObjectWriter& objects);
  ~Transaction() { drop(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Everything takes effect. Ends the transaction.
  void commit();
  /// Nothing does. Ends the transaction.
  void drop();
  /// REQUIRES: open.
  void suspend();
  /// An error names the object that others changed; it ends the transaction. REQUIRES: suspended.
  Result<void> resume();

 private:
  void apply(PreparedObject object);
  void apply(const StagedErase& erase);

  ObjectWriter& objects_;
  bool open_ = true;
  std::unique_ptr<StagedChanges> aside_;  // while suspended
};

}  // namespace sluice::host
