#include "host/observe/compare.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <map>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "core/engine/queue_views.hpp"
#include "core/engine/workload_views.hpp"
#include "host/explain/document.hpp"
#include "host/explain/obstacles.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

const char* action_of(WorkloadState state) {
  switch (state) {
    case WorkloadState::kPending:
      return "Wait";
    case WorkloadState::kQuotaReserved:
      return "Reserve";
    case WorkloadState::kAdmitted:
      return "Admit";
    case WorkloadState::kFinished:
      return "Finish";
    case WorkloadState::kInactive:
      break;
  }
  return "Deactivate";
}

/// By workload: the victims that Sluice would evict for it.
std::map<std::string, json::array> victims_of(const TrialNotes& notes) {
  std::map<std::string, json::array> out;
  for (const auto& [key, evictions] : notes.evictions())
    for (const TrialEviction& each : evictions)
      if (!each.by.empty()) out[each.by].emplace_back(key);
  return out;
}

json::array evictions_of(const TrialNotes& notes) {
  json::array out;
  for (const auto& [key, evictions] : notes.evictions()) {
    for (const TrialEviction& each : evictions) {
      json::object eviction{{"workload", key}, {"reason", each.reason}, {"message", each.message}};
      if (!each.by.empty()) eviction["by"] = each.by;
      out.push_back(std::move(eviction));
    }
  }
  return out;
}

json::object verdict(Trial& trial, WorkloadId id, json::array preempts) {
  const json::object all = explanation_document(trial.engine(), id, trial.now(), {});
  json::object out{{"action", action_of(trial.engine().state(id))}};
  for (const char* name : {"reason", "message", "admission", "checks", "refusals"})
    if (const json::value* value = all.if_contains(name)) out[name] = *value;
  if (!preempts.empty()) out["preempts"] = std::move(preempts);
  return out;
}

/// A workload that waits, before the trial is run.
struct Row {
  WorkloadId id;
  json::object document;
};

std::vector<Row> waiting(Trial& trial) {
  std::vector<Row> out;
  const Engine& engine = trial.engine();
  const api::KindInfo& kind = api::kueue_kind(trial.machine().objects().scheme(), "Workload");
  for (const WorkloadId id : engine.workloads()) {
    if (engine.state(id) != WorkloadState::kPending || !takes_part(engine.model(), id)) continue;
    const auto workload = engine.object(id);
    json::object row{{"namespace", workload->meta.ns},
                     {"name", workload->meta.name},
                     {"queue", workload->queue_name},
                     {"priority", workload->priority}};
    if (const std::string_view queue = cluster_queue_of(engine.model(), *workload); !queue.empty())
      row["clusterQueue"] = queue;
    if (const StoredObject* stored = trial.machine().store().find(kind, engine.key(id)))
      row["cluster"] = cluster_says(*stored);
    out.push_back({id, std::move(row)});
  }
  return out;
}

}  // namespace

json::object cluster_says(const StoredObject& workload) {
  json::error_code problem;
  const json::value parsed = workload.status.empty() ? json::value(json::object())
                                                     : api::parse_deep(workload.status, problem);
  static const json::object kNone;
  const json::object& status = problem || !parsed.is_object() ? kNone : parsed.get_object();
  // The last step that it took, else why it has not taken the first.
  for (const char* type : {"Finished", "Admitted", "QuotaReserved"}) {
    const json::object* found = find_condition(status, type);
    const bool is_true = has_condition(status, type);
    if (!found || (!is_true && std::string_view(type) != "QuotaReserved")) continue;
    json::object out{{"state", is_true ? type : "Pending"}};
    for (const char* name : {"reason", "message"})
      if (const auto text = api::find_text(*found, name); !text.empty()) out[name] = text;
    if (const auto since = api::find_text(*found, "lastTransitionTime"); !since.empty())
      out["since"] = since;
    return out;
  }
  return {{"state", "Pending"}, {"message", "nothing is said of it yet"}};
}

json::object comparison(Trial& trial, const Mirror& mirror) {
  std::vector<Row> rows = waiting(trial);
  trial.run();
  std::map<std::string, json::array> victims = victims_of(trial.notes());
  std::size_t differ = 0;
  json::array workloads;
  for (Row& row : rows) {
    row.document["sluice"] = verdict(trial, row.id, std::move(victims[trial.engine().key(row.id)]));
    const bool waits = trial.engine().state(row.id) == WorkloadState::kPending;
    row.document["agrees"] = waits;
    differ += waits ? 0 : 1;
    workloads.push_back(std::move(row.document));
  }
  json::object out{{"kind", "ClusterComparison"},
                   {"apiVersion", "sluice.dev/v1alpha1"},
                   {"time", format_time(trial.now())},
                   {"waiting", workloads.size()},
                   {"differ", differ},
                   {"workloads", std::move(workloads)},
                   {"evictions", evictions_of(trial.notes())}};
  json::array left_out;
  for (const UnreadObject& each : mirror.unread())
    left_out.push_back(
        json::object{{"kind", each.kind->kind}, {"object", each.key}, {"why", each.why}});
  if (!left_out.empty()) out["unread"] = std::move(left_out);
  const std::vector<std::string> fields = mirror.unknown_fields();
  if (!fields.empty()) out["unknownFields"] = json::array(fields.begin(), fields.end());
  return out;
}

bool agrees(const json::object& comparison) {
  const json::array* evictions = api::find_array(comparison, "evictions");
  return api::find_int(comparison, "differ").value_or(0) == 0 && (!evictions || evictions->empty());
}

}  // namespace sluice::host
