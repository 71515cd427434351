#include "host/controllers/checks/check_query.hpp"

#include <memory>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
std::optional<CheckQuery> check_query(const Engine& engine, const ObjectAccess& objects,
                                      WorkloadId id, const std::string& check) {
  const api::Scheme& scheme = objects.scheme();
  const auto object = objects.get(api::kueue_kind(scheme, "AdmissionCheck"), check);
  const auto workload = objects.get(api::kueue_kind(scheme, "Workload"), engine.key(id));
  if (!object || !workload) return std::nullopt;
  auto typed = std::make_shared<api::Workload>(*engine.object(id));
  typed->status = engine.status(id);
  CheckQuery query;
  query.workload_json = api::to_json(*workload);
  query.check = check;
  query.check_json = api::to_json(*object);
  query.attempt = attempt_of(engine.model(), id);
  for (const api::AdmissionCheckState& each : typed->status.admission_checks)
    if (each.name == check) query.retry_count = each.retry_count;
  query.workload = std::move(typed);
  return query;
}

}  // namespace sluice::host
