// Sticky flavors: a slice that grows a running job stays on the flavors that the job runs on. Which
// those are is written on the slice when it is made, so that a cycle has nothing to look up and a
// restart nothing to find again; the slice ends when the job loses its place.
//
// Form: `PODSET=FLAVOR,FLAVOR;PODSET=FLAVOR`. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace elastic {

struct StickyPodSet {
  std::string name;
  std::vector<std::string> flavors;
};

std::string sticky_text(const std::vector<StickyPodSet>& pod_sets);

/// The flavor of `offered` (those of one resource group) that the pod set has to stay on; empty:
/// none of them is. Allocates nothing.
std::string_view sticky_flavor(std::string_view text, std::string_view pod_set,
                               const std::vector<std::string_view>& offered);

}  // namespace elastic
