// What kept the pods of a workload's job from running, when they were started last, in the words of
// the component that tried. Pods that never get ready are gone when their workload has been evicted
// or deactivated for it; the Events about them stay. On the kernel's thread.
#pragma once

#include <string>

#include "host/objects/object_access.hpp"

namespace sluice::host {

/// The youngest warning about a pod of the job that controls the workload and does not run, as a
/// sentence; empty: there is none, or all its pods are ready. O(Events and jobs of the namespace).
std::string trouble_of_pods(const ObjectAccess& objects, const std::string& workload);

/// How that one of the workload's pods ended, or of its job's, that failed last; empty: none did,
/// or they are gone. O(pods of the job).
std::string failure_of_pods(const ObjectAccess& objects, const std::string& workload);

}  // namespace sluice::host
