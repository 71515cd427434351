// tell_service_manager(): what a process says to the service manager that started it (the protocol
// of sd_notify): "READY=1", "STOPPING=1", "STATUS=…".
//
// Nothing happens without a listener (NOTIFY_SOCKET is not set), and failures are not reported: the
// service manager's timeout detects them. For the main thread.
#pragma once

#include <string_view>

namespace sluice::host {

void tell_service_manager(std::string_view message);

}  // namespace sluice::host
