// LeaseHolder: tries to hold a Lease in a cluster, and keeps it, on a thread of its own.
//
// Public members may be called from any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "host/base/trouble_log.hpp"
#include "host/decide/lease.hpp"
#include "host/kube/caller.hpp"

namespace sluice::host {

struct LeaseOptions {
  std::string ns = "sluice-system";
  std::string name = "sluice-controller";
  LeaseTimes times;
};

class LeaseHolder {
 public:
  /// `identity`: unique to this process. `lost` is called once, on its thread, when another may
  /// decide from now on; `wall` tells the time of day, in ns since 1970.
  LeaseHolder(LinkTarget target, const Kubeconfig& config, LeaseOptions options,
              std::string identity, std::function<std::int64_t()> wall, std::function<void()> lost);
  ~LeaseHolder() { stop(); }

  void start();
  /// Releases the Lease, so that another replica need not wait for its end.
  void stop();

  /// Whether this process may act for the cluster now.
  bool holds() const;

 private:
  void keep();
  void look();
  Result<std::optional<LeaseRecord>> read();
  bool write(const LeaseRecord& wanted, bool exists);

  LeaseOptions options_;
  const std::string identity_;
  std::function<std::int64_t()> wall_;
  std::function<void()> lost_;
  LeaseKeeper keeper_;
  TroubleLog trouble_{"lease"};  // its thread's
  std::string told_holder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  ClusterCaller caller_;
  std::thread thread_;
};

}  // namespace sluice::host
