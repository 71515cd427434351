// Retention: objects that nobody needs any more go after a while: finished workloads, those that
// were deactivated for good, Events.
//
// Kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/config/config.hpp"
#include "host/controllers/controller.hpp"

namespace sluice::host {

class WorkloadRetention final : public Controller {
 public:
  WorkloadRetention(const api::Scheme& scheme, RetentionConfig config);

  std::string_view name() const override { return "workload-retention"; }
  std::vector<std::string> watches() const override;
  void changed(const ObjectChange& change, std::vector<std::string>& keys) override;
  Result<Time> reconcile(const std::string& key, ObjectAccess& objects) override;

 private:
  Result<void> remove_with_job(const std::string& key, const boost::json::object& workload,
                               ObjectAccess& objects) const;

  const api::Scheme& scheme_;
  const api::KindInfo* workloads_;
  RetentionConfig config_;
};

/// Events are forgotten an hour after they were last seen.
class EventRetention final : public Controller {
 public:
  explicit EventRetention(const api::Scheme& scheme, Duration keep = 3600 * kSecond);

  std::string_view name() const override { return "event-retention"; }
  std::vector<std::string> watches() const override { return {"/Event"}; }
  void changed(const ObjectChange& change, std::vector<std::string>& keys) override;
  Result<Time> reconcile(const std::string& key, ObjectAccess& objects) override;

 private:
  const api::KindInfo* events_;
  Duration keep_;
  std::unordered_map<std::string, Time> due_;  // of those that are there
};

}  // namespace sluice::host
