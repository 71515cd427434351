// Names of the API that the plugin speaks: kinds, labels, annotations, reasons.
//
// Constants; any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace clusters {

inline constexpr std::string_view kControllerName = "kueue.x-k8s.io/multikueue";
inline constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";
inline constexpr std::string_view kKueueGroup = "kueue.x-k8s.io";
inline constexpr std::string_view kConfigKind = "MultiKueueConfig";
inline constexpr std::string_view kClusterKind = "MultiKueueCluster";

/// Whose copy it is: the origin of the manager that made it.
inline constexpr std::string_view kOrigin = "kueue.x-k8s.io/multikueue-origin";
/// The UID of the workload of which it is a copy, and the attempt at its check.
inline constexpr std::string_view kOriginUid = "kueue.x-k8s.io/multikueue-origin-uid";
inline constexpr std::string_view kAttempt = "kueue.x-k8s.io/multikueue-origin-attempt";
/// On a job that may change its size: the UID of the job of which it is a copy.
inline constexpr std::string_view kOriginJob = "kueue.x-k8s.io/multikueue-origin-job-uid";
inline constexpr std::size_t kLongestLabel = 63;
/// Of which workload a job is: an annotation where the name is too long for a label.
inline constexpr std::string_view kPrebuilt = "kueue.x-k8s.io/prebuilt-workload-name";
inline constexpr std::string_view kQueue = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view kElastic = "kueue.x-k8s.io/elastic-job";
/// Of a workload of such a job: NAMESPACE/NAME of the one whose place it takes; the first of all.
inline constexpr std::string_view kReplacementFor = "kueue.x-k8s.io/workload-slice-replacement-for";
inline constexpr std::string_view kFirstSlice = "kueue.x-k8s.io/workload-slice-name";
inline constexpr std::string_view kJobUid = "kueue.x-k8s.io/job-uid";
/// On a Job: it may start with fewer pods; with fewer completions, too.
inline constexpr std::string_view kMinParallelism = "kueue.x-k8s.io/job-min-parallelism";
inline constexpr std::string_view kCompletionsEqual =
    "kueue.x-k8s.io/job-completions-equal-parallelism";
inline constexpr std::string_view kInUse = "kueue.x-k8s.io/resource-in-use";

/// Why a workload has ended whose job has another size by now.
inline constexpr std::string_view kOutOfSync = "OutOfSync";

/// Condition of a workload here: which clusters refuse its job since when, or are left alone.
inline constexpr std::string_view kRefused = "sluice.dev/RefusedByClusters";

/// Reason of events.
inline constexpr std::string_view kEvent = "MultiKueue";

}  // namespace clusters
