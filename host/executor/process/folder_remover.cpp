#include "host/executor/process/folder_remover.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "host/base/fd.hpp"
#include "host/base/files.hpp"
#include "host/base/log.hpp"
#include "host/executor/process/linked_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 32;

/// One removal. A folder below the deepest level is moved up to the top, and its turn comes again.
class Removal {
 public:
  Removal(const fs::path& folder, const std::atomic<bool>& stop) : folder_(folder), stop_(stop) {}

  Result<void> run() {
    top_ = open_folder(AT_FDCWD, folder_.c_str());
    if (!top_) return errno == ENOENT ? Result<void>() : system_error("cannot open", folder_);
    do {
      moved_ = false;
      empty(open_folder(top_.get(), "."), 0);
    } while (moved_ && !stop_);
    if (stop_) return {};
    if (problem_) return *problem_;
    if (::rmdir(folder_.c_str()) != 0 && errno != ENOENT)
      return system_error("cannot remove", folder_);
    return {};
  }

 private:
  /// Also one that its owner closed.
  static Fd open_folder(int in, const char* name) {
    constexpr int kHow = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Fd out(::openat(in, name, kHow));
    if (out || errno != EACCES || ::fchmodat(in, name, S_IRWXU, 0) != 0) return out;
    return Fd(::openat(in, name, kHow));
  }

  void note(const char* name) {
    if (!problem_ && errno != ENOENT)
      problem_ = system_error("cannot remove", folder_ / "…" / name);
  }

  void empty(Fd folder, int depth) {
    const std::unique_ptr<DIR, int (*)(DIR*)> all(folder ? ::fdopendir(folder.get()) : nullptr,
                                                  &::closedir);
    if (!all) return note(".");
    const int in = folder.release();
    while (const dirent* each = stop_ ? nullptr : ::readdir(all.get())) {
      const std::string_view name = each->d_name;
      if (name == "." || name == "..") continue;
      if (::unlinkat(in, each->d_name, 0) == 0) continue;
      if (errno == EISDIR || errno == EPERM)
        remove_folder(in, each->d_name, depth);
      else
        note(each->d_name);
    }
  }

  void remove_folder(int in, const char* name, int depth) {
    if (depth == kDeepest) {
      if (!move_up(in, name)) return note(name);
      moved_ = true;
      return;
    }
    empty(open_folder(in, name), depth + 1);
    if (!stop_ && ::unlinkat(in, name, AT_REMOVEDIR) != 0) note(name);
  }

  /// To a name that nothing has there.
  bool move_up(int in, const char* name) {
    do {
      const std::string there = "deep-" + std::to_string(++number_);
      if (::renameat2(in, name, top_.get(), there.c_str(), RENAME_NOREPLACE) == 0) return true;
    } while (errno == EEXIST && !stop_);
    return false;
  }

  const fs::path& folder_;
  const std::atomic<bool>& stop_;
  Fd top_;
  std::uint64_t number_ = 0;
  bool moved_ = false;
  std::optional<Error> problem_;
};

void remove_all_of(const FolderRemover::Leftover& leftover, const std::atomic<bool>& stop) {
  std::vector<fs::path> folders;
  for (const std::string& link : leftover.links)
    if (auto target = linked_folder(leftover.folder / link, leftover.name))
      folders.push_back(std::move(*target));
  folders.push_back(leftover.folder);
  for (const fs::path& folder : folders) {
    const Result<void> removed = remove_tree(folder, stop);
    if (stop) return;
    if (removed) continue;
    log(LogLevel::kWarning, "executor", "what a pod left cannot be removed; the next start tries",
        {{"folder", folder.string()}, {"reason", removed.error().text}});
    return;  // the links are needed then
  }
}

}  // namespace

Result<void> remove_tree(const fs::path& folder, const std::atomic<bool>& stop) {
  return Removal(folder, stop).run();
}

void FolderRemover::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FolderRemover::remove(Leftover leftover) {
  const std::lock_guard lock(mutex_);
  if (stop_) return;
  queue_.push_back(std::move(leftover));
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  changed_.notify_all();
}

void FolderRemover::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() || stop_; });
}

void FolderRemover::loop() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (queue_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const Leftover next = queue_.front();
    lock.unlock();
    remove_all_of(next, stop_);
    lock.lock();
    queue_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace sluice::host
