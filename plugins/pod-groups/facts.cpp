#include "facts.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "names.hpp"
#include "parents.hpp"

namespace pods {
namespace {

using sluice::Json;

template <typename Number>
std::optional<Number> number_of(const std::string& text) {
  Number out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool lists(const Json* list, std::string_view text) {
  return list != nullptr &&
         std::any_of(list->items().begin(), list->items().end(), [&](const Json& each) {
           return each.is_string() && each.as_string() == text;
         });
}

bool has_gate(const Json& pod) {
  const Json* gates = pod.find("spec.schedulingGates");
  return gates != nullptr &&
         std::any_of(gates->items().begin(), gates->items().end(),
                     [](const Json& gate) { return gate.string_or("name", "") == kGate; });
}

/// Whether a container of it runs, or did.
bool has_run(const Json& pod) {
  for (const char* list : {"status.containerStatuses", "status.initContainerStatuses"})
    if (const Json* containers = pod.find(list))
      for (const Json& each : containers->items())
        for (const char* run : {"state.running", "state.terminated", "lastState.terminated"})
          if (each.find(run) != nullptr) return true;
  return false;
}

}  // namespace

std::optional<Json> said_sets(const Json& pod) {
  const std::string text = sluice::annotation_of(pod, kSets);
  if (text.empty()) return std::nullopt;
  try {
    Json sets = Json::parse(text);
    const auto good = [](const Json& set) {
      return set.is_object() && !set.string_or("name", "").empty() && set.int_or("count", 0) > 0 &&
             set.find("template.spec.containers") != nullptr;
    };
    if (sets.is_array() && sets.size() > 0 &&
        std::all_of(sets.items().begin(), sets.items().end(), good))
      return sets;
  } catch (const sluice::JsonError&) {
    // The rules of pods tell whoever wrote it.
  }
  return std::nullopt;
}

std::optional<Json> said_model(const Json& pod, std::string_view set) {
  const auto sets = said_sets(pod);
  if (!sets) return std::nullopt;
  for (const Json& each : sets->items())
    if (each.string_or("name", "") == set) return *each.member("template");
  return std::nullopt;
}

bool is_managed(const Json& pod) { return sluice::label_of(pod, kManaged) == "true"; }

Pod pod_of(const Json& pod) {
  Pod out;
  out.name = pod.string_or("metadata.name", "");
  out.uid = pod.string_or("metadata.uid", "");
  out.created = pod.string_or("metadata.creationTimestamp", "");
  out.group = sluice::identifier_of(pod, kGroup);
  out.queue = sluice::label_of(pod, kQueue);
  if (auto parent = lasting_set_of(pod)) {
    out.set = std::move(parent->name);
    out.set_uid = std::move(parent->uid);
  }
  out.role = out.group.empty() ? std::string(kMain) : sluice::annotation_of(pod, kRole);
  out.message = pod.string_or("status.message", "");
  out.total = number_of<std::int32_t>(sluice::annotation_of(pod, kTotal)).value_or(0);
  out.evictions = number_of<std::int64_t>(sluice::annotation_of(pod, kEvictions)).value_or(-1);
  if (const auto sets = out.group.empty() ? std::nullopt : said_sets(pod))
    for (const Json& set : sets->items())
      out.sets.push_back(
          {set.string_or("name", ""), static_cast<std::int32_t>(set.int_or("count", 0))});
  const std::string phase = pod.string_or("status.phase", "");
  if (phase == "Succeeded") out.phase = Phase::kSucceeded;
  if (phase == "Failed") out.phase = Phase::kFailed;
  out.fast = sluice::annotation_of(pod, kFast) == "true";
  out.serving = !out.group.empty() && sluice::annotation_of(pod, kServing) == "true";
  out.retriable = sluice::annotation_of(pod, kRetriable) != "false";
  out.gated = has_gate(pod);
  out.tracked = lists(pod.find("metadata.finalizers"), kManaged);
  out.bound = !pod.string_or("spec.nodeName", "").empty();
  out.terminating = !pod.string_or("metadata.deletionTimestamp", "").empty();
  // Whoever runs it holds it no longer, and this plugin's finalizer alone does.
  if (out.open() && out.bound && out.terminating &&
      pod.int_or("metadata.deletionGracePeriodSeconds", 1) == 0)
    out.phase = Phase::kFailed;
  out.unstarted = !out.open() && !has_run(pod);
  out.stopped = sluice::condition_is_true(pod, kStopped);
  out.ready = sluice::condition_is_true(pod, "Ready");
  if (const Json* ready = sluice::find_condition(pod, "Ready"); ready != nullptr && !out.open())
    out.ended = ready->string_or("lastTransitionTime", "");
  return out;
}

Held workload_of(const Json& workload) {
  Held out;
  out.of_group = sluice::annotation_of(workload, kIsGroup) == "true";
  out.terminating = !workload.string_or("metadata.deletionTimestamp", "").empty();
  out.finished = sluice::condition_is_true(workload, "Finished");
  out.reserved = sluice::condition_is_true(workload, "QuotaReserved");
  const bool evicted = sluice::condition_is_true(workload, "Evicted");
  out.admitted = sluice::condition_is_true(workload, "Admitted") && !evicted;
  out.ending = sluice::condition_is_true(workload, "Admitted") && evicted && !out.finished;
  if (const Json* evictions = workload.find("status.schedulingStats.evictions"))
    for (const Json& each : evictions->items()) out.evictions += each.int_or("count", 0);
  if (evicted) {
    out.stop_reason = sluice::find_condition(workload, "Evicted")->string_or("reason", "");
    out.stop_message = sluice::find_condition(workload, "Evicted")->string_or("message", "");
  }
  if (const Json* sets = workload.find("spec.podSets"))
    for (const Json& set : sets->items())
      out.pod_sets.push_back(
          {set.string_or("name", kMain), static_cast<std::int32_t>(set.int_or("count", 1))});
  if (const Json* owners = workload.find("metadata.ownerReferences"))
    for (const Json& owner : owners->items())
      if (owner.string_or("kind", "") == kSetKind) out.sets.push_back(owner.string_or("uid", ""));
  if (const Json* given_back = workload.find("status.reclaimablePods"))
    for (const Json& set : given_back->items())
      out.given_back.push_back(
          {set.string_or("name", ""), static_cast<std::int32_t>(set.int_or("count", 0))});
  return out;
}

}  // namespace pods
