// What a plugin is told of one attempt at one check of a workload, read of what is there now.
//
// A pure function of its inputs. Belongs to the kernel's thread.
#pragma once

#include <optional>
#include <string>

#include "core/engine/engine.hpp"
#include "host/objects/controller.hpp"
#include "host/plugins/check_controllers.hpp"

namespace sluice::host {

/// nullopt: the workload's object or the AdmissionCheck is not there.
/// REQUIRES: the engine has the workload.
std::optional<CheckQuery> check_query(const Engine& engine, const ObjectAccess& objects,
                                      WorkloadId id, const std::string& check);

}  // namespace sluice::host
