// A folder of one test's own, however many run at a time, that is gone after it. Made below the
// folder for temporary files, and removed with everything in it by the destructor.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sluice::host::test {

class TemporaryFolder {
 public:
  /// Memory where the system has such a folder and TMPDIR names no other: for tests that sync
  /// often and need no disk.
  enum class Where { kDisk, kMemory };

  explicit TemporaryFolder(Where where = Where::kDisk) {
    std::string parent = std::filesystem::temp_directory_path().string();
    if (where == Where::kMemory && std::getenv("TMPDIR") == nullptr &&
        ::access("/dev/shm", W_OK) == 0)
      parent = "/dev/shm";
    std::string name = parent + "/sluice-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Of a file or folder; 0: there is none.
inline mode_t permissions_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777U : 0;
}

}  // namespace sluice::host::test
