// minimum-runtime: nobody is preempted before it ran for a while.
//
// Who waits for that is given another turn when the first of those that it could preempt has run
// long enough: a timer of the host, so that a simulation decides the same.
#include <sluice/plugin.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

class MinimumRuntime {
 public:
  static constexpr std::string_view kDescription = "nobody is preempted before it ran for a while";
  static constexpr std::string_view kConfigSchema = R"({
    "type": "object",
    "properties": {
      "seconds": {"type": "integer", "minimum": 1, "maximum": 31536000, "default": 600,
                  "description": "how long a workload runs before it may be preempted"}
    }
  })";

  explicit MinimumRuntime(const sluice::Context& context)
      : context_(context), seconds_(context.config().int_or("seconds", 600)) {}

  // In a cycle, on many threads: what it notes for timer() is behind a lock.
  void veto(const sluice::VetoQuery& query, sluice::VetoAnswer& answer) const {
    const std::int64_t now = context_.now();
    std::int64_t first_end = INT64_MAX;
    for (std::uint64_t i = 0; i < query.candidates(); ++i) {
      const auto since = query.admitted_at(i);
      if (!since || *since + seconds_ * kSecond <= now) continue;
      answer.protect_because(i, "they run for less than " + std::to_string(seconds_) + " s");
      first_end = std::min(first_end, *since + seconds_ * kSecond);
    }
    if (first_end != INT64_MAX) wake_at(query.preemptor().key(), first_end);
  }

  void timer(std::uint64_t, std::int64_t now) {
    const std::lock_guard lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (it->second <= now) {
        context_.requeue(it->first);
        it = waiting_.erase(it);
      } else {
        ++it;
      }
    }
    set_timer();
  }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;

  void wake_at(const std::string& workload, std::int64_t time) const {
    const std::lock_guard lock(mutex_);
    waiting_[workload] = time;
    set_timer();
  }

  /// For the first of those that wait. REQUIRES: the lock is held.
  void set_timer() const {
    std::int64_t first = INT64_MAX;
    for (const auto& [workload, time] : waiting_) first = std::min(first, time);
    if (first != INT64_MAX) context_.set_timer(1, first);
  }

  const sluice::Context& context_;
  std::int64_t seconds_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::int64_t> waiting_;  // guarded by mutex_: when to look again
};

SLUICE_PLUGIN(MinimumRuntime, "minimum-runtime", "1.0.0")
