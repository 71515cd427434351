// Parents: who makes pods that are held up and do not say in which queue they wait (annotation
// kueue.x-k8s.io/pod-suspending-parent, as Kueue puts it into the templates of StatefulSets). Of a
// StatefulSet that is what it says itself, so that its template, and with it its pods, stay as they
// are when it is given another queue. Who makes other pods tells them himself.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sluice/cpp/json.hpp"
#include "sluice/cpp/objects.hpp"

namespace pods {

inline constexpr const char* kSetVersion = "apps/v1";
inline constexpr const char* kSetKind = "StatefulSet";

/// Whether somebody else is to say in which group, or queue, the pod waits.
bool waits_for_parent(const sluice::Json& pod);

/// The StatefulSet that holds the pod up: its name and its UID; nullopt: none does.
struct ParentSet {
  std::string name, uid;
};
std::optional<ParentSet> parent_set_of(const sluice::Json& pod);

/// The StatefulSet with which the pod's workload outlives its pods: the one that holds it up; of
/// the first pod of a LeaderWorkerSet's replica the one that makes the first pods of all of them.
std::optional<ParentSet> lasting_set_of(const sluice::Json& pod);

/// The group, and so the workload, of a StatefulSet's pods: as Kueue calls it.
std::string group_of_set(const std::string& name, const std::string& uid);

/// What a StatefulSet tells its pods: `labels` and `annotations` of their metadata; nullopt: it
/// names no queue, or has no pods.
std::optional<sluice::Json> told_by_set(const sluice::Json& set);

std::int64_t replicas_of_set(const sluice::Json& set);

}  // namespace pods
