// The names that the feature is known by: Kueue's where it has them, so that manifests and tools
// need no change; the others say what only this plugin has to remember.
//
// Constants; any thread.
#pragma once

#include <string_view>

namespace pods {

inline constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";

/// Labels of pods: the LocalQueue, and the group that the pod belongs to, which an annotation may
/// name as well.
inline constexpr std::string_view kQueue = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view kGroup = "kueue.x-k8s.io/pod-group-name";
inline constexpr std::string_view kPriorityClass = "kueue.x-k8s.io/priority-class";
inline constexpr std::string_view kMaxSeconds = "kueue.x-k8s.io/max-exec-time-seconds";
/// Annotations of pods in a group: how many there are; whether it is queued before all are there;
/// whether it serves, so that a pod that ended may be replaced; whether it may be tried again.
inline constexpr std::string_view kTotal = "kueue.x-k8s.io/pod-group-total-count";
inline constexpr std::string_view kFast = "kueue.x-k8s.io/pod-group-fast-admission";
inline constexpr std::string_view kServing = "kueue.x-k8s.io/pod-group-serving";
inline constexpr std::string_view kRetriable = "kueue.x-k8s.io/retriable-in-group";

/// Annotation of pods and of templates: who makes the pod lets it wait, and says where.
inline constexpr std::string_view kSuspendedBy = "kueue.x-k8s.io/pod-suspending-parent";
inline constexpr std::string_view kOfStatefulSet = "statefulset";
/// Annotation of such a pod: its workload, which is called as its group.
inline constexpr std::string_view kPrebuilt = "kueue.x-k8s.io/prebuilt-workload-name";

/// What the plugin puts on a pod that it queues: a label and a finalizer of one name, the gate, and
/// an annotation that names the pod set.
inline constexpr std::string_view kManaged = "kueue.x-k8s.io/managed";
inline constexpr std::string_view kGate = "kueue.x-k8s.io/admission";
inline constexpr std::string_view kRole = "kueue.x-k8s.io/role-hash";
/// What it puts on a pod that it starts. The last one: how often its workload had been evicted.
inline constexpr std::string_view kPodSet = "kueue.x-k8s.io/podset";
inline constexpr std::string_view kWorkload = "kueue.x-k8s.io/workload";
inline constexpr std::string_view kEvictions = "pod-groups.sluice.dev/evictions";

/// What templates say of pods that whoever makes them cannot tell apart: the kind of object whose
/// parts are groups (makers.hpp), the pod set of the pod, and all pod sets of its group, as a list
/// of {name, count, template}.
inline constexpr std::string_view kPartOf = "kueue.x-k8s.io/pod-group-part-of";
inline constexpr std::string_view kNamedSet = "kueue.x-k8s.io/pod-group-named-set";
inline constexpr std::string_view kSets = "kueue.x-k8s.io/pod-group-named-sets";

/// The condition of a pod that is deleted because of its workload.
inline constexpr std::string_view kStopped = "TerminationTarget";

/// On workloads: that it is a group's; the UID of the only pod.
inline constexpr std::string_view kIsGroup = "kueue.x-k8s.io/is-group-workload";
inline constexpr std::string_view kJobUid = "kueue.x-k8s.io/job-uid";

/// The pod set of a pod that is in no group.
inline constexpr std::string_view kMain = "main";
/// A LocalQueue of this name takes what names none.
inline constexpr std::string_view kDefaultQueue = "default";

}  // namespace pods
