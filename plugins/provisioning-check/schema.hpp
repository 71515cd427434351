// The kinds that the plugin adds (form: docs/plugins/schema.md): ProvisioningRequestConfig,
// ProvisioningRequest and PodTemplate.
#pragma once

#include <string_view>

namespace provisioning {

inline constexpr std::string_view kSchema = R"json([
{
  "kind": "ProvisioningRequestConfig", "group": "kueue.x-k8s.io",
  "plural": "provisioningrequestconfigs", "shortNames": ["prc"], "scope": "Cluster",
  "description": "How capacity is asked for before workloads are admitted.",
  "versions": [
    {
      "version": "v1beta2", "storage": true,
      "columns": [
        {"name": "Class", "path": ".spec.provisioningClassName", "type": "string"},
        {"name": "Age", "path": ".metadata.creationTimestamp", "type": "date"}
      ],
      "fields": [
        {"path": "spec", "type": "object",
         "description": "What is asked for, and what happens when it is not given."},
        {"path": "spec.provisioningClassName", "type": "string", "required": true,
         "minLength": 1, "maxLength": 253, "format": "dns-subdomain",
         "description": "Who provides the capacity, and how."},
        {"path": "spec.parameters", "type": "object", "maxProperties": 100,
         "description": "Texts for the provider."},
        {"path": "spec.parameters{}", "type": "string", "maxLength": 255,
         "description": "Of one parameter."},
        {"path": "spec.managedResources", "type": "array", "maxItems": 100, "listType": "set",
         "description": "Only pod sets that ask for one of these need capacity; empty: all do."},
        {"path": "spec.managedResources[]", "type": "string", "description": "A resource."},
        {"path": "spec.retryStrategy", "type": "object", "default": {},
         "description": "What happens after a failure."},
        {"path": "spec.retryStrategy.backoffLimitCount", "type": "integer", "default": 3,
         "min": 0, "format": "int32",
          "description": "So many retries; then the workload is rejected."},
        {"path": "spec.retryStrategy.backoffBaseSeconds", "type": "integer", "default": 60,
         "min": 0, "format": "int32", "description": "Before the first retry; doubles with each."},
        {"path": "spec.retryStrategy.backoffMaxSeconds", "type": "integer", "default": 1800,
         "min": 0, "format": "int32", "description": "The longest pause."},
        {"path": "spec.podSetUpdates", "type": "object",
         "description": "What pods get when the capacity is there."},
        {"path": "spec.podSetUpdates.nodeSelector", "type": "array", "maxItems": 8,
         "listKeys": ["key"],
          "description": "Labels of nodes, with values that the provider names."},
        {"path": "spec.podSetUpdates.nodeSelector[].key", "type": "string", "required": true,
         "minLength": 1, "maxLength": 317, "format": "qualified-name",
         "description": "The label."},
        {"path": "spec.podSetUpdates.nodeSelector[].valueFromProvisioningClassDetail",
         "type": "string", "required": true, "minLength": 1, "maxLength": 32768,
         "description": "The entry of status.provisioningClassDetails that is its value."},
        {"path": "spec.podSetMergePolicy", "type": "string",
         "enum": ["IdenticalPodTemplates", "IdenticalWorkloadSchedulingRequirements"],
         "description": "Which pod sets are asked for as one."}
      ]
    },
    {
      "version": "v1beta1", "basedOn": "v1beta2", "deprecated": true,
      "fields": [
        {"path": "spec.provisioningClassName", "type": "string", "required": true,
         "maxLength": 253, "format": "dns-subdomain",
         "description": "Who provides the capacity, and how."},
        {"path": "spec.podSetUpdates.nodeSelector", "type": "array", "maxItems": 8,
         "description": "Labels of nodes, with values that the provider names."}
      ]
    }
  ]
},
{
  "kind": "ProvisioningRequest", "group": "autoscaling.x-k8s.io",
  "plural": "provisioningrequests", "shortNames": ["provreq", "provreqs"], "scope": "Namespaced",
  "description": "A wish for capacity, and what became of it.",
  "versions": [
    {
      "version": "v1", "storage": true, "status": true,
      "columns": [
        {"name": "Class", "path": ".spec.provisioningClassName", "type": "string"},
        {"name": "Accepted", "path": ".status.conditions[?(@.type=='Accepted')].status",
         "type": "string"},
        {"name": "Provisioned", "path": ".status.conditions[?(@.type=='Provisioned')].status",
         "type": "string"},
        {"name": "Failed", "path": ".status.conditions[?(@.type=='Failed')].status",
         "type": "string"},
        {"name": "Age", "path": ".metadata.creationTimestamp", "type": "date"}
      ],
      "fields": [
        {"path": "spec", "type": "object", "required": true, "description": "What is wanted."},
        {"path": "spec.provisioningClassName", "type": "string", "required": true,
         "maxLength": 253, "format": "dns-subdomain",
         "description": "Who provides the capacity, and how."},
        {"path": "spec.parameters", "type": "object", "maxProperties": 100,
         "description": "Texts for the provider."},
        {"path": "spec.parameters{}", "type": "string", "maxLength": 255,
         "description": "Of one parameter."},
        {"path": "spec.podSets", "type": "array", "required": true, "minItems": 1, "maxItems": 32,
         "description": "The pods that are to run."},
        {"path": "spec.podSets[].count", "type": "integer", "required": true, "min": 1,
         "format": "int32", "description": "How many of them."},
        {"path": "spec.podSets[].podTemplateRef", "type": "object", "required": true,
         "description": "What they are like."},
        {"path": "spec.podSets[].podTemplateRef.name", "type": "string", "required": true,
         "maxLength": 253, "format": "dns-subdomain",
         "description": "A PodTemplate of the same namespace."},
        {"path": "status", "type": "object", "description": "What the provider says."},
        {"path": "status.conditions", "type": "array", "listKeys": ["type"],
         "description": "Accepted, Provisioned, Failed, BookingExpired, CapacityRevoked."},
        {"path": "status.conditions[].lastTransitionTime", "type": "string", "required": true,
         "format": "date-time", "description": "When the status changed last."},
        {"path": "status.conditions[].message", "type": "string", "required": true,
         "maxLength": 32768, "description": "A sentence for people."},
        {"path": "status.conditions[].observedGeneration", "type": "integer", "min": 0,
         "format": "int64", "description": "The generation of the object that was looked at."},
        {"path": "status.conditions[].reason", "type": "string", "required": true,
         "minLength": 1, "maxLength": 1024, "format": "condition-reason",
         "description": "One word for programs."},
        {"path": "status.conditions[].status", "type": "string", "required": true,
         "enum": ["True", "False", "Unknown"], "description": "True, False or Unknown."},
        {"path": "status.conditions[].type", "type": "string", "required": true,
         "maxLength": 316, "format": "qualified-name",
         "description": "What the condition is about."},
        {"path": "status.provisioningClassDetails", "type": "object", "maxProperties": 64,
         "description": "Texts of the provider about the capacity."},
        {"path": "status.provisioningClassDetails{}", "type": "string", "maxLength": 32768,
         "description": "One of them."}
      ],
      "rules": [
        {"at": "spec.provisioningClassName", "rule": "immutable", "message": "Value is immutable"},
        {"at": "spec.parameters", "rule": "immutable", "message": "Value is immutable"},
        {"at": "spec.podSets", "rule": "immutable", "message": "Value is immutable"}
      ]
    },
    {"version": "v1beta1", "basedOn": "v1", "deprecated": true}
  ]
},
{
  "kind": "PodTemplate", "group": "", "plural": "podtemplates", "scope": "Namespaced",
  "description": "What a pod is like, without being one.",
  "versions": [
    {
      "version": "v1", "storage": true,
      "columns": [
        {"name": "Age", "path": ".metadata.creationTimestamp", "type": "date"}
      ],
      "fields": [
        {"path": "template", "type": "PodTemplateSpec", "description": "The pod."}
      ]
    }
  ]
}
])json";

}  // namespace provisioning
