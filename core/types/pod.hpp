// The parts of a pod template that decide where it may run and what it asks for.
//
// A PodTemplate is decoded once and shared by all workloads with the same template text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/types/meta.hpp"
#include "core/types/quantity.hpp"

namespace sluice::api {

enum class TaintEffect : std::uint8_t { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNoSchedule;

  /// `key=value:Effect`, `key:Effect`: how Kubernetes prints it.
  std::string text() const;
};

struct Toleration {
  std::string key;  ///< empty with kExists: all keys
  enum class Operator : std::uint8_t { kEqual, kExists } op = Operator::kEqual;
  std::string value;
  std::optional<TaintEffect> effect;  ///< absent: all effects
  std::optional<std::int64_t> seconds;

  bool tolerates(const Taint& taint) const;
};

struct NodeSelectorRequirement {
  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };
  std::string key;
  Operator op = Operator::kIn;
  std::vector<std::string> values;

  /// Against a node's labels, as the Kubernetes scheduler evaluates it.
  bool matches(const LabelMap& labels) const;
};

/// All expressions must match. Terms of one affinity are alternatives.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> expressions;
  bool has_fields = false;  ///< matchFields were given (they name nodes, not flavors)
};

/// Request of one pod for one resource, in the engine's unit: milli for cpu, base units else.
struct ResourceRequest {
  std::string resource;
  std::int64_t amount = 0;
};

struct PodTemplate {
  LabelMap node_selector;
  /// requiredDuringSchedulingIgnoredDuringExecution; absent: no required affinity.
  std::optional<std::vector<NodeSelectorTerm>> required_affinity;
  std::vector<Toleration> tolerations;
  /// Per pod, sorted by resource name: the containers' sum against the init containers, sidecars
  /// and overhead as Kubernetes adds them up; a limit stands in for a missing request.
  std::vector<ResourceRequest> requests;
  /// Why nobody would run such a pod (a container requests more than its limit): the whole sentence
  /// that is told, empty when it is valid.
  std::string invalid_resources;
  /// What such a pod requires and cannot have, so that it is not admitted: the whole sentence that
  /// is told; empty: nothing.
  std::string unmet;
  LabelMap annotations;
  /// The canonical text of all that decides scheduling; equal texts mean equal shapes.
  std::string shape;
};

}  // namespace sluice::api
