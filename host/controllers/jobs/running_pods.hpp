// Which pods of a job may still run: what its quota is held for, whatever became of the job. Where
// the host makes the pods of jobs, their objects stay until their processes have ended.
//
// Kernel's thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "host/objects/object_access.hpp"

namespace sluice::host {

/// Whether there is one, of the object with this UID that is or was in the namespace. Ends at the
/// first.
bool has_running_pods(const ObjectAccess& objects, std::string_view uid, std::string_view ns);

/// How many there are of each pod set. O(pods of the job).
std::map<std::string, std::int32_t, std::less<>> running_pods(const ObjectAccess& objects,
                                                              std::string_view uid,
                                                              std::string_view ns);

/// Ends them all, with their grace. O(pods of the job).
Result<void> end_running_pods(ObjectAccess& objects, std::string_view uid, std::string_view ns);

}  // namespace sluice::host
