// The kinds that the plugin adds (form: docs/plugins/schema.md): MultiKueueConfig and
// MultiKueueCluster.
#pragma once

#include <string_view>

namespace clusters {

inline constexpr std::string_view kSchema = R"json([
{
  "kind": "MultiKueueConfig", "group": "kueue.x-k8s.io",
  "plural": "multikueueconfigs", "shortNames": ["mkconf"], "scope": "Cluster",
  "description": "The clusters among which the workloads of a check are distributed.",
  "versions": [
    {
      "version": "v1beta2", "storage": true,
      "columns": [
        {"name": "Age", "path": ".metadata.creationTimestamp", "type": "date"}
      ],
      "fields": [
        {"path": "spec", "type": "object", "description": "Where work may go."},
        {"path": "spec.clusters", "type": "array", "required": true, "minItems": 1,
         "maxItems": 20, "listType": "set",
         "description": "Names of MultiKueueClusters, the preferred ones first."},
        {"path": "spec.clusters[]", "type": "string", "maxLength": 256,
         "description": "A MultiKueueCluster."},
        {"path": "spec.quotaManagement", "type": "string", "enum": ["Manual", "Automated"],
         "description": "Who keeps the quota of the queue in step with that of the clusters."}
      ]
    },
    {
      "version": "v1beta1", "basedOn": "v1beta2", "deprecated": true,
      "without": ["spec.quotaManagement"],
      "fields": [
        {"path": "spec.clusters[]", "type": "string", "description": "A MultiKueueCluster."}
      ]
    }
  ]
},
{
  "kind": "MultiKueueCluster", "group": "kueue.x-k8s.io",
  "plural": "multikueueclusters", "shortNames": ["mkc"], "scope": "Cluster",
  "description": "A cluster to which work may go, and how it is reached.",
  "versions": [
    {
      "version": "v1beta2", "storage": true, "status": true,
      "columns": [
        {"name": "Connected", "path": ".status.conditions[?(@.type=='Active')].status",
         "type": "string"},
        {"name": "Age", "path": ".metadata.creationTimestamp", "type": "date"}
      ],
      "fields": [
        {"path": "spec", "type": "object", "description": "How it is reached."},
        {"path": "spec.clusterSource", "type": "object", "required": true,
         "description": "Whence address and credentials come."},
        {"path": "spec.clusterSource.kubeConfig", "type": "object",
         "description": "From a kubeconfig."},
        {"path": "spec.clusterSource.kubeConfig.location", "type": "string", "required": true,
         "minLength": 1, "maxLength": 256,
         "description": "The name of a Secret, or the path of a file."},
        {"path": "spec.clusterSource.kubeConfig.locationType", "type": "string",
         "default": "Secret", "enum": ["Secret", "Path"], "description": "Which of the two."},
        {"path": "spec.clusterSource.clusterProfileRef", "type": "object",
         "description": "From a ClusterProfile."},
        {"path": "spec.clusterSource.clusterProfileRef.name", "type": "string",
         "required": true, "minLength": 1, "maxLength": 256, "description": "Its name."},
        {"path": "status", "type": "object", "description": "Can it be reached?"},
        {"path": "status.conditions", "type": "array", "maxItems": 16, "listKeys": ["type"],
         "description": "Active: it is connected."},
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
         "description": "What the condition is about."}
      ],
      "rules": [
        {"at": "spec.clusterSource", "rule": "exactlyOne",
         "fields": ["kubeConfig", "clusterProfileRef"],
         "message": "exactly one of the fields in [kubeConfig clusterProfileRef] must be set"}
      ]
    },
    {
      "version": "v1beta1", "deprecated": true, "status": true,
      "columns": [
        {"name": "Connected", "path": ".status.conditions[?(@.type=='Active')].status",
         "type": "string"},
        {"name": "Age", "path": ".metadata.creationTimestamp", "type": "date"}
      ],
      "fields": [
        {"path": "spec", "type": "object", "description": "How it is reached."},
        {"path": "spec.kubeConfig", "type": "object", "description": "From a kubeconfig."},
        {"path": "spec.kubeConfig.location", "type": "string", "required": true,
         "description": "The name of a Secret, or the path of a file."},
        {"path": "spec.kubeConfig.locationType", "type": "string", "default": "Secret",
         "enum": ["Secret", "Path"], "description": "Which of the two."},
        {"path": "spec.clusterProfileRef", "type": "object",
         "description": "From a ClusterProfile."},
        {"path": "spec.clusterProfileRef.name", "type": "string", "required": true,
         "minLength": 1, "maxLength": 256, "description": "Its name."},
        {"path": "status", "type": "object", "description": "Can it be reached?"},
        {"path": "status.conditions", "type": "array", "listKeys": ["type"],
         "description": "Active: it is connected."},
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
         "description": "What the condition is about."}
      ],
      "moves": [["spec.kubeConfig", "spec.clusterSource.kubeConfig"],
                ["spec.clusterProfileRef", "spec.clusterSource.clusterProfileRef"]]
    }
  ]
}
])json";

}  // namespace clusters
