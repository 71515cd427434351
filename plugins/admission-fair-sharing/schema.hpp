// Fields of the API that mean something while the plugin is there (form: docs/plugins/schema.md).
//
// The fields themselves are Kueue's, and there without it, too.
#pragma once

#include <string_view>

namespace afs {

inline constexpr std::string_view kSchema = R"json([
  {"kind": "ClusterQueue", "group": "kueue.x-k8s.io", "gives": ["spec.admissionScope"]},
  {"kind": "LocalQueue", "group": "kueue.x-k8s.io", "gives": ["spec.fairSharing"]}
])json";

}  // namespace afs
