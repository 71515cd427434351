#include "host/decide/cluster_readings.hpp"

#include <utility>

#include "host/metrics/readings.hpp"

namespace sluice::host {

namespace {

const char* name_of(Sent sent) {
  switch (sent) {
    case Sent::kCreate:
      return "create";
    case Sent::kStatus:
      return "status";
    case Sent::kDelete:
      return "delete";
    default:
      return "main";
  }
}

Reading writes_reading(const ClusterCounts& counts) {
  Reading out{"sluice_cluster_writes_total",
              "Objects made, deleted and changed (main, status) in the cluster",
              true,
              {}};
  for (const auto& [what, number] : counts.by_kind)
    out.samples.push_back(
        {{{"kind", what.first}, {"write", name_of(what.second)}}, static_cast<double>(number)});
  return out;
}

}  // namespace

Reading leader_reading(bool decides) {
  return reading("sluice_leader", "1 where it decides, 0 where it stands by", decides ? 1 : 0);
}

std::vector<Reading> cluster_readings(const ClusterCounts& counts, const Outbox& outbox) {
  Reading answers{"sluice_cluster_requests_total",
                  "Requests to the API server that changed something, by what became of them",
                  true,
                  {}};
  for (const auto& [result, number] :
       {std::pair{"stored", counts.stored}, {"refused", counts.refused}, {"unsure", counts.unsure}})
    answers.samples.push_back({{{"result", result}}, static_cast<double>(number)});
  return {std::move(answers),
          writes_reading(counts),
          reading("sluice_cluster_events_dropped_total",
                  "Events that were left out because decisions needed the requests",
                  static_cast<double>(outbox.dropped()), true),
          reading("sluice_cluster_decided_anew_total",
                  "Times that decisions were dropped because somebody else had written",
                  static_cast<double>(counts.forgotten), true),
          reading("sluice_cluster_edits_waiting", "Edits that the API server does not have yet",
                  static_cast<double>(outbox.size())),
          reading("sluice_cluster_decisions_waiting", "Of these, those that do not only tell",
                  static_cast<double>(outbox.deciding()))};
}

}  // namespace sluice::host
