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
  if (sluice::condition_is_true(copy, "Finished"))
    return "It has ended" + there + ", " + words_of(*sluice::find_condition(copy, "Finished"));
  if (sluice::condition_is_true(copy, "Evicted"))
    return "It was evicted" + there + ", " + words_of(*sluice::find_condition(copy, "Evicted"));
  if (sluice::condition_is_true(copy, "Admitted")) return "It is admitted" + there;
  if (sluice::condition_is_true(copy, "QuotaReserved")) {
    const std::string checks = checks_there(copy);
    return "It has its quota" + there + (checks.empty() ? ", and is not admitted yet" : "; ") +
           checks;
  }
  const Json* waits = sluice::find_condition(copy, "QuotaReserved");
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

// Sentences of one cluster's explanation, and flavors in one of them; of more the number is told.
constexpr std::size_t kMostLines = 8, kMostFlavors = 8;

std::string room_in(const Json& flavor) {
  const std::string name = "flavor " + flavor.string_or("flavor", "");
  const std::string unsuitable = flavor.string_or("unsuitable", "");
  if (!unsuitable.empty()) return name + " is not for it (" + unsuitable + ")";
  return name + " has " + flavor.string_or("available", "0") + " free of at most " +
         flavor.string_or("maximum", "0") + ", " + flavor.string_or("missing", "0") + " missing" +
         (flavor.bool_or("never", false) ? " for ever" : "");
}

/// Of one resource of a pod set: what each flavor has for it. Empty: nothing is missing of it.
std::string room_for(const Json& resource) {
  const std::string asked = resource.string_or("requested", "") + " asked";
  if (!resource.bool_or("covered", true)) return asked + ", no quota of it";
  const Json* flavors = resource.find("flavors");
  if (flavors == nullptr) return {};
  std::string out = asked;
  std::size_t told = 0;
  for (const Json& flavor : flavors->items()) {
    if (flavor.string_or("missing", "0") == "0" && flavor.string_or("unsuitable", "").empty())
      return {};
    if (++told <= kMostFlavors) out += "; " + room_in(flavor);
  }
  if (told > kMostFlavors) out += "; and " + std::to_string(told - kMostFlavors) + " more flavors";
  return out;
}

std::string refused_by(const Json& refusal) {
  const std::string by = refusal.string_or("plugin", "");
  const std::string flavor = refusal.string_or("flavor", "");
  return ", plugin " + by + " says no" + (flavor.empty() ? "" : " to flavor " + flavor) + ": " +
         refusal.string_or("message", "");
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
  if (!cluster.chosen || sluice::condition_is_true(*cluster.workload, "Finished")) return out;
  if (std::string job = job_there(cluster); !job.empty()) out.push_back(std::move(job));
  return out;
}

bool waits(const Json& workload) {
  return !sluice::condition_is_true(workload, "QuotaReserved") &&
         !sluice::condition_is_true(workload, "Finished");
}

std::vector<std::string> explained_by(const std::string& cluster, const Json& explanation) {
  std::vector<std::string> out;
  if (explanation.string_or("state", "") != "Pending") return out;
  const std::string in = "In cluster " + cluster;
  const std::int64_t place = explanation.int_or("queue.positionInClusterQueue", 0);
  if (place > 0)
    out.push_back(in + " it is " + std::to_string(place) + " of " +
                  std::to_string(explanation.int_or("queue.pendingInClusterQueue", place)) +
                  " that wait in its ClusterQueue");
  if (const Json* pod_sets = explanation.find("podSets"))
    for (const Json& pods : pod_sets->items())
      if (const Json* resources = pods.find("resources"))
        for (const Json& resource : resources->items())
          if (std::string text = room_for(resource); !text.empty())
            out.push_back(in + ", " + resource.string_or("resource", "") + " for pod set " +
                          pods.string_or("name", "") + ": " + text);
  if (const Json* refusals = explanation.find("refusals"))
    for (const Json& refusal : refusals->items()) out.push_back(in + refused_by(refusal));
  if (out.size() > kMostLines) {
    const std::size_t more = out.size() - kMostLines;
    out.resize(kMostLines);
    out.push_back("and " + std::to_string(more) + " more from cluster " + cluster);
  }
  return out;
}

std::string not_asked(std::size_t clusters) {
  if (clusters == 0) return {};
  return std::to_string(clusters) +
         (clusters == 1 ? " other cluster is not asked yet" : " other clusters are not asked yet");
}

}  // namespace clusters
