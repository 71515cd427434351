#include "host/top/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "core/types/quantity.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Texts and numbers alike; what is no quantity counts as nothing.
std::int64_t amount_in(const json::object& object, const char* key, const std::string& resource,
                       std::int64_t absent = 0) {
  const json::value* found = object.if_contains(key);
  if (!found) return absent;
  const std::string text =
      found->is_string() ? std::string(api::view(found->get_string())) : api::to_json(*found);
  const auto quantity = api::Quantity::parse(text);
  return quantity ? api::engine_amount(resource, *quantity) : absent;
}

std::vector<TopQuota> quotas_of(const json::object& spec) {
  std::vector<TopQuota> out;
  for_each_object(spec, "resourceGroups", [&](const json::object& group) {
    for_each_object(group, "flavors", [&](const json::object& flavor) {
      for_each_object(flavor, "resources", [&](const json::object& resource) {
        TopQuota quota;
        quota.flavor = text_in(flavor, "name");
        quota.resource = text_in(resource, "name");
        quota.nominal = amount_in(resource, "nominalQuota", quota.resource);
        quota.lendable = amount_in(resource, "lendingLimit", quota.resource, INT64_MAX);
        out.push_back(std::move(quota));
      });
    });
  });
  return out;
}

void set_used(const json::object& status, std::vector<TopQuota>& quotas) {
  for_each_object(status, "flavorsReservation", [&](const json::object& flavor) {
    const std::string_view name = api::find_text(flavor, "name");
    for_each_object(flavor, "resources", [&](const json::object& resource) {
      for (TopQuota& quota : quotas) {
        if (quota.flavor != name || quota.resource != api::find_text(resource, "name")) continue;
        quota.used = amount_in(resource, "total", quota.resource);
        quota.borrowed = amount_in(resource, "borrowed", quota.resource);
      }
    });
  });
}

std::string trouble_of(const json::object& spec, const json::object& status) {
  const std::string stopped = text_in(spec, "stopPolicy");
  if (!stopped.empty() && stopped != "None") return "stopped: " + stopped;
  const json::object* active = find_condition(status, "Active");
  if (!active || api::find_text(*active, "status") == "True") return {};
  const std::string message = text_in(*active, "message");
  return message.empty() ? text_in(*active, "reason") : message;
}

TopState state_of(const json::object& object) {
  const json::object& status = part(object, "status");
  if (has_condition(status, "Finished")) return TopState::kFinished;
  if (has_condition(status, "Admitted")) {
    // A workload that does not wait for its pods has no condition about them.
    const bool told = find_condition(status, "PodsReady") != nullptr;
    return told && !has_condition(status, "PodsReady") ? TopState::kStarting : TopState::kRunning;
  }
  if (has_condition(status, "QuotaReserved")) return TopState::kChecks;
  if (!api::find_bool(part(object, "spec"), "active", true)) return TopState::kOff;
  return has_condition(status, "Evicted") ? TopState::kEvicted : TopState::kWaiting;
}

std::string message_of(const json::object& status, const char* type, const char* otherwise) {
  const json::object* found = find_condition(status, type);
  std::string out = found ? text_in(*found, "message") : "";
  return out.empty() ? otherwise : out;
}

std::string why_of(const json::object& status, TopState state) {
  switch (state) {
    case TopState::kWaiting:
    case TopState::kEvicted:
      return message_of(status, "QuotaReserved", "its turn has not come yet");
    case TopState::kOff:
      return message_of(status, "Evicted", "spec.active is false");
    case TopState::kStarting:
      return message_of(status, "PodsReady", "its pods start");
    case TopState::kRunning:
    case TopState::kFinished:
      return {};
    case TopState::kChecks:
      break;
  }
  std::string out;
  for_each_object(status, "admissionChecks", [&](const json::object& check) {
    const std::string of = text_in(check, "state"), said = text_in(check, "message");
    if (of != "Ready")
      out += fmt::format("{}{}: {}{}{}", out.empty() ? "" : "; ", text_in(check, "name"), of,
                         said.empty() ? "" : ", ", said);
  });
  return out;
}

/// The type of the condition whose last change began the state.
const char* told_by(TopState state) {
  switch (state) {
    case TopState::kRunning:
      return "PodsReady";
    case TopState::kStarting:
      return "Admitted";
    case TopState::kChecks:
      return "QuotaReserved";
    case TopState::kEvicted:
    case TopState::kOff:
      return "Evicted";
    case TopState::kWaiting:
    case TopState::kFinished:
      break;
  }
  return "";
}

}  // namespace

TopQueue top_queue(const json::object& object) {
  const json::object& spec = part(object, "spec");
  const json::object& status = part(object, "status");
  TopQueue out;
  out.name = text_in(part(object, "metadata"), "name");
  out.cohort = text_in(spec, spec.contains("cohortName") ? "cohortName" : "cohort");
  out.trouble = trouble_of(spec, status);
  out.quotas = quotas_of(spec);
  set_used(status, out.quotas);
  out.waiting = api::find_int(status, "pendingWorkloads").value_or(0);
  out.reserving = api::find_int(status, "reservingWorkloads").value_or(0);
  out.admitted = api::find_int(status, "admittedWorkloads").value_or(0);
  return out;
}

TopCohort top_cohort(const json::object& object) {
  const json::object& spec = part(object, "spec");
  return {text_in(spec, spec.contains("parentName") ? "parentName" : "parent"), quotas_of(spec)};
}

TopWorkload top_workload(const json::object& object) {
  const json::object& metadata = part(object, "metadata");
  const json::object& spec = part(object, "spec");
  const json::object& status = part(object, "status");
  TopWorkload out;
  out.ns = text_in(metadata, "namespace");
  out.name = text_in(metadata, "name");
  for_each_object(metadata, "ownerReferences", [&](const json::object& owner) {
    if (api::find_bool(owner, "controller", false))
      out.job = text_in(owner, "kind") + " " + text_in(owner, "name");
  });
  out.local_queue = text_in(spec, "queueName");
  out.cluster_queue = text_in(part(status, "admission"), "clusterQueue");
  out.priority = api::find_int(spec, "priority").value_or(0);
  out.state = state_of(object);
  out.why = why_of(status, out.state);
  out.created = api::find_time(metadata, "creationTimestamp").value_or(0);
  const json::object* told = find_condition(status, told_by(out.state));
  if (!told && out.state == TopState::kRunning) told = find_condition(status, "Admitted");
  out.since =
      told ? api::find_time(*told, "lastTransitionTime").value_or(out.created) : out.created;
  return out;
}

const char* word_of(TopState state) {
  constexpr const char* kWords[] = {"waiting", "evicted", "checks",  "starting",
                                    "running", "off",     "finished"};
  return kWords[static_cast<std::size_t>(state)];
}

bool waits(TopState state) {
  return state == TopState::kWaiting || state == TopState::kEvicted || state == TopState::kChecks;
}

std::int64_t percent_used(const TopQuota& quota) {
  if (quota.nominal <= 0) return quota.used > 0 ? 100 : 0;
  return static_cast<std::int64_t>(100.0 * static_cast<double>(quota.used) /
                                   static_cast<double>(quota.nominal));
}

std::int64_t percent_used(const TopQueue& queue) {
  std::int64_t most = 0;
  for (const TopQuota& quota : queue.quotas) most = std::max(most, percent_used(quota));
  return most;
}

namespace {

json::object document_of(const TopQueue& queue) {
  json::array quotas;
  for (const TopQuota& quota : queue.quotas) {
    const auto said = [&](std::int64_t amount) {
      return api::engine_quantity(quota.resource, amount).text();
    };
    quotas.push_back({{"flavor", quota.flavor},
                      {"resource", quota.resource},
                      {"nominal", said(quota.nominal)},
                      {"used", said(quota.used)},
                      {"borrowed", said(quota.borrowed)},
                      {"lentAtLeast", said(quota.lent_least)},
                      {"lentAtMost", said(quota.lent_most)}});
  }
  json::object out{{"name", queue.name},         {"cohort", queue.cohort},
                   {"waiting", queue.waiting},   {"reserving", queue.reserving},
                   {"admitted", queue.admitted}, {"quotas", std::move(quotas)}};
  if (!queue.trouble.empty()) out["trouble"] = queue.trouble;
  return out;
}

json::object document_of(const TopWorkload& workload) {
  return {{"namespace", workload.ns},
          {"name", workload.name},
          {"job", workload.job},
          {"localQueue", workload.local_queue},
          {"clusterQueue", workload.cluster_queue},
          {"priority", workload.priority},
          {"state", word_of(workload.state)},
          {"since", format_time(workload.since)},
          {"why", workload.why}};
}

}  // namespace

json::object document_of(const TopView& view) {
  json::array queues, workloads;
  for (const TopQueue& queue : view.queues) queues.push_back(document_of(queue));
  for (const TopWorkload& workload : view.workloads) workloads.push_back(document_of(workload));
  return {{"waiting", view.waiting},
          {"queues", std::move(queues)},
          {"workloads", std::move(workloads)}};
}

}  // namespace sluice::host
