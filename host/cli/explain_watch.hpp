// `sluice explain --watch`: the explanation again whenever it has changed, until the job has ended.
//
// Blocks the calling (main) thread; watches report what may have changed it, on a thread of their
// own that lives as long as the call.
#pragma once

#include <functional>

#include "core/base/result.hpp"
#include "host/client/explain.hpp"

namespace sluice::host {

/// Calls `print` with the first one and each that differs from the last but for its time. The exit
/// status; an error when there is nothing to explain at first.
Result<int> watch_explanation(const Client& client, const ExplainTarget& target,
                              const std::function<void(const boost::json::object&)>& print);

}  // namespace sluice::host
