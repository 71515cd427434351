#include "host/kube/caller.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "host/kube/page.hpp"

namespace sluice::host {

ClusterCaller::ClusterCaller(LinkTarget target, const Kubeconfig& config, Duration patience)
    : patience_(patience),
      sender_(std::move(target), config,
              {[] { return true; }, [this](ClusterAnswer answer) { answered(std::move(answer)); }},
              {.connections = 2, .patience = patience}) {}

void ClusterCaller::answered(ClusterAnswer answer) {
  {
    const std::lock_guard lock(mutex_);
    if (answer.id == asked_) answer_ = std::move(answer);
  }
  came_.notify_all();
}

ClusterAnswer ClusterCaller::ask(ClusterRequest request) {
  std::unique_lock lock(mutex_);
  request.id = ++asked_;
  answer_.reset();
  std::vector<ClusterRequest> requests;
  requests.push_back(std::move(request));
  sender_.send(std::move(requests));
  came_.wait_for(lock, std::chrono::nanoseconds(patience_), [this] { return answer_.has_value(); });
  if (answer_) return std::move(*answer_);
  ClusterAnswer none;
  none.body = "the API server does not answer";
  return none;
}

std::string trouble_of(const ClusterAnswer& answer) {
  return answer.status == 0 ? answer.body : message_of(answer.status, answer.body);
}

}  // namespace sluice::host
