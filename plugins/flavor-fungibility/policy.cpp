#include "policy.hpp"

namespace fungibility {

Policy policy_of(const sluice::Json& cluster_queue, bool implicit_preference) {
  const sluice::Json* stated = cluster_queue.find("spec.flavorFungibility");
  if (stated == nullptr) return {};
  // The stop values are spelt differently by the API versions; only "try the next one" is not.
  Policy policy;
  policy.stop_when_borrowing = stated->string_or("whenCanBorrow", "Borrow") != "TryNextFlavor";
  policy.stop_when_preempting =
      stated->string_or("whenCanPreempt", "TryNextFlavor") != "TryNextFlavor";
  const std::string preference = stated->string_or("preference", "");
  if (!preference.empty())
    policy.avoid_borrowing_first = preference == "PreemptionOverBorrowing";
  else
    policy.avoid_borrowing_first = implicit_preference && !policy.stop_when_borrowing;
  return policy;
}

}  // namespace fungibility
