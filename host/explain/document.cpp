#include "host/explain/document.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>

#include "api/json/json.hpp"
#include "core/reasons/eviction_reason.hpp"
#include "core/reasons/reasons.hpp"
#include "host/explain/advice.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// The condition that says since when it is where it is, and why.
const char* telling_condition(WorkloadState state) {
  switch (state) {
    case WorkloadState::kAdmitted:
      return "Admitted";
    case WorkloadState::kFinished:
      return "Finished";
    default:
      return "QuotaReserved";
  }
}

json::object flavor_of(const Explanation& all, const std::string& resource,
                       const FlavorAnswer& flavor) {
  const auto amount = [&](std::int64_t value) { return amount_text(resource, value); };
  json::object out{{"flavor", flavor.flavor},
                   {"available", amount(flavor.available)},
                   {"maximum", amount(flavor.maximum)},
                   {"nominalQuota", amount(flavor.nominal)},
                   {"missing", amount(flavor.missing)}};
  if (!flavor.unsuitable.empty()) out["unsuitable"] = flavor.unsuitable;
  if (flavor.never) out["never"] = true;
  json::array holders;
  for (const QuotaHolder& holder : all.holders) {
    if (holder.flavor != flavor.flavor || holder.resource != resource) continue;
    holders.push_back(json::object{{"workload", holder.workload},
                                   {"clusterQueue", holder.cluster_queue},
                                   {"amount", amount(holder.amount)},
                                   {"priority", holder.priority},
                                   {"since", format_time(holder.since)}});
  }
  if (!holders.empty()) out["holders"] = std::move(holders);
  for (const OtherHolders& other : all.others) {
    if (other.flavor != flavor.flavor || other.resource != resource) continue;
    if (other.more > 0)
      out["moreHolders"] =
          json::object{{"workloads", other.more}, {"amount", amount(other.more_amount)}};
    if (other.unnamed > 0)
      out["otherNamespaces"] =
          json::object{{"workloads", other.unnamed}, {"amount", amount(other.unnamed_amount)}};
  }
  return out;
}

json::array pod_sets_of(const Explanation& explanation) {
  json::array out;
  for (const PodSetAnswer& pods : explanation.pod_sets) {
    json::array resources;
    for (const ResourceAnswer& each : pods.resources) {
      json::object resource{{"resource", each.resource},
                            {"requested", amount_text(each.resource, each.requested)}};
      if (!each.covered) resource["covered"] = false;
      json::array flavors;
      for (const FlavorAnswer& flavor : each.flavors)
        flavors.push_back(flavor_of(explanation, each.resource, flavor));
      resource["flavors"] = std::move(flavors);
      resources.push_back(std::move(resource));
    }
    json::object set{{"name", pods.name}, {"count", pods.count}};
    if (pods.least != pods.count) set["minCount"] = pods.least;
    set["resources"] = std::move(resources);
    out.push_back(std::move(set));
  }
  return out;
}

json::array checks_of(const api::WorkloadStatus& status) {
  json::array out;
  for (const api::AdmissionCheckState& check : status.admission_checks)
    out.push_back(
        json::object{{"name", check.name}, {"state", check.state}, {"message", check.message}});
  return out;
}

/// What stands between the two in a text; empty when it does not.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(after));
}

/// The workload that it made room for. Kueue's message contains the UID and the path of the queue,
/// and no name that a user knows.
json::object preemptor_of(const Engine& engine, std::string_view message, const MayKnow& may_know) {
  json::object out;
  const std::string_view path = between(message, "; preemptor path: ", ";");
  if (!path.empty()) out["clusterQueue"] = path.substr(path.rfind('/') + 1);
  const std::string_view uid = between(message, "(UID: ", ",");
  for (const WorkloadId id : engine.workloads()) {
    const auto workload = engine.object(id);
    if (uid.empty() || workload->meta.uid != uid) continue;
    if (may_know && !may_know(workload->meta.ns)) return out;
    out["workload"] = engine.key(id);
    for (const auto& owner : workload->meta.owners)
      if (owner.controller) out["job"] = owner.kind + " " + owner.name;
    return out;
  }
  out["gone"] = true;
  return out;
}

void add_eviction(const Engine& engine, const api::WorkloadStatus& status, const MayKnow& may_know,
                  json::object& out) {
  const api::Condition* evicted = status.condition("Evicted");
  if (!evicted || !evicted->is_true()) return;
  json::object& told = out["evicted"].emplace_object();
  told["since"] = format_time(evicted->last_transition_time);
  told["reason"] = evicted->reason;
  told["message"] = evicted->message;
  if (evicted->reason == eviction_reason::kPreempted)
    told["by"] = preemptor_of(engine, evicted->message, may_know);
}

/// Of an admitted one that is not to run any more; empty: it is.
std::string ending_text(const api::Workload& workload, const api::WorkloadStatus& status) {
  const api::Condition* evicted = status.condition("Evicted");
  const bool is_evicted = evicted && evicted->is_true();
  if (!is_evicted && !workload.meta.deletion_time) return {};
  return std::string("It was ") + (is_evicted ? "evicted" : "deleted") +
         ", and holds its quota until its pods have ended";
}

std::vector<std::string> help_for_others(const api::Workload& workload, WorkloadState state,
                                         const api::WorkloadStatus& status, Time now) {
  std::vector<std::string> out;
  if (state == WorkloadState::kInactive) {
    const api::Condition* evicted = status.condition("Evicted");
    const bool told = evicted && evicted->is_true() && !evicted->message.empty();
    const std::string cause =
        told ? "once its cause is gone (" + evicted->reason + ": " + evicted->message + "), " : "";
    out.push_back(cause + (workload.active ? "its queue has to take it again"
                                           : "somebody has to set spec.active to true"));
  }
  for (const api::AdmissionCheckState& check : status.admission_checks)
    if (check.state != "Ready" && state == WorkloadState::kQuotaReserved)
      out.push_back("check " + check.name + " has to become Ready; it is " + check.state);
  if (state != WorkloadState::kPending) return out;
  if (workload.is_gated)
    out.push_back(
        "whoever gated its admission has to take the annotation kueue.x-k8s.io/admission-gated-by "
        "away");
  if (status.requeue_state && status.requeue_state->requeue_at &&
      *status.requeue_state->requeue_at > now)
    out.push_back("its backoff ends at " + format_time(*status.requeue_state->requeue_at));
  return out;
}

/// What a plugin took out when its turn came last is no more for it than what a taint keeps it
/// from.
void mark_refused(Explanation& explanation) {
  for (const Refusal& refusal : explanation.refusals) {
    if (refusal.by.empty() || refusal.flavor.empty()) continue;
    for (PodSetAnswer& pods : explanation.pod_sets) {
      if (!refusal.pod_set.empty() && refusal.pod_set != pods.name) continue;
      for (ResourceAnswer& resource : pods.resources)
        for (FlavorAnswer& flavor : resource.flavors)
          if (flavor.flavor == refusal.flavor && flavor.unsuitable.empty())
            flavor.unsuitable = "plugin " + refusal.by + ": " + refusal.text;
    }
  }
}

/// The workloads of a queue may be in namespaces whose names the user may not know.
void hide_names(Explanation& explanation, const MayKnow& may_know) {
  const auto hidden = [&](const std::string& key) {
    return may_know && !may_know(namespace_of(key));
  };
  std::string& head = explanation.head;
  if (!head.empty() && hidden(head)) head = "a workload of another namespace";
  std::erase_if(explanation.ahead, hidden);
}

/// Where each of those stands that wait or run in its place.
void add_stand_ins(const Engine& engine, const Explanation& explanation, json::object& out) {
  for (const StandIn& each : explanation.stand_ins) {
    const WorkloadState state = engine.state(each.workload);
    const api::WorkloadStatus status = engine.status(each.workload);
    json::object entry{{"workload", engine.key(each.workload)}, {"state", to_string(state)}};
    if (each.parked) entry["parked"] = true;
    if (const api::Condition* told = status.condition(telling_condition(state)))
      entry["message"] = told->message;
    if (status.admission) entry["admission"] = assignment_document(*status.admission);
    if (!status.admission_checks.empty()) entry["checks"] = checks_of(status);
    array_of(out, "standIns").push_back(std::move(entry));
  }
}

/// What each of those that wait in its place lacks: any of them would do.
std::vector<std::string> help_for_stand_ins(const Engine& engine, const Explanation& explanation) {
  std::vector<std::string> out;
  for (const StandIn& each : explanation.stand_ins) {
    const WorkloadState state = engine.state(each.workload);
    if (state != WorkloadState::kPending) continue;
    const api::WorkloadStatus status = engine.status(each.workload);
    if (const api::Condition* told = status.condition(telling_condition(state)))
      out.push_back(engine.object(each.workload)->meta.name + ": " + told->message);
  }
  return out;
}

}  // namespace

json::array assignment_document(const api::Admission& admission) {
  json::array out;
  for (const api::PodSetAssignment& pods : admission.pod_sets) {
    json::object flavors;
    for (const auto& [resource, flavor] : pods.flavors) flavors[resource] = flavor;
    json::object usage;
    for (const auto& [resource, amount] : pods.usage)
      usage[resource] = amount_text(resource, amount);
    out.push_back(json::object{{"name", pods.name},
                               {"count", pods.count},
                               {"flavors", std::move(flavors)},
                               {"usage", std::move(usage)}});
  }
  return out;
}

void add_explanation(const Explanation& explanation, json::object& document) {
  if (!explanation.cluster_queue.empty()) {
    json::object& queue = document["queue"].is_object() ? document["queue"].get_object()
                                                        : document["queue"].emplace_object();
    queue["clusterQueue"] = explanation.cluster_queue;
    if (!explanation.cohorts.empty())
      queue["cohorts"] = json::array(explanation.cohorts.begin(), explanation.cohorts.end());
    if (explanation.queued) {
      queue["positionInClusterQueue"] = explanation.ahead_in_cluster_queue + 1;
      queue["pendingInClusterQueue"] = explanation.in_cluster_queue;
      queue["positionInLocalQueue"] = explanation.ahead_in_local_queue + 1;
      queue["pendingInLocalQueue"] = explanation.in_local_queue;
      queue["parked"] = explanation.parked;
      if (!explanation.head.empty()) queue["behind"] = explanation.head;
      for (const Refusal& each : explanation.order) {
        json::object& order = array_of(queue, "order").emplace_back(json::object()).get_object();
        if (!each.by.empty()) order["plugin"] = each.by;
        order["message"] = each.text;
      }
      if (!explanation.ahead.empty())
        queue["ahead"] = json::array(explanation.ahead.begin(), explanation.ahead.end());
    }
  }
  if (!explanation.replaces.empty()) document["willReplace"] = explanation.replaces;
  document["podSets"] = pod_sets_of(explanation);
  json::array refusals;
  for (const Refusal& each : explanation.refusals) {
    json::object refusal;
    if (!each.by.empty()) refusal["plugin"] = each.by;
    if (!each.pod_set.empty()) refusal["podSet"] = each.pod_set;
    if (!each.flavor.empty()) refusal["flavor"] = each.flavor;
    refusal["message"] = each.text;
    refusals.push_back(std::move(refusal));
  }
  if (!refusals.empty()) document["refusals"] = std::move(refusals);
  json::array help;
  for (const std::string& text : advice_of(explanation)) help.emplace_back(text);
  document["wouldHelp"] = std::move(help);
}

bool is_short_of_quota(std::string_view reason) {
  constexpr std::array<std::string_view, 6> kOfQuota = {"",  // nothing was told yet
                                                        "WaitingForQuota",
                                                        "ExceedsMaxQuota",
                                                        "NoMatchingFlavor",
                                                        "WaitingForPreemptedWorkloads",
                                                        "PendingEvaluation"};
  return std::find(kOfQuota.begin(), kOfQuota.end(), reason) != kOfQuota.end();
}

json::object explanation_document(const Engine& engine, WorkloadId id, Time now,
                                  const MayKnow& may_know) {
  const auto workload = engine.object(id);
  const WorkloadState state = engine.state(id);
  const api::WorkloadStatus status = engine.status(id);
  json::object out{
      {"kind", "WorkloadExplanation"},
      {"apiVersion", "sluice.dev/v1alpha1"},
      {"metadata", json::object{{"name", workload->meta.name}, {"namespace", workload->meta.ns}}},
      {"time", format_time(now)},
      {"state", to_string(state)},
      {"priority", workload->priority},
      {"queue", json::object{{"localQueue", workload->queue_name}}}};
  Time since = workload->meta.creation_time.value_or(now);
  if (const api::Condition* told = status.condition(telling_condition(state))) {
    if (told->last_transition_time != 0) since = told->last_transition_time;
    out["reason"] = told->reason;
    out["message"] = told->message;
  }
  out["since"] = format_time(since);
  Explanation explanation = engine.explain(id, may_know);
  mark_refused(explanation);
  hide_names(explanation, may_know);
  if (state == WorkloadState::kPending) {
    const bool short_of_quota = is_short_of_quota(text_in(out, "reason"));
    const std::string now_says = short_of_quota ? now_text(explanation) : std::string();
    if (!now_says.empty() && explanation.stand_ins.empty()) out["now"] = now_says;
    add_explanation(explanation, out);
    if (!short_of_quota) out["wouldHelp"] = json::array();
  } else {
    if (const std::string ending = ending_text(*workload, status);
        state == WorkloadState::kAdmitted && !ending.empty())
      out["now"] = ending;
    out["wouldHelp"] = json::array();
  }
  add_stand_ins(engine, explanation, out);
  if (state == WorkloadState::kPending)
    for (const std::string& text : help_for_stand_ins(engine, explanation))
      array_of(out, "wouldHelp").emplace_back(text);
  if (status.admission) {
    object_of(out, "queue")["clusterQueue"] = status.admission->cluster_queue;
    out["admission"] = assignment_document(*status.admission);
  }
  if (state != WorkloadState::kFinished) add_eviction(engine, status, may_know, out);
  if (!status.admission_checks.empty()) out["checks"] = checks_of(status);
  if (const api::Condition* ready = status.condition("PodsReady");
      ready && !ready->is_true() && state == WorkloadState::kAdmitted)
    out["pods"] = ready->message;  // admitted is not running yet
  // Names of other workloads are shown to users that may know them.
  for (const std::string& victim : planned_victims(engine.model(), id))
    if (!may_know || may_know(namespace_of(victim)))
      array_of(out, "willEvict").emplace_back(victim);
  for (const std::string& text : help_for_others(*workload, state, status, now))
    array_of(out, "wouldHelp").emplace_back(text);
  return out;
}

}  // namespace sluice::host
