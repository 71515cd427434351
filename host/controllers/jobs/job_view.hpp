// JobView: a job and its workloads as they are now: what a mapping decides on, and what the
// controller works with. Built anew for each look, on the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/jobs/job_kind.hpp"
#include "core/hooks/hooks.hpp"
#include "host/controllers/jobs/start_info.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

struct WorkloadOfJob {
  std::string name;
  std::string key;
  boost::json::object object;
  hooks::JobMatch match = hooks::JobMatch::kOther;
  bool finished = false;
  bool reserving = false;  ///< holds quota
  bool admitted = false;   ///< and is not being evicted
  bool ending = false;     ///< it was, and is
};

struct JobView {
  ObjectRef ref;
  const api::JobKind* kind = nullptr;
  std::string ns, name, uid;
  boost::json::object job;       ///< as it is stored
  bool assumed = false;          ///< `job` holds a record of its start that is not stored yet
  StartInfo started;             ///< what `job` says that it was started with
  boost::json::object restored;  ///< without what the host put in when it started it
  std::vector<api::JobPodSet> pod_sets;  ///< of `restored`
  std::vector<WorkloadOfJob> workloads;  ///< the oldest first

  std::string_view label(std::string_view name) const;
  std::string_view annotation(std::string_view name) const;
  WorkloadOfJob* find(std::string_view workload);
};

/// Reads jobs and compares their pod sets with workloads. Belongs to one thread.
class JobReader {
 public:
  /// nullopt: there is no such job.
  std::optional<JobView> read(const ObjectRef& ref, const ObjectAccess& objects);

  /// The pod sets as a workload has them: templates without the labels that only the job's own
  /// pods need.
  boost::json::array pod_sets_of(const JobView& view) const;

  /// How the job's pod sets compare with those of a workload, its own or another.
  hooks::JobMatch match(const JobView& view, const boost::json::object& workload);

  /// The question to plugins; points into `view` and into `job_text`, which it fills.
  hooks::JobQuery query(const JobView& view, const ObjectAccess& objects);

 private:
  api::PodTemplateCache templates_;
  std::string job_text_;
  std::vector<hooks::JobPodSet> query_sets_;
  std::vector<hooks::JobWorkload> query_workloads_;
};

/// Label `name` of an object; empty without one.
std::string_view label_of(const boost::json::object& object, std::string_view name);
std::string_view annotation_of(const boost::json::object& object, std::string_view name);
/// The workload that was made before the job, for it; empty: none was. Its annotation says so or,
/// without one, its label.
std::string_view prebuilt_of(const boost::json::object& job);

}  // namespace sluice::host
