// The table of the service check-reporter/1: reports are judged here, on the thread of whoever
// makes them, and queued. Whose check it is, the controller that takes them in judges.
//
// Constant; any thread.
#pragma once

#include "sluice/svc/check_reporter.h"

namespace sluice::host {

const sluice_check_reporter_t& check_reporter_service();

}  // namespace sluice::host
