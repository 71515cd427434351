#include "asking.hpp"

#include <algorithm>
#include <utility>

namespace clusters {

void Asking::want(const std::string& workload) {
  if (placed_.contains(workload) || !turn_of_.try_emplace(workload, next_turn_).second) return;
  wanted_.emplace(next_turn_++, workload);
}

void Asking::no_longer_wanted(const std::string& workload) {
  const auto turn = turn_of_.find(workload);
  if (turn == turn_of_.end()) return;
  wanted_.erase(turn->second);
  turn_of_.erase(turn);
}

void Asking::forget(const std::string& workload) {
  no_longer_wanted(workload);
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
  for (auto each = wanted_.begin(); each != wanted_.end() && question_.workloads.size() < most;
       ++each)
    question_.workloads.push_back(each->second);
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
    no_longer_wanted(each.workload);
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
