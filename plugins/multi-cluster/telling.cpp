#include "telling.hpp"

#include "copies.hpp"

namespace clusters {

using sluice::Json;

namespace {

/// `Reason: message` of a condition, or what is there of the two.
std::string words_of(const Json& condition) {
  const std::string reason = condition.string_or("reason", "");
  const std::string message = condition.string_or("message", "");
  return reason.empty() || message.empty() ? reason + message : reason + ": " + message;
}

std::string lost(const Telling& cluster) {
  std::string out = "Cluster " + cluster.cluster + " cannot be reached";
  if (cluster.lost_since) out += " since " + sluice::time_text(*cluster.lost_since);
  out += "; MultiKueueCluster " + cluster.cluster + " says why";
  if (!cluster.chosen) return out;
  out += ". What runs there runs on";
  if (cluster.given_up_at)
    out += ", and at " + sluice::time_text(*cluster.given_up_at) + " it is tried elsewhere";
  return out;
}

/// Of checks that the worker has of its own.
std::string checks_there(const Json& workload) {
  std::string out;
  if (const Json* states = workload.find("status.admissionChecks"))
    for (const Json& each : states->items()) {
      const std::string state = each.string_or("state", "Pending");
      if (state == "Ready") continue;
      const std::string message = each.string_or("message", "");
      out += (out.empty() ? "its check " : ", its check ") + each.string_or("name", "") + " is " +
             state + (message.empty() ? "" : " (" + message + ")");
    }
  return out;
}

std::string copy_there(const Telling& cluster) {
  const Json& copy = *cluster.workload;
  const std::string there = " in cluster " + cluster.cluster;
  if (has_condition(copy, "Finished"))
    return "It has ended" + there + ", " + words_of(*condition(copy, "Finished"));
  if (has_condition(copy, "Evicted"))
    return "It was evicted" + there + ", " + words_of(*condition(copy, "Evicted"));
  if (has_condition(copy, "Admitted")) return "It is admitted" + there;
  if (has_condition(copy, "QuotaReserved")) {
    const std::string checks = checks_there(copy);
    return "It has its quota" + there + (checks.empty() ? ", and is not admitted yet" : "; ") +
           checks;
  }
  const Json* waits = condition(copy, "QuotaReserved");
  const std::string why = waits == nullptr ? "" : words_of(*waits);
  return "It waits" + there + (why.empty() ? ", where its turn has not come yet" : ", " + why);
}

std::string job_there(const Telling& cluster) {
  if (cluster.job) {
    const std::int64_t active = cluster.job->int_or("status.active", 0);
    if (active == 0) return {};
    return std::to_string(active) + (active == 1 ? " pod of its job is" : " pods of its job are") +
           " active there";
  }
  if (cluster.job_write.failed)
    return "Cluster " + cluster.cluster + " refuses its job: " + cluster.job_write.message;
  return "Its job is on its way there";
}

}  // namespace

std::vector<std::string> told_by(const Telling& cluster) {
  if (!cluster.reachable) return {lost(cluster)};
  if (!cluster.workload) {
    if (cluster.workload_write.failed)
      return {"Cluster " + cluster.cluster +
              " refuses the workload: " + cluster.workload_write.message};
    return {"It is on its way to cluster " + cluster.cluster};
  }
  std::vector<std::string> out{copy_there(cluster)};
  if (!cluster.chosen || has_condition(*cluster.workload, "Finished")) return out;
  if (std::string job = job_there(cluster); !job.empty()) out.push_back(std::move(job));
  return out;
}

std::string not_asked(std::size_t clusters) {
  if (clusters == 0) return {};
  return std::to_string(clusters) +
         (clusters == 1 ? " other cluster is not asked yet" : " other clusters are not asked yet");
}

}  // namespace clusters
