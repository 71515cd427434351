// Retention: deletes objects that are not needed any more, after a while: finished workloads, those
// that were deactivated for good, Events.
//
// Kernel's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/config/config.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class WorkloadRetention final : public Controller {
 public:
  WorkloadRetention(const api::Scheme& scheme, RetentionConfig config);

  std::string_view name() const override { return "workload-retention"; }
  std::vector<std::string> watches() const override;
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  bool stands_for_another(const boost::json::object& workload) const;
  Result<void> remove_with_job(const std::string& key, const boost::json::object& workload,
                               ObjectAccess& objects) const;

  const api::Scheme& scheme_;
  const api::KindInfo* workloads_;
  RetentionConfig config_;
};

/// Events are forgotten an hour after they were last seen, and before that when there are more than
/// `most`: of the namespace that has most of them, first those that were seen the longest ago. So a
/// namespace that makes many loses its own. A host that decides a thousand times a second would
/// otherwise hold millions.
class EventRetention final : public Controller {
 public:
  EventRetention(const api::Scheme& scheme, std::int64_t most, Duration keep = 3600 * kSecond);

  std::string_view name() const override { return "event-retention"; }
  std::vector<std::string> watches() const override { return {"/Event"}; }
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  void add(const std::string& key, Time due);
  void drop(const std::string& key);

  const api::KindInfo* events_;
  std::size_t most_;
  Duration keep_;
  std::unordered_map<std::string, Time> due_;  // when each that is there is to go
  using Due = std::pair<Time, std::string>;
  std::set<Due> by_due_;
  std::map<std::string, std::set<Due>, std::less<>> of_namespace_;
  std::set<std::pair<std::size_t, std::string>> sizes_;  // of namespaces
};

}  // namespace sluice::host
