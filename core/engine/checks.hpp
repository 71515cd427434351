// Admission checks of one workload (KEP-993, semantics 7): which it has to pass, what its states
// come to, and when they begin anew. Functions of the records; what follows is the Lifecycle's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/model.hpp"

namespace sluice {

/// While it waits, the checks that hold for all flavors; with a reservation, those of its flavors.
/// States of checks that stay are kept, and so are the retries of those that may come back. True:
/// the list changed.
bool list_checks(Model& model, WorkloadId id);

/// After a reservation ended. What was rejected stays to be seen, unless `all` begin anew.
void reset_checks(const Model& model, WorkloadRecord& w, bool all);

/// Takes over what is said of one of its checks; the answer is the state before, and nullopt: that
/// was known already.
std::optional<std::string> take_report(const Model& model, const WorkloadRecord& w,
                                       api::AdmissionCheckState& check,
                                       const api::AdmissionCheckState& report);

/// What the states come to, the gravest first.
enum class ChecksSay : std::uint8_t {
  kRejected,
  kRetry,
  kGoOn,  ///< all are Ready, or they let the preemptions go that were held back
  kWait,
};
struct CheckVerdict {
  ChecksSay say = ChecksSay::kWait;
  /// kRejected and kRetry: `AdmissionChecks in Retry state: "name" (message); …`
  std::string checks;
};
CheckVerdict verdict_of(const Model& model, const WorkloadRecord& w);

bool all_ready(const WorkloadRecord& w);
/// May the preemptions that were held back go on: every check with that policy is Ready, or some
/// check asks for them?
bool lets_preempt(const Model& model, const WorkloadRecord& w);

/// When the longest delay of the checks that say Retry is over.
Time retry_due(const Model& model, const WorkloadRecord& w);

}  // namespace sluice
