// SpareRate: how many requests a second may say what nobody decides on: texts, statuses of queues,
// Events.
//
//   SpareRate rate({.shared = 50, .queues = 5, .texts = 10, .events = 5});
//   rate.decided(now);                             // a request that matters was sent
//   rate.answered(now, took);                      // any request was
//   if (rate.take(SpareRate::For::kEvents, now)) … // one of the others may be sent
//
// Each sort has a small rate of its own; beyond it all share what decisions leave of another one,
// but only while answers are quick: else the API server has enough to do, for us or for others. So
// an idle cluster hears everything, and a busy one decides. Nothing is saved up for longer than a
// second.
// Times are of a clock that only goes forward. One thread.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/time.hpp"
#include "host/base/token_bucket.hpp"

namespace sluice::host {

struct SpareLimits {
  double shared = 50;                  ///< requests a second, of which decisions take theirs first
  double queues = 5;                   ///< that statuses of queues have whatever is decided
  double texts = 10;                   ///< that texts of workloads have
  double events = 5;                   ///< that Events have
  Duration quick = 40 * kMillisecond;  ///< answers, on average of the last ones
};

class SpareRate {
 public:
  enum class For : std::uint8_t { kQueues, kTexts, kEvents };

  explicit SpareRate(SpareLimits limits)
      : quick_(limits.quick),
        shared_{limits.shared},
        own_{Bucket{limits.queues}, Bucket{limits.texts}, Bucket{limits.events}} {}

  void decided(Duration now) { shared_.spend(now); }
  void answered(Duration now, Duration took);
  /// Whether one may be sent now, which it then is.
  bool take(For sort, Duration now);
  /// When take() says yes, if nothing is decided until then.
  Duration next(For sort) const;

 private:
  struct Bucket {
    double per_second = 0;
    TokenBucket left = {};

    double most() const { return per_second < 1 ? 1 : per_second; }
    void fill(Duration now) { left.fill(now, most(), per_second); }
    void spend(Duration now);
    void forgo(Duration now) { left = {0, now}; }
    bool take(Duration now) { return left.take(now, most(), per_second); }
    Duration next() const;
  };

  /// From when on answers count as quick, if there is none until then; 0: they are.
  Duration quick_from() const;

  Duration quick_;
  double took_ = 0;  // smoothed
  Duration answered_ = 0;
  Bucket shared_;
  std::array<Bucket, 3> own_;
};

}  // namespace sluice::host
