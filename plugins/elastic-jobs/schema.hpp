// The columns that the plugin adds to workloads (form: docs/plugins/schema.md). It adds no fields:
// its data stands in annotations, as in the proposal. They are marks: only the plugin may say which
// workload takes another's place.
//
// A constant; any thread.
#pragma once

#include <string_view>

namespace elastic {

inline constexpr std::string_view kSchema = R"json([
{
  "kind": "Workload", "group": "kueue.x-k8s.io",
  "marks": ["kueue.x-k8s.io/workload-slice-replacement-for", "kueue.x-k8s.io/workload-slice-name",
            "sluice.dev/takes-over-from"],
  "versions": [
    {
      "version": "v1beta2",
      "columns": [
        {"name": "Replaces", "type": "string", "priority": 1,
         "path": ".metadata.annotations.kueue\\.x-k8s\\.io/workload-slice-replacement-for"}
      ]
    },
    {
      "version": "v1beta1",
      "columns": [
        {"name": "Replaces", "type": "string", "priority": 1,
         "path": ".metadata.annotations.kueue\\.x-k8s\\.io/workload-slice-replacement-for"}
      ]
    }
  ]
}
])json";

}  // namespace elastic
