// What `sluice top` shows, as plain values, and how they are read from objects of kueue.x-k8s.io in
// any served version. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.hpp"

namespace sluice::host {

/// Of one resource of one flavor. Amounts are in the engine's unit (cpu in thousandths).
struct TopQuota {
  std::string flavor, resource;
  std::int64_t nominal = 0, used = 0, borrowed = 0;
  /// What a queue lends is known in sum only: of one queue it is at least and at most that much.
  std::int64_t lent_least = 0, lent_most = 0;
  std::int64_t lendable = INT64_MAX;  ///< lendingLimit
};

struct TopQueue {
  std::string name, cohort;
  std::string trouble;  ///< why it does not serve: stopped, inactive; empty: it does
  std::vector<TopQuota> quotas;
  std::int64_t waiting = 0, reserving = 0, admitted = 0;
};

struct TopCohort {
  std::string parent;
  std::vector<TopQuota> quotas;
};

enum class TopState : std::uint8_t {
  kWaiting,
  kEvicted,  ///< and waits
  kChecks,   ///< has its quota, waits for admission checks
  kStarting,
  kRunning,
  kOff,
  kFinished,
};

struct TopWorkload {
  std::string ns, name;
  std::string job;                         ///< `Job train`; empty: it has no controller
  std::string local_queue, cluster_queue;  ///< the latter is empty when it is not known
  std::int64_t priority = 0;
  TopState state = TopState::kWaiting;
  Time created = 0, since = 0;  ///< since: of the state
  std::string why;              ///< in the scheduler's words
};

/// queue: by name, and workloads that wait in the order of the queue. waiting: most, and longest,
/// first. use: the fullest first. priority: the highest first.
enum class TopSort : std::uint8_t { kQueue, kWaiting, kUse, kPriority };

struct TopView {
  std::vector<TopQueue> queues;
  std::vector<TopWorkload> workloads;  ///< of those that fit the query, the part that was wanted
  std::size_t fitting = 0;             ///< how many fit
  std::size_t waiting = 0;             ///< that wait, of all that fit but for `all`
};

TopQueue top_queue(const boost::json::object& object);
TopCohort top_cohort(const boost::json::object& object);
TopWorkload top_workload(const boost::json::object& object);

const char* word_of(TopState state);
bool waits(TopState state);

/// The part of its own quota that is used of the fullest resource, in percent; more than 100 when
/// it borrows; 0 without quota.
std::int64_t percent_used(const TopQueue& queue);
std::int64_t percent_used(const TopQuota& quota);

/// For `-o json`.
boost::json::object document_of(const TopView& view);

}  // namespace sluice::host
