// Kinds that the host treats otherwise than others: those whose status the engine writes, those
// that run, and those because of which pods are others than their templates say. Pure functions,
// any thread.
#pragma once

#include "api/schema/kind_info.hpp"

namespace sluice::host {

inline bool is_workload(const api::KindInfo& kind) {
  return kind.kind == "Workload" && kind.group == "kueue.x-k8s.io";
}

/// A cluster's; a host of its own has none, and serves none.
inline bool decides_about_pods(const api::KindInfo& kind) {
  return (kind.kind == "LimitRange" && kind.group.empty()) ||
         (kind.kind == "RuntimeClass" && kind.group == "node.k8s.io");
}

/// Of workloads, or of pods.
inline bool is_priority_class(const api::KindInfo& kind) {
  return kind.kind == "WorkloadPriorityClass" || kind.kind == "PriorityClass";
}

inline bool is_pod(const api::KindInfo& kind) { return kind.kind == "Pod" && kind.group.empty(); }

}  // namespace sluice::host
