// What the plugin adds to ClusterQueue and Workload, the same in both API versions (form:
// docs/plugins/schema.md).
#pragma once

#include <string>
#include <string_view>

namespace options {

inline constexpr std::string_view kQueueFields = R"json(
  {"path": "spec.concurrentAdmission", "type": "object",
   "description": 
    "Race the flavors of this queue: each workload is tried in several options at once."},
  {"path": "spec.concurrentAdmission.onSuccess", "type": "string", "required": true,
   "enum": ["RemoveOther", "RemoveLower", "RemoveBelowTarget"],
   "description": "Which other options stop when one is admitted; the rest may take over later."},
  {"path": "spec.concurrentAdmission.explicitOptions", "type": "array", "maxItems": 64,
   "listKeys": ["name"], "description": "The options; without them there is one per flavor."},
  {"path": "spec.concurrentAdmission.explicitOptions[].name", "type": "string", "required": true,
   "minLength": 1, "maxLength": 63, "format": "dns-label",
   "description": "Part of the name of the option's Workload."},
  {"path": "spec.concurrentAdmission.explicitOptions[].createDelaySeconds", "type": "integer",
   "min": 0, "format": "int32",
   "description": 
    "Not before so long after the creation or the last reset."},
  {"path": "spec.concurrentAdmission.explicitOptions[].deleteDelaySeconds", "type": "integer",
   "min": 0, "format": "int32",
   "description": "So long after another option was admitted first, this one stops."},
  {"path": "spec.concurrentAdmission.explicitOptions[].allowedResourceFlavors", "type": "array",
   "required": true, "minItems": 1, "maxItems": 256, "listType": "set",
   "description": "Flavors of this queue that the option may use."},
  {"path": "spec.concurrentAdmission.explicitOptions[].allowedResourceFlavors[]", "type": "string",
   "maxLength": 253, "format": "dns-subdomain", "description": "A flavor."},
  {"path": "spec.concurrentAdmission.removeBelowTargetConfig", "type": "object",
   "description": "Exactly with RemoveBelowTarget."},
  {"path": "spec.concurrentAdmission.removeBelowTargetConfig.targetResourceFlavor",
   "type": "string", "required": true, "minLength": 1, "maxLength": 253, "format": "dns-subdomain",
   "description": "Options below this flavor stop when one is admitted."},
  {"path": "spec.concurrentAdmissionPolicy", "type": "object",
   "description": "Another spelling of concurrentAdmission; only one of the two may be given."},
  {"path": "spec.concurrentAdmissionPolicy.migration", "type": "object", "required": true,
   "description": "Whether an admitted workload may move."},
  {"path": "spec.concurrentAdmissionPolicy.migration.mode", "type": "string", "required": true,
   "enum": ["TryPreferredFlavors", "RetainFirstAdmission"],
   "description": 
    "RemoveLower or, with a constraint, RemoveBelowTarget; RemoveOther."},
  {"path": "spec.concurrentAdmissionPolicy.migration.constraints", "type": "object",
   "description": "How far a workload may move."},
  {"path": "spec.concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName",
   "type": "string", "maxLength": 253, "format": "dns-subdomain",
   "description": "Options below this flavor stop when one is admitted."},
  {"path": "spec.concurrentAdmissionPolicy.explicitVariants", "type": "array", "maxItems": 64,
   "listKeys": ["name"], "description": "The options; without them there is one per flavor."},
  {"path": "spec.concurrentAdmissionPolicy.explicitVariants[].name", "type": "string",
   "required": true, "minLength": 1, "maxLength": 63, "format": "dns-label",
   "description": "Part of the name of the option's Workload."},
  {"path": "spec.concurrentAdmissionPolicy.explicitVariants[].createDelaySeconds",
   "type": "integer", "min": 0, "format": "int32",
   "description": 
    "Not before so long after the creation or the last reset."},
  {"path": "spec.concurrentAdmissionPolicy.explicitVariants[].deleteDelaySeconds",
   "type": "integer", "min": 0, "format": "int32",
   "description": "So long after another option was admitted first, this one stops."},
  {"path": "spec.concurrentAdmissionPolicy.explicitVariants[].allowedResourceFlavors",
   "type": "array", "required": true, "minItems": 1, "maxItems": 256, "listType": "set",
   "description": "Flavors of this queue that the option may use."},
  {"path": "spec.concurrentAdmissionPolicy.explicitVariants[].allowedResourceFlavors[]",
   "type": "string", "maxLength": 253, "format": "dns-subdomain", "description": "A flavor."}
)json";

inline constexpr std::string_view kQueueRules = R"json(
  {"at": "spec", "rule": "exclusive",
   "fields": ["concurrentAdmission", "concurrentAdmissionPolicy"],
   "message": 
  "two spellings of one policy: give either concurrentAdmission or concurrentAdmissionPolicy"}
)json";

inline constexpr std::string_view kWorkloadFields = R"json(
  {"path": "spec.admissionConstraints", "type": "object",
   "description": "Limits to where the workload may run."},
  {"path": "spec.admissionConstraints.allowedResourceFlavors", "type": "array", "maxItems": 256,
   "listType": "set",
   "description": "Only these flavors may be assigned; empty or absent: all of the queue."},
  {"path": "spec.admissionConstraints.allowedResourceFlavors[]", "type": "string",
   "maxLength": 253, "format": "dns-subdomain", "description": "A flavor."},
  {"path": "status.options", "type": "array", "maxItems": 256, "listKeys": ["name"],
   "description": 
    "Of a workload that is tried in several options: what became of each, best first."},
  {"path": "status.options[].name", "type": "string", "required": true, "maxLength": 253,
   "description": "The option's Workload."},
  {"path": "status.options[].resourceFlavors", "type": "array", "maxItems": 256,
   "description": "Flavors that the option may use."},
  {"path": "status.options[].resourceFlavors[]", "type": "string", "description": "A flavor."},
  {"path": "status.options[].state", "type": "string", "required": true,
   "enum": ["Pending", "Admitted", "Deactivated", "Finished"],
   "description": "Where the option stands."},
  {"path": "status.options[].message", "type": "string", "maxLength": 32768,
   "description": "Why."},
  {"path": "status.options[].lastTransitionTime", "type": "time",
   "description": "When its state changed last."}
)json";

inline constexpr std::string_view kWorkloadColumns = R"json(
  {"name": "Option", "type": "string", "priority": 1,
   "path": ".metadata.annotations.sluice\\.dev/option"},
  {"name": "Options", "type": "string", "priority": 1, "path": ".status.options[*].state"}
)json";

inline std::string schema_text() {
  const auto versions = [](std::string_view parts) {
    std::string out;
    for (const char* version : {"v1beta2", "v1beta1"})
      out += std::string(out.empty() ? "" : ",") + "{\"version\":\"" + version + "\"," +
             std::string(parts) + "}";
    return "[" + out + "]";
  };
  std::string queue = "\"fields\":[" + std::string(kQueueFields) + "],\"rules\":[";
  queue += std::string(kQueueRules) + "]";
  std::string workload = "\"fields\":[" + std::string(kWorkloadFields) + "],\"columns\":[";
  workload += std::string(kWorkloadColumns) + "]";
  // Only the plugin decides which workload is tried in options: no other writer may set its mark.
  return R"([{"kind":"ClusterQueue","group":"kueue.x-k8s.io","versions":)" + versions(queue) +
         R"(},{"kind":"Workload","group":"kueue.x-k8s.io",)"
         R"("marks":["kueue.x-k8s.io/parent-option"],"versions":)" +
         versions(workload) + "}]";
}

}  // namespace options
