#include "refusals.hpp"

#include <sluice/cpp/time.hpp>

#include <algorithm>

namespace clusters {

namespace {

constexpr std::string_view kRefuses = " refuses the job since ";
constexpr std::string_view kLeftAlone = " is left alone until ";
constexpr std::string_view kAnd = ", ";

void append(std::string& out, const std::string& cluster, std::string_view words,
            std::int64_t time_ms) {
  if (!out.empty()) out += kAnd;
  out.append(cluster).append(words).append(sluice::time_text(time_ms * kMillisecond));
}

}  // namespace

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

std::string Refusals::told(const std::string& uid, std::int64_t now_ms) const {
  std::string out;
  const Key first(uid, "");
  for (auto it = since_.lower_bound(first); it != since_.end() && it->first.first == uid; ++it)
    append(out, it->first.second, kRefuses, it->second);
  for (auto it = left_alone_until_.lower_bound(first);
       it != left_alone_until_.end() && it->first.first == uid; ++it)
    if (it->second > now_ms) append(out, it->first.second, kLeftAlone, it->second);
  return out;
}

void Refusals::restore(const std::string& uid, std::string_view told) {
  while (!told.empty()) {
    const std::size_t end = std::min(told.find(kAnd), told.size());
    const std::string_view part = told.substr(0, end);
    told.remove_prefix(std::min(told.size(), end + kAnd.size()));
    const bool refuses = part.find(kRefuses) != std::string_view::npos;
    const std::string_view words = refuses ? kRefuses : kLeftAlone;
    const std::size_t at = part.find(words);
    if (at == std::string_view::npos) continue;
    const auto time = sluice::parse_time(part.substr(at + words.size()));
    if (!time) continue;
    auto& times = refuses ? since_ : left_alone_until_;
    times.try_emplace({uid, std::string(part.substr(0, at))}, *time / kMillisecond);
  }
}

}  // namespace clusters
