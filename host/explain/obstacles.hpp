// What keeps a whole queue from admitting anything, or everybody who waits for a check: it is
// missing, stopped or not active. Sentences for a user, each with the remedy. Reads the present
// objects, so it belongs to the kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/objects/object_access.hpp"

namespace sluice::host {

/// Of the LocalQueue and its ClusterQueue; none when both serve.
std::vector<std::string> obstacles_of(const ObjectAccess& objects, const std::string& ns,
                                      const std::string& local_queue);

/// Of the ClusterQueue; empty when it serves.
std::string obstacle_of_queue(const ObjectAccess& objects, const std::string& cluster_queue);

/// Of the AdmissionCheck; empty when it is carried out.
std::string obstacle_of_check(const ObjectAccess& objects, const std::string& check);

}  // namespace sluice::host
