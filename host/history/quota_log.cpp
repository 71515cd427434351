#include "host/history/quota_log.hpp"

#include <algorithm>
#include <utility>

namespace sluice::host {

QuotaLog::QuotaLog(std::vector<QuotaStretch> open) {
  for (QuotaStretch& each : open) {
    std::string name = each.holder;
    open_[std::move(name)] = std::move(each);
  }
}

void QuotaLog::end(const QuotaStretch& stretch, Millis at) {
  changed_.push_back(stretch);
  // A clock that was set back does not make a time negative.
  changed_.back().until = std::max(at, stretch.since);
}

void QuotaLog::has(const std::string& holder, Quotas quotas, Millis since) {
  const auto found = open_.find(holder);
  if (found != open_.end()) {
    if (found->second.quotas == quotas) return;
    end(found->second, since);
    since = std::max(since, found->second.since);
  }
  QuotaStretch& now = open_[holder] = {holder, since, 0, std::move(quotas)};
  changed_.push_back(now);
}

void QuotaLog::gone(const std::string& holder, Millis now) {
  const auto found = open_.find(holder);
  if (found == open_.end()) return;
  end(found->second, now);
  open_.erase(found);
}

std::vector<std::string> QuotaLog::queues() const {
  std::vector<std::string> out;
  for (const auto& [name, stretch] : open_) out.push_back(name);
  return out;
}

std::vector<QuotaStretch> QuotaLog::take() { return std::exchange(changed_, {}); }

}  // namespace sluice::host
