// ResourceRules: what of a pod's requests is asked of quota: resources that are left out, and
// resources that stand for others.
//
// Quota is counted in what comes out; the pods themselves ask for what they asked for. Plain values
// and a pure function, any thread (Kueue's KEP-2937).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/types/pod.hpp"

namespace sluice {

/// One resource that counts as others.
struct ResourceTransformation {
  std::string input;
  bool retains_input = true;  ///< it counts itself, too
  /// The input's amount is multiplied by the pod's amount of this resource, if it asks for any;
  /// empty: by nothing.
  std::string multiply_by;
  /// Resource and amount, in thousandths of its unit, for each unit of the input; amounts of the
  /// input are rounded up to whole units, as Kueue does.
  std::vector<std::pair<std::string, std::int64_t>> outputs_milli;
};

struct ResourceRules {
  std::vector<std::string> excluded_prefixes;
  std::vector<ResourceTransformation> transformations;  ///< one for each input at most

  bool empty() const { return excluded_prefixes.empty() && transformations.empty(); }
};

/// What requests come to, in order of resource names and in the engine's unit: first those that are
/// excluded go, then each of the others counts as it is transformed. Several that come to the same
/// resource add up; what exceeds every quota is the largest amount there is. O(n log n + n m) for n
/// requests and m rules.
std::vector<api::ResourceRequest> asked_of_quota(const std::vector<api::ResourceRequest>& requests,
                                                 const ResourceRules& rules);

}  // namespace sluice
