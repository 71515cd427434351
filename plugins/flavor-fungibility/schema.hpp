// What the plugin adds to ClusterQueue, in both API versions (form: docs/plugins/schema.md).
//
// v1beta1 spells the values that stop the search as the proposal does, Borrow and Preempt; v1beta2
// has one word for both, MayStopSearch. v1beta1 takes that word too, as Kueue does.
#pragma once

#include <string_view>

namespace fungibility {

inline constexpr std::string_view kSchema = R"json({
  "kind": "ClusterQueue",
  "group": "kueue.x-k8s.io",
  "versions": [
    {
      "version": "v1beta2",
      "fields": [
        {
          "path": "spec.flavorFungibility", "type": "object", "default": {},
          "description": "When to borrow or preempt in a flavor before trying the next one."
        },
        {
          "path": "spec.flavorFungibility.whenCanBorrow", "type": "string",
          "default": "MayStopSearch", "enum": ["MayStopSearch", "TryNextFlavor"],
          "description": "What to do at a flavor that the workload fits by borrowing."
        },
        {
          "path": "spec.flavorFungibility.whenCanPreempt", "type": "string",
          "default": "TryNextFlavor", "enum": ["MayStopSearch", "TryNextFlavor"],
          "description": "What to do at a flavor in which preemption makes room."
        },
        {
          "path": "spec.flavorFungibility.preference", "type": "string",
          "enum": ["BorrowingOverPreemption", "PreemptionOverBorrowing"],
          "description": "Which flavor is better: one to borrow in or one to preempt in."
        }
      ],
      "rules": [
        {
          "at": "spec.flavorFungibility", "rule": "allowedIf", "field": "preference",
          "when": {"whenCanBorrow": ["TryNextFlavor"], "whenCanPreempt": ["TryNextFlavor"]},
          "message":
        "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor"
        }
      ]
    },
    {
      "version": "v1beta1",
      "fields": [
        {
          "path": "spec.flavorFungibility", "type": "object", "default": {},
          "description": "When to borrow or preempt in a flavor before trying the next one."
        },
        {
          "path": "spec.flavorFungibility.whenCanBorrow", "type": "string",
          "default": "Borrow", "enum": ["Borrow", "TryNextFlavor", "MayStopSearch"],
          "description": "What to do at a flavor that the workload fits by borrowing."
        },
        {
          "path": "spec.flavorFungibility.whenCanPreempt", "type": "string",
          "default": "TryNextFlavor", "enum": ["Preempt", "TryNextFlavor", "MayStopSearch"],
          "description": "What to do at a flavor in which preemption makes room."
        },
        {
          "path": "spec.flavorFungibility.preference", "type": "string",
          "enum": ["BorrowingOverPreemption", "PreemptionOverBorrowing"],
          "description": "Which flavor is better: one to borrow in or one to preempt in."
        }
      ],
      "rules": [
        {
          "at": "spec.flavorFungibility", "rule": "allowedIf", "field": "preference",
          "when": {"whenCanBorrow": ["TryNextFlavor"], "whenCanPreempt": ["TryNextFlavor"]},
          "message":
        "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor"
        }
      ]
    }
  ],
  "valueMappings": [
    {
      "version": "v1beta1", "path": "spec.flavorFungibility.whenCanBorrow",
      "toStorage": {"Borrow": "MayStopSearch"}, "fromStorage": {"MayStopSearch": "Borrow"}
    },
    {
      "version": "v1beta1", "path": "spec.flavorFungibility.whenCanPreempt",
      "toStorage": {"Preempt": "MayStopSearch"}, "fromStorage": {"MayStopSearch": "Preempt"}
    }
  ]
})json";

}  // namespace fungibility
