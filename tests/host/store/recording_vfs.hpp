// RecordingVfs: SQLite's view of a file system that writes down what is written, and can be made to
// fail. On top of the real one. From the record, what a disk may hold after a power cut at any
// point can be put together: all that was synced, and any part of what was not.
//
// One test at a time; SQLite calls it on the thread that uses the database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

struct sqlite3_vfs;

namespace sluice::host::test {

class RecordingVfs {
 public:
  struct Operation {
    enum class Type { kWrite, kTruncate, kSync, kDelete, kMark };
    Type type;
    std::string file;  ///< its name without the folder
    std::size_t offset = 0;
    std::string data;
    std::size_t mark = 0;
  };
  enum class Failure { kNone, kWrite, kFull, kSync };

  RecordingVfs();
  ~RecordingVfs();
  RecordingVfs(const RecordingVfs&) = delete;
  RecordingVfs& operator=(const RecordingVfs&) = delete;

  const char* name() const { return "sluice-recording"; }

  /// A place in the record, for the test.
  void mark(std::size_t number);
  const std::vector<Operation>& record() const { return record_; }

  /// The n-th write or sync from now on (from 1) fails, and all of its kind after it.
  void fail(Failure what, std::size_t at);
  /// Calls since fail(), of the kind that fails.
  std::size_t calls() const { return calls_; }
  bool failed() const { return what_ != Failure::kNone && calls_ >= at_; }

  // For the calls of SQLite.
  int on_write(const std::string& file, const void* data, int size, std::int64_t offset);
  int on_sync(const std::string& file);
  void on_truncate(const std::string& file, std::int64_t size);
  void on_delete(const std::string& file, bool sync);

 private:
  void add(Operation operation);

  sqlite3_vfs* vfs_ = nullptr;
  std::vector<Operation> record_;
  Failure what_ = Failure::kNone;
  std::size_t at_ = 0, calls_ = 0;
};

/// Files by name.
using DiskImage = std::map<std::string, std::string>;

/// A disk onto which a record is played, one operation after the other: what was synced, and what
/// was not yet. The operations have to outlive it.
class RecordedDisk {
 public:
  void play(const RecordingVfs::Operation& operation);
  /// What may be on it when the power goes now: each operation that was not synced is there, is
  /// missing, or is there in part.
  DiskImage after_power_cut(std::mt19937_64& random) const;

 private:
  DiskImage synced_;
  std::map<std::string, std::vector<const RecordingVfs::Operation*>> unsynced_;  // by file
};

}  // namespace sluice::host::test
