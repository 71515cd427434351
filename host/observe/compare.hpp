// What Sluice would do now with each workload that waits in a cluster, beside its status there:
// what `sluice observe --compare` prints.
//
// comparison() runs the trial, so it belongs to its thread; the texts are pure functions.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "host/observe/mirror.hpp"
#include "host/observe/trial.hpp"

namespace sluice::host {

/// What the cluster's own conditions say of a workload: `state`, `reason`, `message`, `since`.
boost::json::object cluster_says(const StoredObject& workload);

/// The document of docs/kubernetes.md. REQUIRES: the trial was not run. `mirror`: tells what of the
/// cluster has no part in it.
boost::json::object comparison(Trial& trial, const Mirror& mirror);

/// Whether Sluice would leave each workload and each admission as it is.
bool agrees(const boost::json::object& comparison);

/// For a terminal; ends with a line break.
std::string comparison_text(const boost::json::object& comparison);

}  // namespace sluice::host
