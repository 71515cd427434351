// The names that the feature is known by: annotations, the gate of its pods, reasons. Those of the
// proposal (KEP-77) where it names them; the others say what only this plugin needs to remember.
//
// Constants; any thread.
#pragma once

#include <string_view>

namespace elastic {

/// On a job, and from there on its workloads: "true" opts in.
inline constexpr std::string_view kOptIn = "kueue.x-k8s.io/elastic-job";
/// What the proposal called it first.
inline constexpr std::string_view kOptInOld = "kueue.x-k8s.io/dynamically-sized-job";
inline constexpr std::string_view kMinParallelism = "kueue.x-k8s.io/job-min-parallelism";
inline constexpr std::string_view kPrebuilt = "kueue.x-k8s.io/prebuilt-workload-name";
inline constexpr std::string_view kQueue = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view kJobUid = "kueue.x-k8s.io/job-uid";

/// Of a slice: NAMESPACE/NAME of the one whose place it takes.
inline constexpr std::string_view kReplacementFor = "kueue.x-k8s.io/workload-slice-replacement-for";
/// Of a slice: the name of the first of its chain.
inline constexpr std::string_view kOrigin = "kueue.x-k8s.io/workload-slice-name";
/// Of a slice that grows a running job: the flavors that it has to stay on (sticky.hpp).
inline constexpr std::string_view kFlavors = "elastic-jobs.sluice.dev/flavors";
/// Of a slice: what its name was made from.
inline constexpr std::string_view kRevision = "elastic-jobs.sluice.dev/revision";

inline constexpr std::string_view kGate = "kueue.x-k8s.io/elastic-job";

inline constexpr std::string_view kReplaced = "WorkloadSliceReplaced";
inline constexpr std::string_view kOutOfSync = "OutOfSync";

}  // namespace elastic
