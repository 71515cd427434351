// TopModel: what `sluice top` knows of queues and workloads, kept from what a ClusterFollower hands
// on: of each object the few fields that are shown, of finished workloads nothing.
//
// Invariant: what view() tells is a state of each kind as the server had it, one after the other;
// how much a queue lends is worked out from all queues and cohorts of its tree. The members of
// ClusterSink belong to the follower's thread; the others may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/kube/follower.hpp"
#include "host/top/rows.hpp"

namespace sluice::host {

/// What of the model is wanted, and in which order.
struct TopQuery {
  TopSort sort = TopSort::kQueue;
  bool reverse = false;
  bool all = false;    ///< running workloads too, not only waiting ones
  std::string ns;      ///< only its workloads, and queues to which its LocalQueues lead; empty: any
  std::string cohort;  ///< with those below it; empty: any
  std::vector<std::string> queues;     ///< names of ClusterQueues; empty: any
  std::size_t from = 0;                ///< the first workload, in the order wanted …
  std::size_t most = std::size_t(-1);  ///< … and how many
};

class TopModel final : public ClusterSink {
 public:
  /// `changed` is called after something came, on the follower's thread.
  explicit TopModel(std::function<void()> changed) : changed_(std::move(changed)) {}

  void list_begins(const api::KindInfo& kind, std::uint64_t version) override;
  void list_ends(const api::KindInfo& kind) override;
  void put(const api::KindInfo& kind, const std::string& api_version,
           boost::json::object object) override;
  void remove(const api::KindInfo& kind, const boost::json::object& object) override;
  void settle() override { changed_(); }

  TopView view(const TopQuery& query) const;
  /// The ClusterQueues and the Cohort that a query names and that there are not, in a sentence each
  /// that tells which there are.
  std::vector<std::string> not_there(const TopQuery& query) const;

 private:
  bool below(const std::string& cohort, const std::string& wanted) const;
  std::string root_of(const std::string& cohort) const;
  void set_lent(std::vector<TopQueue>& queues) const;
  std::set<std::string> led_to(const std::string& ns) const;
  std::vector<TopQueue> queues_for(const TopQuery& query) const;

  const std::function<void()> changed_;
  std::map<std::string, std::set<std::string>> seen_;  // by the running list, of each kind
  mutable std::mutex mutex_;                           // guards what follows
  std::map<std::string, TopQueue> queues_;
  std::map<std::string, TopCohort> cohorts_;
  std::map<std::string, std::string> doors_;  // LocalQueue → ClusterQueue
  std::unordered_map<std::string, TopWorkload> workloads_;
};

}  // namespace sluice::host
