// Kueue's own configuration (config.kueue.x-k8s.io/v1beta1 and v1beta2), read as Sluice's.
//
// What has a counterpart is taken with Kueue's defaults; each other key that is there becomes a
// note that says where to look instead. Unknown keys are mistakes, as in our own file. Used while a
// file is loaded, on one thread.
#pragma once

#include <string_view>

#include "host/config/config.hpp"
#include "host/config/section.hpp"

namespace sluice::host {

enum class KueueFile : std::uint8_t { kNone, kV1Beta1, kV1Beta2 };

/// What a document of this apiVersion is.
KueueFile kueue_file(std::string_view api_version);

/// Where Kueue's release keeps its file: the key of a ConfigMap.
inline constexpr const char* kKueueDataKey = "controller_manager_config.yaml";

/// Takes out of the document what is null. REQUIRES: `file` is not kNone.
void read_kueue_file(KueueFile file, const YAML::Node& document, ConfigErrors& errors,
                     Configuration& out);

}  // namespace sluice::host
