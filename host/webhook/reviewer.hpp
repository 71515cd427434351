// Reviewer: what becomes of an object that a client writes to a cluster, by the rules by which a
// host of its own takes writes: the same intake, the same policies, the same plugins.
//
//   mutating    a job with a queue (or, if so configured, any) is held; marks that only the system
//               writes are as they were; our own kinds get their defaults; pods get their gates
//   validating  all of that again, and whatever a host would refuse is refused, in its words
//
// Of pods, and of kinds that are not known here, the API server judges the fields, and plugins
// alone are asked. What the mutating step finds wrong it leaves to the validating one. Jobs outside
// of queues pass unchanged, and so do subresources that no plugin asks for, and what is being
// deleted. A review writes nothing and
// remembers nothing. One thread at a time; it may be another one than that of the machine whose
// store it reads.
#pragma once

#include <memory>
#include <string>

#include "host/config/config.hpp"
#include "host/controllers/jobs/job_kinds.hpp"
#include "host/controllers/jobs/job_policy.hpp"
#include "host/controllers/jobs/pod_gates.hpp"
#include "host/machine/rules.hpp"
#include "host/store/live_store.hpp"
#include "host/webhook/published_objects.hpp"
#include "host/webhook/review.hpp"
#include "host/writes/drafter.hpp"
#include "host/writes/ids.hpp"
#include "host/writes/published_view.hpp"

namespace sluice::host {

enum class ReviewStep : std::uint8_t { kMutating, kValidating };

class Reviewer {
 public:
  /// All must outlive it. `rules` are its own: plugins are asked on its thread.
  Reviewer(const Configuration& config, Rules& rules, const LiveStore& store,
           const PluginClock& clock);
  ~Reviewer();
  Reviewer(const Reviewer&) = delete;
  Reviewer& operator=(const Reviewer&) = delete;

  /// The user that writes what the controller decided; those writes are not reviewed again.
  void set_self(std::string user) { self_ = std::move(user); }

  Verdict review(const AdmissionRequest& request, ReviewStep step);

 private:
  struct Subject;

  bool is_nobodys(const AdmissionRequest& request) const;
  std::unique_ptr<Subject> subject_of(const AdmissionRequest& request, const api::KindInfo& kind);
  Verdict mutate_job(const AdmissionRequest& request, Subject& subject);
  Verdict validate_job(const AdmissionRequest& request, Subject& subject);
  Verdict mutate(Subject& subject, const WriteMode& mode);
  Verdict validate(Subject& subject, const WriteMode& mode);
  void add_gates(const AdmissionRequest& request, boost::json::object& pod);
  bool is_of_queued_job(const AdmissionRequest& request, const boost::json::object& pod) const;
  Verdict mutate_pod(const AdmissionRequest& request, Subject& subject);
  Verdict validate_pod(const AdmissionRequest& request, Subject& subject);
  bool asks_plugins(const AdmissionRequest& request) const;
  void ask_plugins(const AdmissionRequest& request, boost::json::object& object,
                   std::vector<api::Problem>& problems);
  Verdict review_unknown(const AdmissionRequest& request, ReviewStep step);
  std::optional<ApiError> refusal_of(Subject& subject, const WriteMode& mode);
  bool is_ours(const AdmissionRequest& request, const boost::json::object& job) const;
  void know_classes(const boost::json::object& workload);

  Rules& rules_;
  const LiveStore& store_;
  const ManagedJobs managed_;
  LiveIds ids_;
  PublishedView view_;
  PublishedObjects objects_;
  PublishedPort port_;
  JobKindPolicy job_kind_policy_;
  JobPolicy job_policy_;
  PodGates gates_;
  Drafter drafter_;
  std::string self_;
};

}  // namespace sluice::host
