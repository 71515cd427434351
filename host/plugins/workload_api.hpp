// The accessor table through which plugins see an api::Workload (sdk/include/sluice/workload.h).
//
// The opaque handle is the address of the host's immutable object: nothing is copied. Any thread.
#pragma once

#include "core/types/kinds.hpp"
#include "host/plugins/call_board.hpp"
#include "sluice/workload.h"

namespace sluice::host {

const sluice_workload_api_t& workload_api();

inline const sluice_workload_t* handle_of(const api::Workload& workload) {
  return reinterpret_cast<const sluice_workload_t*>(&workload);
}

inline sluice_workload_ref_t ref_of(const api::Workload& workload) {
  return {&workload_api(), handle_of(workload)};
}

/// REQUIRES: one that ref_of() made.
inline const api::Workload& workload_behind(const sluice_workload_ref_t& ref) {
  return *reinterpret_cast<const api::Workload*>(ref.handle);
}

/// For the board of calls. The workload must outlive it.
inline CallAbout about_of(const api::Workload& workload) {
  return {workload.meta.ns, workload.meta.name};
}

}  // namespace sluice::host
