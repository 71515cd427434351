// The ProvisioningRequest and the PodTemplates of one attempt, as JSON; and what they say of
// themselves when they are read again. Pure functions.
#pragma once

#include <sluice/cpp/checks.hpp>
#include <sluice/cpp/json.hpp>
#include <sluice/cpp/objects.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy.hpp"

namespace provisioning {

inline constexpr std::string_view kRequestVersion = "autoscaling.x-k8s.io/v1";
inline constexpr std::string_view kConfigVersion = "kueue.x-k8s.io/v1beta2";
inline constexpr std::string_view kWorkloadVersion = "kueue.x-k8s.io/v1beta2";
/// Label of a request: the UID of its workload.
inline constexpr std::string_view kWorkloadUid = "sluice.dev/workload-uid";

inline sluice::ObjectRef request_ref(const std::string& ns, const std::string& name) {
  return {std::string(kRequestVersion), "ProvisioningRequest", ns, name};
}

/// Which attempt a request belongs to.
struct Attempt {
  sluice::CheckAttempt id;
  std::int64_t number = 1;  ///< from 1; the check's retries so far are one less
  bool operator==(const Attempt&) const = default;
};

/// The request, owned by the workload; it names the templates but does not hold them.
sluice::Json request_for(const Attempt& attempt, const Config& config, const Pairs& parameters,
                         const std::vector<Share>& shares);

/// Whether the request asks for the class of the configuration with these parameters.
bool asks_for(const sluice::Json& request, const Config& config, const Pairs& parameters);

/// The templates, owned by the request, whose uid it has by now.
std::vector<sluice::Json> templates_for(const sluice::Json& request,
                                        const std::vector<Share>& shares);

/// nullopt: it was not made by this plugin.
std::optional<Attempt> attempt_of(const sluice::Json& request);

}  // namespace provisioning
