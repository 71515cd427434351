// ClusterCaller: requests to an API server one at a time, each waited for: for threads that have
// nothing else to do.
//
//   ClusterCaller caller(std::move(*target), kubeconfig, 10 * kSecond);
//   caller.start();
//   ClusterAnswer answer = caller.ask({.path = "/api/v1/namespaces/a/secrets/b"});
//
// ask() is for one thread at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "host/kube/sender.hpp"

namespace sluice::host {

class ClusterCaller {
 public:
  /// Waits no longer than `patience` for an answer.
  ClusterCaller(LinkTarget target, const Kubeconfig& config, Duration patience);
  ~ClusterCaller() { stop(); }

  void start() { sender_.start(); }
  void stop() { sender_.stop(); }

  /// With status 0 where there was no answer, and why not in its body.
  ClusterAnswer ask(ClusterRequest request);

 private:
  void answered(ClusterAnswer answer);

  const Duration patience_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::uint64_t asked_ = 0;              // guarded by mutex_: the last request
  std::optional<ClusterAnswer> answer_;  // guarded by mutex_: its answer
  RequestSender sender_;
};

/// What went wrong with a request: the API server's sentence, or why there is none.
std::string trouble_of(const ClusterAnswer& answer);

}  // namespace sluice::host
