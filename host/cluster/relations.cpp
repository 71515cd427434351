#include "host/cluster/relations.hpp"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "host/cluster/validations.hpp"
#include "host/objects/kinds.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// For each quota of a ClusterQueue or Cohort, unless a parent makes limits meaningful.
std::string no_limit_without(std::string_view parent, std::string_view limit) {
  return fmt::format(
      "!has(self.spec) || !has(self.spec.resourceGroups) || ({} && {} != '') || "
      "self.spec.resourceGroups.all(g, g.flavors.all(f, f.resources.all(r, !has(r.{}))))",
      is_there("self", parent), place_of("self", parent), limit);
}

constexpr std::string_view kOneMinCount =
    "!has(self.spec) || !has(self.spec.podSets) || "
    "self.spec.podSets.filter(p, has(p.minCount)).size() <= 1";

std::string holds(std::string_view object, std::string_view condition) {
  return fmt::format(
      "has({0}.status) && has({0}.status.conditions) && "
      "{0}.status.conditions.exists(c, c.type == '{1}' && c.status == 'True')",
      object, condition);
}

/// Absent in both, or there in both and the same.
std::string same(std::string_view path) {
  const std::string now = is_there("self", path);
  return fmt::format("({0}) == ({1}) && (!({0}) || {2} == {3})", now, is_there("oldSelf", path),
                     place_of("self", path), place_of("oldSelf", path));
}

/// `demand` while the workload had quota.
std::string with_quota(const std::string& demand) {
  return fmt::format("!({}) || ({})", holds("oldSelf", "QuotaReserved"), demand);
}

json::object rule(std::string expression, std::string_view message, std::string_view path) {
  return {{"rule", std::move(expression)},
          {"message", json::string(message)},
          {"fieldPath", "." + std::string(path)}};
}

json::array of_workloads() {
  const std::string class_ref = "spec.priorityClassRef";
  const std::string there = is_there("self", class_ref);
  const std::string presence = fmt::format("({}) == ({})", there, is_there("oldSelf", class_ref));
  const std::string kind = fmt::format("!({}) || self.{}.kind != 'PriorityClass' || ({})", there,
                                       class_ref, same(class_ref + ".name"));
  const std::string suffix = " is immutable while workload quota reserved";
  return {
      rule(std::string(kOneMinCount), "at most one podSet can use minCount", "spec.podSets"),
      rule(with_quota(presence), "priorityClassRef" + suffix, class_ref),
      rule(with_quota(same(class_ref + ".group")), "priorityClassRef.group" + suffix, class_ref),
      rule(with_quota(same(class_ref + ".kind")), "priorityClassRef.kind" + suffix, class_ref),
      rule(with_quota(kind),
           "priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass while workload "
           "quota reserved",
           class_ref),
      rule(fmt::format("!({}) || {}", holds("self", "QuotaReserved"),
                       with_quota(same("spec.queueName"))),
           "queueName" + suffix, "spec.queueName"),
      rule(fmt::format("!({}) || !({}) || ({})", holds("oldSelf", "Admitted"),
                       holds("self", "Admitted"), same("spec.maximumExecutionTimeSeconds")),
           "maximumExecutionTimeSeconds" + suffix, "spec.maximumExecutionTimeSeconds"),
      rule("!has(oldSelf.status) || !has(oldSelf.status.clusterName) || "
           "oldSelf.status.clusterName == '' || !has(self.status) || "
           "!has(self.status.clusterName) || self.status.clusterName == '' || "
           "self.status.clusterName == oldSelf.status.clusterName",
           "clusterName is immutable once set", "status.clusterName"),
  };
}

}  // namespace

json::array relations_of(const api::KindInfo& kind) {
  if (kind.group != kQueueGroup) return {};
  const std::string_view groups = "spec.resourceGroups";
  if (kind.kind == "ClusterQueue")
    return {rule(no_limit_without("spec.cohortName", "lendingLimit"),
                 "lendingLimit must be nil when cohort is empty", groups)};
  if (kind.kind == "Cohort")
    return {rule(no_limit_without("spec.parentName", "lendingLimit"),
                 "lendingLimit must be nil when parent is empty", groups),
            rule(no_limit_without("spec.parentName", "borrowingLimit"),
                 "borrowingLimit must be nil when parent is empty", groups)};
  if (kind.kind == "Workload") return of_workloads();
  return {};
}

}  // namespace sluice::host
