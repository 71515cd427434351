#include "explainer.hpp"

#include <algorithm>

#include "names.hpp"

namespace clusters {

using sluice::CheckWords;
using sluice::Json;

namespace {

/// Who has it, or was asked for it, as the workload itself shows.
std::vector<std::string> asked_of(const Case& of) {
  if (!of.local.chosen.empty()) return {of.local.chosen};
  if (!of.local.runs_at.empty()) return {of.local.runs_at};
  std::vector<std::string> out;
  if (const Json* names = of.workload->find("status.nominatedClusterNames"))
    for (const Json& name : names->items()) out.push_back(name.as_string());
  return out;
}

}  // namespace

CheckWords Explainer::explain(const WorkloadName& workload) {
  const Case of = cases_.read(workload);
  if (!of.workload || !of.local.wants) return {};
  const std::vector<std::string> asked = asked_of(of);
  const bool chosen = !of.local.chosen.empty() || of.local.growth;
  CheckWords out;
  for (const std::string& cluster : asked) add(telling(of, cluster, chosen), out);
  if (chosen || asked.empty()) return out;
  const std::vector<std::string> clusters = cases_.clusters_of(of.check);
  const auto left = std::count_if(clusters.begin(), clusters.end(), [&](const auto& cluster) {
    return std::find(asked.begin(), asked.end(), cluster) == asked.end();
  });
  if (left > 0) out.lines.push_back(not_asked(static_cast<std::size_t>(left)));
  return out;
}

/// What is known here, and, where it waits there, what is said there of why.
void Explainer::add(const Telling& telling, CheckWords& out) {
  for (std::string& line : told_by(telling)) out.lines.push_back(std::move(line));
  if (!telling.reachable || !telling.workload || !waits(*telling.workload)) return;
  const Explanations::Known known =
      explanations_.of(telling.cluster, telling.workload->string_or("metadata.namespace", ""),
                       telling.workload->string_or("metadata.name", ""));
  out.more_soon |= known.awaited;
  for (const std::string& line : known.lines) out.lines.push_back(line);
}

Telling Explainer::telling(const Case& of, const std::string& cluster, bool chosen) {
  Telling out;
  out.cluster = cluster;
  out.chosen = chosen;
  const auto state = context_.remotes().state(cluster);
  out.reachable = state && state->connected && state->synced;
  if (state && !out.reachable) {
    out.lost_since = state->since;
    out.given_up_at = state->since + cases_.settings().policy.lost_timeout_ms * kMillisecond;
  }
  if (of.kind != nullptr && !of.job_name.empty()) {
    out.job = context_.remotes().find(cluster, cases_.job_ref(of));
    out.job_write = cases_.writing(cluster, cases_.job_ref(of));
  }
  out.workload = copy_there(of, out);
  out.workload_write = cases_.writing(cluster, cases_.workload_ref(of));
  return out;
}

/// Of a job that may change its size it is the one of the same size.
std::optional<Json> Explainer::copy_there(const Case& of, const Telling& told) const {
  if (of.local.elastic && told.job)
    for (Json& slice : context_.remotes().list(
             told.cluster, kKueue, "Workload", of.name.ns,
             std::string(kJobUid) + "=" + told.job->string_or("metadata.uid", "")))
      if (size_of(slice) == of.local.own_size && !sluice::condition_is_true(slice, "Finished"))
        return std::move(slice);
  return context_.remotes().find(told.cluster, cases_.workload_ref(of));
}

}  // namespace clusters
