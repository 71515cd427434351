// What the plugin adds to kinds (form: docs/plugins/schema.md): marks, and the StatefulSets of a
// cluster, which it reads. Only the system may say
// which pods are queued here, which pod set they are of, and which workload is a group's. The pods
// of a group are written in one order, so that none starts before the admission is stored.
//
// Constants; any thread.
#pragma once

#include <string_view>

namespace pods {

inline constexpr std::string_view kSchema = R"json([
{
  "kind": "Pod", "group": "",
  "marks": ["kueue.x-k8s.io/managed", "kueue.x-k8s.io/role-hash", "sluice.dev/created-by"],
  "together": "kueue.x-k8s.io/pod-group-name",
  "versions": []
},
{
  "kind": "Workload", "group": "kueue.x-k8s.io",
  "marks": ["kueue.x-k8s.io/is-group-workload"],
  "versions": []
},
{
  "kind": "StatefulSet", "group": "apps", "plural": "statefulsets", "scope": "Namespaced",
  "internal": true,
  "versions": [{"version": "v1", "storage": true, "status": true,
    "fields": [{"path": "spec", "type": "any"}, {"path": "status", "type": "any"}]}]
}
])json";

inline constexpr std::string_view kConfigSchema = R"json({
  "type": "object",
  "properties": {
    "exceptNamespaces": {"type": "array", "items": {"type": "string"},
      "default": ["kube-system", "kueue-system"],
      "description": "pods of these namespaces are left alone"},
    "labelKeysToCopy": {"type": "array", "items": {"type": "string"},
      "defaultFrom": "labelKeysToCopy",
      "description": "labels of pods that their workload gets when it is made"},
    "namespaceSelector": {"type": "object", "additionalProperties": true,
      "defaultFrom": "managedJobsNamespaceSelector",
      "description": "labels of the namespaces in which pods are held"},
    "withoutQueueName": {"type": "boolean", "default": false,
      "defaultFrom": "manageJobsWithoutQueueName",
      "description": "pods that name no queue are held as well, until they name one"}
  }
})json";

}  // namespace pods
