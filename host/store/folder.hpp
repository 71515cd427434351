// StoreFolder: the folder of a store on disk, held by one process at a time.
//
// Made with mode 0700. The lock is the kernel's (flock on PATH/lock and on PATH itself, so that
// removing the file does not let a second host in), and ends with the process however that ends;
// the number in the file only shows users which process holds it.
#pragma once

#include <string>
#include <utility>

#include "core/base/result.hpp"
#include "host/base/fd.hpp"

namespace sluice::host {

class StoreFolder {
 public:
  /// Makes the folder where there is none, and its parents; takes the lock.
  static Result<StoreFolder> open(const std::string& path);

  const std::string& path() const { return path_; }
  /// Where the objects are.
  static std::string database(const std::string& path) { return path + "/store.db"; }
  /// How far it was acknowledged; see Mark.
  static std::string mark(const std::string& path) { return path + "/store.mark"; }
  /// An error unless a store may be made here: there is nothing of one whose database is gone.
  static Result<void> check_fresh(const std::string& path);

 private:
  explicit StoreFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
  Fd lock_, folder_;  // both are held
};

/// Creates the file with mode 0600 where there is none, durably.
Result<void> create_private_file(const std::string& path);

}  // namespace sluice::host
