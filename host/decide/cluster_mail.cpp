#include "host/decide/cluster_mail.hpp"

#include <chrono>
#include <iterator>
#include <utility>

namespace sluice::host {

void ClusterMail::tell(std::function<void()> came) {
  const std::lock_guard lock(mutex_);
  tell_ = std::move(came);
  told_ = false;
}

Delivery ClusterMail::take() {
  const std::lock_guard lock(mutex_);
  told_ = false;
  return std::exchange(waiting_, {});
}

void ClusterMail::wait(Duration most) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, std::chrono::nanoseconds(most),
                 [this] { return !waiting_.letters.empty(); });
}

void ClusterMail::list_begins(const api::KindInfo& kind, std::uint64_t version) {
  unsettled_.push_back({Letter::Says::kListBegins, &kind, {}, {}, version});
}

void ClusterMail::list_ends(const api::KindInfo& kind) {
  unsettled_.push_back({Letter::Says::kListEnds, &kind, {}, {}});
}

void ClusterMail::put(const api::KindInfo& kind, const std::string& api_version,
                      boost::json::object object) {
  unsettled_.push_back({Letter::Says::kPut, &kind, api_version, std::move(object)});
}

void ClusterMail::remove(const api::KindInfo& kind, const boost::json::object& object) {
  unsettled_.push_back({Letter::Says::kRemove, &kind, {}, object});
}

void ClusterMail::settle() {
  if (unsettled_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    std::move(unsettled_.begin(), unsettled_.end(), std::back_inserter(waiting_.letters));
  }
  unsettled_.clear();
  came();
}

void ClusterMail::answered(ClusterAnswer answer) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.answers.push_back(std::move(answer));
  }
  came();
}

void ClusterMail::came() {
  std::function<void()> tell;
  {
    const std::lock_guard lock(mutex_);
    if (tell_ && !std::exchange(told_, true)) tell = tell_;
  }
  came_.notify_one();
  if (tell) tell();
}

}  // namespace sluice::host
