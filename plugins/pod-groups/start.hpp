// Starting a pod: what the admission of its workload puts into it, and that its gate goes.
//
// A pure function of what it is given, any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/cpp/json.hpp"

namespace pods {

/// A ResourceFlavor by its name; nullopt: there is none.
using FindFlavor = std::function<std::optional<sluice::Json>(const std::string&)>;

/// Whether the pod asks for no more, no less and nothing else than is counted for it: also of a
/// workload that somebody else made none gets more.
bool asks_as_counted(const sluice::Json& pod, const sluice::Json& workload,
                     std::string_view pod_set);

/// Changes the gated pod into one that may run: node labels and tolerations of the flavors that its
/// pod set got, what admission checks want of it, and the marks that tell where it belongs. Gives a
/// sentence when the pod itself says otherwise than the admission; it is not to be used then.
std::string let_start(sluice::Json& pod, const sluice::Json& workload, std::string_view pod_set,
                      const FindFlavor& flavor);

}  // namespace pods
