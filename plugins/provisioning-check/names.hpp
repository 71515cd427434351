// Names of the objects that the plugin makes, as other controllers of this API make them: readable,
// and cut with a hash where they would be too long. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace provisioning {

/// At most 247 bytes: a longer name keeps its beginning and gets 5 digits of its hash.
std::string limited_name(const std::string& name);

/// WORKLOAD-CHECK-ATTEMPT; attempts count from 1.
std::string request_name(std::string_view workload, std::string_view check, std::int64_t attempt);

/// ppt-REQUEST-PODSET
std::string template_name(std::string_view request, std::string_view pod_set);

}  // namespace provisioning
