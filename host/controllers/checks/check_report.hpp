// What is wrong with a plugin's report on an admission check, of what could not be judged when it
// was made (plugins/check_service.hpp): that needs the workload, and the marks that plugins list.
//
// A pure function, any thread.
#pragma once

#include <optional>
#include <string>

#include "api/scheme/scheme.hpp"
#include "core/types/kinds.hpp"
#include "host/plugins/check_controllers.hpp"

namespace sluice::host {

struct ReportFault {
  const char* what = "";
  std::string value;  ///< that is wrong
};

/// nullopt: nothing. `pods`: the kind Pod.
std::optional<ReportFault> fault_in(const CheckReport& report, const api::Workload& workload,
                                    const api::KindInfo& pods);

}  // namespace sluice::host
