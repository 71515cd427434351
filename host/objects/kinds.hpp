// Kinds that the host treats otherwise than others: those whose status the engine writes, and those
// that run. Pure functions, any thread.
#pragma once

#include "api/schema/kind_info.hpp"

namespace sluice::host {

inline bool is_workload(const api::KindInfo& kind) {
  return kind.kind == "Workload" && kind.group == "kueue.x-k8s.io";
}

inline bool is_pod(const api::KindInfo& kind) { return kind.kind == "Pod" && kind.group.empty(); }

}  // namespace sluice::host
