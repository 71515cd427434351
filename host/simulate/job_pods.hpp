// JobPods: what becomes of the pods of a job in a simulation, where nothing is started.
//
// While a job is not suspended, its status says that all its pods run; when it is suspended they
// have ended at once. A job with a runtime has ready pods from its start on; that of all others is
// the Timeline's to report. Kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/jobs/job_kind.hpp"
#include "host/objects/controller.hpp"
#include "host/writes/policy.hpp"

namespace sluice::host {

class JobPods final : public Controller {
 public:
  explicit JobPods(const api::Scheme& scheme);

  std::string_view name() const override { return "simulated-pods"; }
  std::vector<std::string> watches() const override;
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  /// Pods that run elsewhere go on as they do.
  void resumed(const ObjectChange&, bool, std::vector<WorkKey>&) override {}
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  std::vector<const api::KindInfo*> kinds_;
};

/// How long the job runs: the longest annotation among its own and those of its pods; nullopt
/// without one.
std::optional<Duration> runtime_of(const api::JobKind& kind, const boost::json::object& job);

/// The same, and no longer than it may.
std::optional<Duration> time_to_end_of(const api::JobKind& kind, const boost::json::object& job);

/// The status of a job that ends now: its pods have all succeeded, unless it has run for as long as
/// it may. Only kinds that end.
boost::json::object ended_status(const api::JobKind& kind, const boost::json::object& job,
                                 Time now);

/// Refuses jobs with a runtime that is no duration.
class RuntimePolicy final : public WritePolicy {
 public:
  bool wants(const api::KindInfo& kind) const override;
  void creating(const api::KindInfo& kind, boost::json::object& object, const ObjectReader& objects,
                bool by_system, std::vector<api::Problem>& problems) const override;
  void updating(const api::KindInfo& kind, boost::json::object& object,
                const boost::json::object& old, const ObjectReader& objects, bool by_system,
                std::vector<api::Problem>& problems) const override;
};

}  // namespace sluice::host
