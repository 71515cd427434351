// The table of the service remotes/1: it leads to the RemoteObjectsPort of the host, inside the
// calls in which a plugin may use it.
//
// Constant. The functions may be called from any thread, and refuse all but the right one.
#pragma once

#include "sluice/svc/remotes.h"

namespace sluice::host {

const sluice_remotes_t& remotes_service();

}  // namespace sluice::host
