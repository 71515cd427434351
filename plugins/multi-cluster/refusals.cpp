#include "refusals.hpp"

#include <algorithm>

namespace clusters {

std::int64_t Refusals::refused_for(const std::string& uid, const std::string& cluster,
                                   std::int64_t now_ms) const {
  const auto it = since_.find({uid, cluster});
  return it == since_.end() ? 0 : std::max<std::int64_t>(1, now_ms - it->second);
}

void Refusals::end(const std::string& uid, std::int64_t now_ms) {
  std::erase_if(left_alone_until_, [&](const auto& each) { return each.second <= now_ms; });
  for (auto it = since_.lower_bound({uid, ""}); it != since_.end() && it->first.first == uid;
       it = since_.erase(it))
    if (now_ms - it->second >= patience_ms_) left_alone_until_[it->first] = now_ms + patience_ms_;
}

bool Refusals::is_left_alone(const std::string& uid, const std::string& cluster,
                             std::int64_t now_ms) const {
  const auto it = left_alone_until_.find({uid, cluster});
  return it != left_alone_until_.end() && it->second > now_ms;
}

}  // namespace clusters
