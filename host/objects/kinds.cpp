#include "host/objects/kinds.hpp"

#include <utility>

namespace sluice::host {
namespace {

constexpr std::pair<std::string_view, api::ObjectKind> kOfQueues[] = {
    {"Workload", api::ObjectKind::kWorkload},
    {"LocalQueue", api::ObjectKind::kLocalQueue},
    {"ClusterQueue", api::ObjectKind::kClusterQueue},
    {"ResourceFlavor", api::ObjectKind::kResourceFlavor},
    {"AdmissionCheck", api::ObjectKind::kAdmissionCheck},
    {"Cohort", api::ObjectKind::kCohort},
};

}  // namespace

std::optional<api::ObjectKind> engine_kind(const api::KindInfo& kind) {
  if (is_namespace(kind)) return api::ObjectKind::kNamespace;
  if (kind.group != kQueueGroup) return std::nullopt;
  for (const auto& [name, found] : kOfQueues)
    if (kind.kind == name) return found;
  return std::nullopt;
}

}  // namespace sluice::host
