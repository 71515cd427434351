#include "host/decide/cluster_readings.hpp"

#include <utility>

#include "host/metrics/readings.hpp"

namespace sluice::host {

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
          reading("sluice_cluster_decided_anew_total",
                  "Times that decisions were dropped because somebody else had written",
                  static_cast<double>(counts.forgotten), true),
          reading("sluice_cluster_edits_waiting", "Edits that the API server does not have yet",
                  static_cast<double>(outbox.size()))};
}

}  // namespace sluice::host
