// The accessor tables through which plugins see flavors and ClusterQueues
// (sdk/include/sluice/capacity.h).
//
// The opaque handles are the addresses of what the engine hands to its hooks: nothing is copied.
// Any thread.
#pragma once

#include "core/hooks/hooks.hpp"
#include "sluice/capacity.h"

namespace sluice::host {

const sluice_flavor_api_t& flavor_api();
const sluice_cluster_queue_api_t& cluster_queue_api();

inline const sluice_flavor_t* handle_of(const hooks::FlavorFacts& flavor) {
  return reinterpret_cast<const sluice_flavor_t*>(&flavor);
}
inline const sluice_cluster_queue_t* handle_of(const api::ClusterQueue& queue) {
  return reinterpret_cast<const sluice_cluster_queue_t*>(&queue);
}

}  // namespace sluice::host
