// Refusals: since when clusters refuse to make the jobs of workloads, and which of them are left
// alone for a while, because one waited for them long enough.
//
// By workload and cluster. A value; times are of one clock, in milliseconds. Used on one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace clusters {

inline constexpr std::int64_t kMillisecond = 1'000'000;

class Refusals {
 public:
  /// `patience`: how long a cluster may refuse, and then is left alone.
  explicit Refusals(std::int64_t patience_ms) : patience_ms_(patience_ms) {}

  void refused(const std::string& uid, const std::string& cluster, std::int64_t now_ms) {
    since_.try_emplace({uid, cluster}, now_ms);
  }
  void taken(const std::string& uid, const std::string& cluster) { since_.erase({uid, cluster}); }
  /// How long it has refused it by now; 0: it does not.
  std::int64_t refused_for(const std::string& uid, const std::string& cluster,
                           std::int64_t now_ms) const;
  /// The workload's attempt is over: who refused it for too long is left alone from now on.
  void end(const std::string& uid, std::int64_t now_ms);
  bool is_left_alone(const std::string& uid, const std::string& cluster, std::int64_t now_ms) const;

  /// As a sentence, from which restore() takes it; empty: nobody refuses it or is left alone.
  std::string told(const std::string& uid, std::int64_t now_ms) const;
  /// What is known already stays; words that told() does not say tell nothing.
  void restore(const std::string& uid, std::string_view told);

 private:
  using Key = std::pair<std::string, std::string>;  // UID of the workload, cluster
  std::int64_t patience_ms_;
  std::map<Key, std::int64_t> since_, left_alone_until_;
};

}  // namespace clusters
