// The pages of a cluster, which declare kinds of jobs, and whether this controller may follow them.
//
// A kind that may not be listed would never come, and whoever decides waits for all kinds: one page
// without rights would hold up everything. So the rights are asked for first, and a page whose kind
// may not be followed is not served, and says so, until the rights are there.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "host/client/kubeconfig.hpp"
#include "host/client/link.hpp"
#include "host/objects/job_pages.hpp"

namespace sluice::host {

/// The pages that there are; `problem` is set where a right is missing. What cannot be read is
/// logged and left out. Waits for the API server, seconds at most: not for a thread of a Machine.
JobPages pages_of_cluster(const Kubeconfig& cluster, const LinkTarget& target);

/// Asks again, now and then, for the rights of pages that had not all of them.
class PageRights {
 public:
  /// `granted` is called once, on a thread of its own, when a page of `pages` that lacked a right
  /// has it. Nothing runs where none lacked any.
  PageRights(const Kubeconfig& cluster, const LinkTarget& target, const JobPages& pages,
             std::function<void()> granted);
  ~PageRights();

 private:
  void run();

  const Kubeconfig cluster_;
  const LinkTarget target_;
  const JobPages pages_;
  const std::function<void()> granted_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sluice::host
