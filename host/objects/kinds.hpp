// Kinds that the host treats otherwise than others: those that the engine is told of, those that
// run, and those because of which pods are others than their templates say. A kind is its group and
// its name: a page may declare an `example.com/Workload`. And the two groups whose domains say that
// a label, an annotation or a gate is ours. Pure functions, any thread.
#pragma once

#include <optional>
#include <string_view>

#include "api/schema/kind_info.hpp"
#include "core/types/kinds.hpp"

namespace sluice::host {

/// Of queues, quota and workloads.
inline constexpr std::string_view kQueueGroup = "kueue.x-k8s.io";
/// Of what only this host has.
inline constexpr std::string_view kOwnGroup = "sluice.dev";

/// The part before the slash of the name of a label, an annotation or a gate; all of it without
/// one.
constexpr std::string_view domain_of(std::string_view name) {
  return name.substr(0, name.find('/'));
}

/// Whether it is that domain or lies below it.
constexpr bool is_within(std::string_view domain, std::string_view above) {
  if (!domain.ends_with(above)) return false;
  domain.remove_suffix(above.size());
  return domain.empty() || domain.ends_with('.');
}

/// The name of a label or an annotation in the domain of queues, or in one below it.
constexpr bool is_of_queues(std::string_view name) {
  const std::string_view domain = domain_of(name);
  return domain.size() < name.size() && is_within(domain, kQueueGroup);
}

inline bool is_kind(const api::KindInfo& kind, std::string_view group, std::string_view name) {
  return kind.kind == name && kind.group == group;
}

/// What the engine calls the kind; nullopt: it is not told of such objects. O(1).
std::optional<api::ObjectKind> engine_kind(const api::KindInfo& kind);

inline bool is_workload(const api::KindInfo& kind) {
  return is_kind(kind, kQueueGroup, "Workload");
}

/// A cluster's; a host of its own has none, and serves none.
inline bool decides_about_pods(const api::KindInfo& kind) {
  return is_kind(kind, "", "LimitRange") || is_kind(kind, "node.k8s.io", "RuntimeClass");
}

/// Of workloads, or of pods.
inline bool is_priority_class(const api::KindInfo& kind) {
  return is_kind(kind, kQueueGroup, "WorkloadPriorityClass") ||
         is_kind(kind, "scheduling.k8s.io", "PriorityClass");
}

/// A page that declares a kind of jobs.
inline bool is_job_page(const api::KindInfo& kind) { return is_kind(kind, kOwnGroup, "JobKind"); }

inline bool is_pod(const api::KindInfo& kind) { return is_kind(kind, "", "Pod"); }
inline bool is_node(const api::KindInfo& kind) { return is_kind(kind, "", "Node"); }
inline bool is_event(const api::KindInfo& kind) { return is_kind(kind, "", "Event"); }
inline bool is_namespace(const api::KindInfo& kind) { return is_kind(kind, "", "Namespace"); }

}  // namespace sluice::host
