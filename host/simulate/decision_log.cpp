#include "host/simulate/decision_log.hpp"

#include "api/json/json.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice::host {

void append_seconds(std::string& out, Duration offset) {
  out += std::to_string(offset / kSecond);
  out += '.';
  std::string fraction = std::to_string(kSecond + offset % kSecond);  // keeps the leading zeros
  while (fraction.size() > 2 && fraction.back() == '0') fraction.pop_back();
  out.append(fraction, 1);
}

std::string_view record_name(DecisionType type) {
  switch (type) {
    case DecisionType::kQuotaReserved:
      return "QuotaReserved";
    case DecisionType::kAdmitted:
      return "Admitted";
    case DecisionType::kEvicted:
      return "Evicted";
    case DecisionType::kPending:
      return "Pending";
    case DecisionType::kFinished:
      return "Finished";
    case DecisionType::kDeactivated:
      return "Deactivated";
    case DecisionType::kRequeued:
      return "Requeued";
    case DecisionType::kWaitingForVictims:
      return "WaitingForVictims";
    case DecisionType::kReservationLost:
      return "ReservationLost";
    case DecisionType::kCheckState:
      return "CheckState";
    case DecisionType::kLowered:
      return "Lowered";
    case DecisionType::kStatus:
      break;  // not shown
  }
  return "";
}

void DecisionLog::begin(Duration at, std::string_view type) {
  std::string& out = output_.buffer();
  out += "{\"t\":";
  append_seconds(out, at);
  out += ",\"type\":\"";
  out += type;
  out += '"';
}

void DecisionLog::field(std::string_view name, std::string_view value) {
  std::string& out = output_.buffer();
  out += ",\"";
  out += name;
  out += "\":";
  api::append_json_text(value, out);
}

void DecisionLog::end() {
  output_.buffer() += "}\n";
  output_.filled();
}

void DecisionLog::pod_sets(const std::vector<api::PodSetAssignment>& assignments) {
  std::string& out = output_.buffer();
  out += ",\"podSets\":[";
  bool first = true;
  for (const auto& assignment : assignments) {
    out += first ? "{\"name\":" : ",{\"name\":";
    first = false;
    api::append_json_text(assignment.name, out);
    out += ",\"count\":";
    out += std::to_string(assignment.count);
    out += ",\"flavors\":{";
    bool first_flavor = true;
    for (const auto& [resource, flavor] : assignment.flavors) {
      if (!first_flavor) out += ',';
      first_flavor = false;
      api::append_json_text(resource, out);
      out += ':';
      api::append_json_text(flavor, out);
    }
    out += "}}";
  }
  out += ']';
}

void DecisionLog::reserved(const Decision& decision, const Engine& engine) {
  const auto view = engine.view(decision.workload);
  if (view.admission) {
    field("clusterQueue", view.admission->cluster_queue);
    pod_sets(view.admission->pod_sets);
  }
  output_.buffer() += decision.borrowing ? ",\"borrowing\":true" : ",\"borrowing\":false";
}

void DecisionLog::decided(Duration at, const Decision& decision, const Engine& engine) {
  if (record_name(decision.type).empty()) return;
  begin(at, record_name(decision.type));
  field("workload", engine.key(decision.workload));
  switch (decision.type) {
    case DecisionType::kQuotaReserved:
      reserved(decision, engine);
      break;
    case DecisionType::kAdmitted:
    case DecisionType::kWaitingForVictims:
      break;
    case DecisionType::kEvicted:
      field("reason", decision.reason);
      if (decision.reason == eviction_reason::kPreempted) {
        field("preemption", decision.preemption);
        field("by", decision.by);
      }
      break;
    case DecisionType::kCheckState:
      field("check", decision.reason);
      field("state", decision.cause);
      if (!decision.message.empty()) field("message", decision.message);
      break;
    case DecisionType::kLowered:
      pod_sets(assignment_of(engine.model(), decision.workload));
      break;
    case DecisionType::kPending:
    case DecisionType::kDeactivated:
    case DecisionType::kReservationLost:
      field("reason", decision.reason);
      field("message", decision.message);
      break;
    case DecisionType::kFinished:
    case DecisionType::kRequeued:
    case DecisionType::kStatus:
      field("reason", decision.reason);
      break;
  }
  end();
}

void DecisionLog::skipped(Duration at, std::string_view workload, std::string_view reason) {
  begin(at, "Skipped");
  field("workload", workload);
  field("reason", reason);
  end();
}

void DecisionLog::rested(Duration at, const Engine& engine) {
  if (!states_) return;
  begin(at, "State");
  std::string& out = output_.buffer();
  out += ",\"workloads\":{";
  bool first = true;
  for (const WorkloadId id : engine.workloads()) {
    if (!first) out += ',';
    first = false;
    const WorkloadState state = engine.state(id);
    api::append_json_text(engine.key(id), out);
    out += ":{\"state\":\"";
    out += to_string(state);
    out += '"';
    if (state == WorkloadState::kAdmitted || state == WorkloadState::kQuotaReserved)
      pod_sets(assignment_of(engine.model(), id));
    out += '}';
  }
  out += '}';
  end();
}

}  // namespace sluice::host
