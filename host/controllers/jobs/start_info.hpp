// StartInfo: what the host put into a job when it started it: node selectors, tolerations, labels
// and annotations of the admission, and counts. Kept in an annotation of the job, so that stopping
// it brings the user's own templates back whatever became of the workload.
//
// On a cluster another scheduler may have stopped the job since, and started it anew, and knows
// nothing of the record: it counts only while the templates, or the time of the start, say that
// this start lasts.
//
// Pure functions on hub objects, for the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "api/jobs/job_kind.hpp"
#include "core/base/result.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

/// The admission of a workload as a job is started with it; a value to compare.
struct StartInfo {
  std::string workload_uid;
  std::int64_t evictions = 0;   ///< of the workload so far
  boost::json::array pod_sets;  ///< name, flavors, granted pods, updates of admission checks

  /// Whether a job that runs with `other` may run on with this.
  bool same_place(const StartInfo& other) const { return pod_sets == other.pod_sets; }
  /// The same, but for what admission checks want of pods that are started from now on.
  bool same_flavors(const StartInfo& other) const;
};

/// Of a workload that is admitted.
StartInfo start_info(const boost::json::object& workload);

/// Gives a job that runs without a record the one it would have if we had started it with this
/// workload's admission. False when its templates say otherwise; the job is then unchanged.
bool assume_started(const api::JobKind& kind, boost::json::object& job,
                    const boost::json::object& workload, const ObjectAccess& objects);

/// Notes another workload that the job runs on with. REQUIRES: it was started by us.
void note_workload(boost::json::object& job, const StartInfo& info);

/// Gives a pod that was made for an earlier workload of its job what the checks of this one want of
/// its pod set, before it is started. The error says which value contradicts the pod's own.
Result<void> update_pod(boost::json::object& pod, const boost::json::object& workload,
                        std::string_view pod_set);

/// Puts the admission into the job's templates and records it. The error says which value of the
/// admission contradicts the job's own; the job is then half changed and to be dropped.
/// `job` is suspended, or (adopting) runs with these values already.
Result<void> inject(const api::JobKind& kind, boost::json::object& job,
                    const boost::json::object& workload, const StartInfo& info,
                    const ObjectAccess& objects);

/// `after` is written in place of the running job `before`: what its start put into the templates
/// stays there, also where a whole list is sent anew without it. A value that the user changed is
/// the user's; but a count that the start lowered is what there is quota for: sent anew as it was
/// before the start it stays lowered, and any other number is a mistake. Answers the places of
/// those below spec: `workers.replicas`.
std::vector<std::string> keep_start(const api::JobKind& kind, const boost::json::object& before,
                                    boost::json::object& after);

/// Takes everything out again that inject() put in, and the record; of a start that is over only
/// that. Answers what the job was started with; empty workload_uid: not by us, or that is over.
StartInfo restore(const api::JobKind& kind, boost::json::object& job);

}  // namespace sluice::host
