// ClusterCredentials: the token with which an API server is asked, as it is now: one of a file is
// read again when it may have been renewed.
//
// Times are of any clock that only goes forward. Belongs to one thread.
#pragma once

#include <string>

#include "core/base/time.hpp"
#include "host/client/kubeconfig.hpp"

namespace sluice::host {

class ClusterCredentials {
 public:
  /// `age`: then the token of a file is read again.
  ClusterCredentials(Kubeconfig config, Duration age);

  /// Before a request. What cannot be read is logged, and the earlier token stays.
  void refresh(Duration now);
  /// The server did not know it (401): it may have been renewed.
  void doubt() { doubted_ = true; }
  const std::string& token() const { return config_.token; }

 private:
  Kubeconfig config_;
  Duration age_;
  Duration read_ = 0;
  bool doubted_ = false;
};

}  // namespace sluice::host
