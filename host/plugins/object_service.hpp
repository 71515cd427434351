// The tables of the services objects/1 and state/1: they lead to the ObjectPort of the host, inside
// the calls in which a plugin may use it.
//
// Constant. The functions may be called from any thread, and refuse all but the right one.
#pragma once

#include "sluice/svc/objects.h"
#include "sluice/svc/state.h"

namespace sluice::host {

const sluice_objects_t& objects_service();
const sluice_state_t& state_service();

}  // namespace sluice::host
