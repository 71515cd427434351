// FolderRemover: removes what pods left, on a thread of its own, one after the other.
//
// A pod may leave a million files, or folders one in the other as deep as it likes: removing them
// takes minutes, and holds up nobody. What is not done when it ends, or cannot be removed, stays
// where it is: who opens the folder again asks again. remove() from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

/// Removes a folder with all that is in it, following no link, with some forty descriptors however
/// deep it is. Ends early, without error, when `stop` becomes true. The first thing that could not
/// be removed is the error; all else is.
Result<void> remove_tree(const std::filesystem::path& folder, const std::atomic<bool>& stop);

class FolderRemover {
 public:
  struct Leftover {
    std::filesystem::path folder;
    std::string name;                ///< of the folders elsewhere to which these lead, …
    std::vector<std::string> links;  ///< … links in it, as link_folder() makes them; those go first
  };

  FolderRemover() = default;
  ~FolderRemover() { stop(); }
  FolderRemover(const FolderRemover&) = delete;
  FolderRemover& operator=(const FolderRemover&) = delete;

  void remove(Leftover leftover);
  /// From then on nothing more is removed. Waits for one file at most.
  void stop();
  /// Until nothing is to be removed any more. For tests.
  void wait();

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Leftover> queue_;  // the first one is being removed
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // from the first remove() on
};

}  // namespace sluice::host
