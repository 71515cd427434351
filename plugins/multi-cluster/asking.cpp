#include "asking.hpp"

#include <algorithm>
#include <utility>

namespace clusters {

void Asking::want(const std::string& workload) {
  if (placed_.contains(workload) ||
      std::find(wanted_.begin(), wanted_.end(), workload) != wanted_.end())
    return;
  wanted_.push_back(workload);
}

void Asking::forget(const std::string& workload) {
  std::erase(wanted_, workload);
  std::erase(question_.workloads, workload);
  placed_.erase(workload);
  leaving_.erase(workload);
}

const std::vector<std::string>* Asking::place_of(const std::string& workload) const {
  const auto it = placed_.find(workload);
  return it == placed_.end() ? nullptr : &it->second;
}

Asking::Question Asking::next(const std::vector<std::string>& clusters, std::int64_t now_ms) {
  const bool under_way = !outlooks_.empty();
  const bool still_leaving = !leaving_.empty() && now_ms - since_ms_ < kPatienceMs;
  if (under_way || still_leaving || wanted_.empty() || clusters.empty()) return {};
  leaving_.clear();
  question_ = {};
  question_.estimate = std::exchange(estimate_next_, false);
  const std::size_t most = question_.estimate ? 1 : kPerQuestion;
  for (const std::string& each : wanted_)
    if (question_.workloads.size() < most) question_.workloads.push_back(each);
  for (const std::string& cluster : clusters) {
    outlooks_.push_back({cluster, false, false, {}});
    waiting_.insert(cluster);
  }
  since_ms_ = now_ms;
  return question_;
}

void Asking::hear(Outlook outlook) {
  if (waiting_.erase(outlook.cluster) == 0) return;
  for (Outlook& each : outlooks_)
    if (each.cluster == outlook.cluster) each = std::move(outlook);
}

bool Asking::is_over(std::int64_t now_ms) const {
  return !outlooks_.empty() && (waiting_.empty() || now_ms - since_ms_ >= kPatienceMs);
}

std::int64_t Asking::again_ms(std::int64_t now_ms) const {
  if (outlooks_.empty() && (leaving_.empty() || wanted_.empty())) return 0;
  return std::max<std::int64_t>(1, since_ms_ + kPatienceMs - now_ms);
}

std::vector<std::string> Asking::conclude(std::int64_t now_ms) {
  if (!is_over(now_ms)) return {};
  std::vector<std::string> out;
  for (Assignment& each : assign(question_.workloads, outlooks_, question_.estimate)) {
    std::erase(wanted_, each.workload);
    leaving_.insert(each.workload);
    placed_[each.workload] = std::move(each.nominated);
    out.push_back(each.workload);
  }
  estimate_next_ = out.empty() && !question_.workloads.empty();
  outlooks_.clear();
  waiting_.clear();
  since_ms_ = now_ms;
  return out;
}

}  // namespace clusters
