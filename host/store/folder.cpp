#include "host/store/folder.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "host/base/files.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

Error failed(const std::string& path, const char* what) {
  return Error{path + ": " + what + ": " + std::strerror(errno)};
}

std::string parent_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

// A folder that existed before may hold secrets soon: other users may not look into it.
Result<void> make_private(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return failed(path, "cannot be read");
  if (!S_ISDIR(info.st_mode)) return Error{path + ": is a file; a store is a folder"};
  if ((info.st_mode & 077U) == 0) return {};
  std::error_code code;
  const bool ours = fs::is_empty(path, code) || fs::exists(StoreFolder::database(path), code);
  if (!ours || ::chmod(path.c_str(), 0700) != 0)
    return Error{path + ": other users may enter this folder; a store wants mode 0700: chmod 700 " +
                 path};
  return {};
}

Result<void> make_folder(const std::string& path) {
  std::error_code code;
  fs::create_directories(parent_of(path), code);
  if (code) return Error{parent_of(path) + ": cannot be made: " + code.message()};
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno != EEXIST) return failed(path, "cannot be made");
    return make_private(path);
  }
  return sync_folder(parent_of(path));
}

// The process that holds the lock, as the lock file says; 0: it does not say.
pid_t holder(int lock) {
  char text[32] = {};
  const ssize_t size = ::pread(lock, text, sizeof text - 1, 0);
  return size <= 0 ? 0 : static_cast<pid_t>(std::strtol(text, nullptr, 10));
}

// A host that was killed while it was starting a process leaves the lock to that for the moment
// until it is a program of its own: what belongs to a process that is gone is waited for.
bool take_lock(int file, pid_t owner) {
  constexpr int kLooks = 200;
  for (int look = 0; ::flock(file, LOCK_EX | LOCK_NB) != 0; ++look) {
    if (errno != EWOULDBLOCK) return false;
    const bool gone = owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH;
    errno = EWOULDBLOCK;
    if (!gone || look == kLooks) return false;
    ::poll(nullptr, 0, 10);
  }
  return true;
}

}  // namespace

Result<StoreFolder> StoreFolder::open(const std::string& path) {
  std::string clean = path;
  while (clean.size() > 1 && clean.back() == '/') clean.pop_back();
  if (Result<void> made = make_folder(clean); !made) return made.error();

  StoreFolder out(clean);
  const std::string file = clean + "/lock";
  // Not through a link: what it leads to would be written over.
  out.lock_ = Fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!out.lock_) return failed(file, "cannot be opened");
  out.folder_ = Fd(::open(clean.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!out.folder_) return failed(clean, "cannot be opened");
  const pid_t before = holder(out.lock_.get());
  const bool mine = take_lock(out.lock_.get(), before);
  if (!mine && errno != EWOULDBLOCK) return failed(file, "cannot be locked");
  // Some network file systems lock files only.
  if (!mine || (!take_lock(out.folder_.get(), before) && errno == EWOULDBLOCK))
    return Error{clean + ": " +
                 (before > 0 ? "process " + std::to_string(before) : "another process") +
                 " has this store open; stop it, or choose another store.path"};
  const std::string pid = std::to_string(::getpid()) + "\n";
  const bool written =
      ::ftruncate(out.lock_.get(), 0) == 0 &&
      ::pwrite(out.lock_.get(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  if (!written) return failed(file, "cannot be written");
  return out;
}

Result<void> StoreFolder::check_fresh(const std::string& path) {
  for (const char* name : {"store.mark", "pki", "kubeconfig", "executor"}) {
    std::error_code code;
    if (!fs::exists(path + "/" + name, code)) continue;
    return Error{database(path) + ": is empty or missing, but " + path + "/" + name +
                 " tells that there was a store: go back to a backup, or, to begin with nothing, "
                 "move " +
                 path + " away"};
  }
  return {};
}

Result<void> create_private_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file) return sync_folder(parent_of(path));
  if (errno != EEXIST) return failed(path, "cannot be made");
  return {};
}

}  // namespace sluice::host
