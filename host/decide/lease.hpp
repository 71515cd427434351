// Lease: which one of several replicas decides, by a Lease object (coordination.k8s.io/v1) that is
// renewed while its holder lives.
//
//   LeaseKeeper keeper("me", {});
//   loop: read the object ─► wanted = keeper.saw(record, now) ─► write what is wanted ─►
//         keeper.wrote(asked_at) if it is stored; else it is seen again first
//
// Clocks of several machines are not compared: another's lease is over when it was not seen to
// change for its duration. One's own is valid for that long from before the request that renewed
// it, or until another holder is seen in the object. Pure; times are of a clock that only goes
// forward. One thread, but for holds().
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/time.hpp"

namespace sluice::host {

struct LeaseTimes {
  Duration lasts = 15 * kSecond;
  Duration renewed_each = 2 * kSecond;    ///< by its holder
  Duration looked_at_each = 1 * kSecond;  ///< by the others
  Duration margin = 2 * kSecond;          ///< before its end its holder writes nothing any more
};

/// The object's spec; times are texts and told only.
struct LeaseRecord {
  std::string holder;
  std::int64_t lasts_seconds = 0;
  std::int64_t transitions = 0;
  std::string version;   ///< metadata.resourceVersion
  std::string acquired;  ///< spec.acquireTime
};

class LeaseKeeper {
 public:
  LeaseKeeper(std::string identity, LeaseTimes times)
      : identity_(std::move(identity)), times_(times) {}

  /// What the object says now; nullopt: it does not exist. Answers what it should say; nullopt:
  /// another one holds it.
  std::optional<LeaseRecord> saw(const std::optional<LeaseRecord>& record, Duration now);
  /// What was wanted is stored; the request was sent at `asked`.
  void wrote(Duration asked);

  /// Whether this one may act for the cluster at that time. Any thread.
  bool holds(Duration now) const { return now < held_until_.load(); }
  /// It held the lease, and does not any more.
  bool lost(Duration now) const { return held_until_.load() > 0 && !holds(now); }
  /// When it looks again.
  Duration pause(Duration now) const {
    return holds(now) ? times_.renewed_each : times_.looked_at_each;
  }
  /// The holder, as last seen; empty: none.
  const std::string& holder() const { return seen_holder_; }

 private:
  std::string identity_;
  LeaseTimes times_;
  std::string seen_version_, seen_holder_;
  Duration seen_since_ = 0;
  std::atomic<Duration> held_until_ = 0;
};

}  // namespace sluice::host
