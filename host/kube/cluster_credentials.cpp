#include "host/kube/cluster_credentials.hpp"

#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {

ClusterCredentials::ClusterCredentials(Kubeconfig config, Duration age)
    : config_(std::move(config)), age_(age) {}

void ClusterCredentials::refresh(Duration now) {
  if (read_ == 0) read_ = now;  // that of the configuration is fresh
  if (config_.token_file.empty() || (!doubted_ && now - read_ < age_)) return;
  read_ = now;
  doubted_ = false;
  if (Result<std::string> fresh = present_token(config_)) {
    config_.token = std::move(*fresh);
  } else {
    log(LogLevel::kWarning, "cluster", fresh.error().text);
  }
}

}  // namespace sluice::host
