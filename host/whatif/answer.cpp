#include "host/whatif/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <set>
#include <unordered_map>
#include <utility>

#include "api/jobs/job_kind.hpp"
#include "api/json/json.hpp"
#include "core/engine/queue_views.hpp"
#include "core/model/model.hpp"
#include "host/explain/document.hpp"
#include "host/explain/insight.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Of a queue in which most are others', the rest is not searched.
constexpr std::size_t kMostLookedAt = 10'000;

json::object reference(const Wish& wish, const std::string& key) {
  json::object out{{"apiVersion", wish.kind->api_version(wish.version)}, {"kind", wish.kind->kind}};
  if (wish.kind->namespaced) out["namespace"] = wish.ns;
  out["name"] = api::json_view(split_key(key).name);
  return out;
}

/// The workloads of an answer, in words that only name what may be known.
class Names {
 public:
  Names(const Engine& engine, const MayKnow& may_know) : engine_(engine), may_know_(may_know) {}

  void asked(WorkloadId id, json::object object) { asked_.emplace(id, std::move(object)); }
  bool is_asked(WorkloadId id) const { return asked_.contains(id); }
  bool hidden(std::string_view key) const { return may_know_ && !may_know_(namespace_of(key)); }

  /// The workload, its job and where it queues.
  json::object of(WorkloadId id) const {
    const std::string& key = engine_.key(id);
    json::object out{{"workload", key}};
    const auto object = engine_.object(id);
    if (!object) return out;
    for (const auto& owner : object->meta.owners)
      if (owner.controller) out["job"] = owner.kind + " " + owner.name;
    const std::string_view queue = cluster_queue_of(engine_.model(), *object);
    if (!queue.empty()) out["clusterQueue"] = api::json_view(queue);
    out["priority"] = object->priority;
    return out;
  }

  /// The workload that it made room for; empty when there is none that may be named.
  json::object preemptor(const std::string& key) const {
    if (key.empty()) return {};
    const auto id = engine_.find(key);
    const auto own = id ? asked_.find(*id) : asked_.end();
    if (own != asked_.end()) return own->second;
    if (hidden(key)) return {};
    return {{"workload", key}};
  }

 private:
  const Engine& engine_;
  const MayKnow& may_know_;
  std::unordered_map<WorkloadId, json::object> asked_;
};

const char* decision_of(const Engine& engine, WorkloadId id, WorkloadState before) {
  switch (engine.state(id)) {
    case WorkloadState::kAdmitted:
      return before == WorkloadState::kAdmitted ? "Runs" : "Starts";
    case WorkloadState::kQuotaReserved:
      return "WaitsForChecks";
    case WorkloadState::kPending:
      return "Waits";
    case WorkloadState::kFinished:
      return "Finished";
    case WorkloadState::kInactive:
      break;
  }
  return "Inactive";
}

json::object reference_of(const Engine& engine, WorkloadId id) {
  const auto [ns, name] = split_key(engine.key(id));
  return {{"apiVersion", api::json_view(api::kKueueVersion)},
          {"kind", "Workload"},
          {"namespace", api::json_view(ns)},
          {"name", api::json_view(name)}};
}

json::object reference_of(const Engine& engine, const Asked& asked, const Question& question,
                          const std::vector<Granted>& granted) {
  if (!asked.wish) return reference_of(engine, asked.workload);
  return reference(question.wishes[*asked.wish], granted[*asked.wish].key);
}

/// Of one that waited already: what it lacks is not asked, `explain` tells that.
json::object brief_of(const Engine& engine, WorkloadId id, const Happenings& since) {
  json::object out{{"object", reference_of(engine, id)},
                   {"decision", decision_of(engine, id, since.before(id))}};
  const std::string_view queue = cluster_queue_of(engine.model(), *engine.object(id));
  out["queue"] = json::object{{"localQueue", engine.object(id)->queue_name},
                              {"clusterQueue", api::json_view(queue)}};
  return out;
}

json::object told_of(Fork& fork, const Asked& asked, const Question& question, const Names& names,
                     const std::vector<Granted>& granted, const Happenings& since,
                     const MayKnow& may_know) {
  const Engine& engine = fork.engine();
  const WorkloadId id = asked.workload;
  if (!asked.wish) return brief_of(engine, id, since);
  json::object out{{"object", reference_of(engine, asked, question, granted)},
                   {"decision", decision_of(engine, id, since.before(id))}};
  json::object explained = explain_workload(engine, fork.machine().objects(), id, may_know);
  out["queue"] = part(explained, "queue");
  for (const char* field : {"admission", "checks", "standIns", "willEvict"})
    if (const json::value* value = explained.if_contains(field)) out[field] = *value;
  const WorkloadState state = engine.state(id);
  if (state != WorkloadState::kAdmitted) out["explanation"] = std::move(explained);
  // An asked one may lose what it has by the change, too.
  if (const Happenings::Of* of = since.find(id); of && of->evicted && holds(since.before(id))) {
    json::object& evicted = out["evicted"].emplace_object();
    evicted["reason"] = of->reason;
    if (auto by = names.preemptor(of->by); !by.empty()) evicted["by"] = std::move(by);
  }
  return out;
}

/// What became of those that were not asked about, by kind of change.
class Changes {
 public:
  Changes(const Engine& engine, const Question& question, const Names& names,
          const Happenings& since)
      : engine_(engine), question_(question), names_(names), since_(since) {}

  json::object document() {
    for (const Happenings::Of& of : since_.all()) add(of);
    for (const Happenings::Held& held : since_.held()) add_gone(held);
    json::object out;
    for (auto& [name, list] : lists_)
      if (!list.empty()) out[name] = std::move(list);
    if (!hidden_.empty()) out["otherNamespaces"] = std::move(hidden_);
    return out;
  }

 private:
  void add(const Happenings::Of& of) {
    const WorkloadId id = of.workload;
    // Of those that count for another, that other one is shown.
    if (names_.is_asked(id) || !engine_.object(id) || stands_for_asked(id)) return;
    const WorkloadState before = since_.before(id);
    const WorkloadState after = engine_.state(id);
    const bool lost = holds(before) && (of.evicted || !holds(after));
    if (lost && after != WorkloadState::kFinished) return tell(kEvicted, of, after);
    if (before == after) return;
    if (after == WorkloadState::kAdmitted) return tell(kStarts, of, after);
    if (after == WorkloadState::kQuotaReserved) return tell(kReserves, of, after);
    if (after == WorkloadState::kFinished) return tell(kEnds, of, after);
    if (after == WorkloadState::kInactive) return tell(kTurnedOff, of, after);
  }

  /// Deleted with something else, such as its namespace: what runs in it ends.
  void add_gone(const Happenings::Held& held) {
    const api::ObjectMeta& meta = held.object->meta;
    const auto now = engine_.object(held.workload);
    if ((now && now->meta.uid == meta.uid) || is_meant(meta)) return;
    json::object entry{{"workload", meta.key()}};
    for (const auto& owner : meta.owners) {
      if (!owner.controller) continue;
      if (owner.kind == "Workload") return;  // that one is shown
      entry["job"] = owner.kind + " " + owner.name;
    }
    if (names_.hidden(meta.key())) return hide(kEnds);
    entry["clusterQueue"] = engine_.model().queues[held.queue].name;
    entry["priority"] = held.object->priority;
    entry["reason"] = "Deleted";
    put(kEnds, std::move(entry));
  }

  /// The question is to delete this very one, or its job.
  bool is_meant(const api::ObjectMeta& meta) const {
    const auto names_it = [&](const Wish& wish) {
      if (!wish.remove || wish.ns != meta.ns) return false;
      if (is_workload(*wish.kind)) return wish.name == meta.name;
      return std::any_of(meta.owners.begin(), meta.owners.end(), [&](const auto& owner) {
        return owner.kind == wish.kind->kind && owner.name == wish.name;
      });
    };
    return std::any_of(question_.wishes.begin(), question_.wishes.end(), names_it);
  }

  void hide(const char* what) {
    json::value& count = hidden_[what];
    count = (count.is_int64() ? count.get_int64() : 0) + 1;
  }

  void put(const char* what, json::object entry) {
    for (auto& [name, list] : lists_)
      if (name == what) return list.push_back(std::move(entry));
  }

  bool stands_for_asked(WorkloadId id) const {
    const WorkloadId whom = engine_.model().counted_as(id);
    return whom != id && names_.is_asked(whom);
  }

  void tell(const char* what, const Happenings::Of& of, WorkloadState after) {
    const std::string& key = engine_.key(of.workload);
    if (names_.hidden(key)) return hide(what);
    json::object entry = names_.of(of.workload);
    if (!of.reason.empty()) entry["reason"] = of.reason;
    if (!of.preemption.empty()) entry["preemption"] = of.preemption;
    if (auto by = names_.preemptor(of.by); !by.empty()) entry["by"] = std::move(by);
    if (what == kEvicted && holds(after)) entry["goesOn"] = true;
    if (holds(after))
      if (const auto admission = engine_.view(of.workload).admission)
        entry["admission"] = assignment_document(*admission);
    put(what, std::move(entry));
  }

  static constexpr const char* kStarts = "starts";
  static constexpr const char* kReserves = "reserves";
  static constexpr const char* kEvicted = "evicted";
  static constexpr const char* kEnds = "ends";
  static constexpr const char* kTurnedOff = "turnedOff";

  const Engine& engine_;
  const Question& question_;
  const Names& names_;
  const Happenings& since_;
  std::pair<const char*, json::array> lists_[5] = {
      {kStarts, {}}, {kReserves, {}}, {kEvicted, {}}, {kEnds, {}}, {kTurnedOff, {}}};
  json::object hidden_;
};

/// What the answer does not know: what is decided outside of this host.
json::array uncertainties(const Engine& engine, const std::vector<Asked>& asked) {
  std::set<std::string> open;
  for (const Asked& each : asked)
    for (const api::AdmissionCheckState& check : engine.status(each.workload).admission_checks)
      if (check.state != "Ready") open.insert(check.name);
  json::array out;
  for (const std::string& name : open)
    out.emplace_back(fmt::format(
        "admission check {} is answered by somebody who looks outside, once the quota is reserved: "
        "it may refuse, or take its time",
        name));
  return out;
}

/// One that no queue holds back runs as soon as it is made; one that has ended has no workload that
/// is told of; of one that stays suspended none can be made.
json::object without_workload(Fork& fork, const Wish& wish, const std::string& key) {
  const char* decision = "NotQueued";
  if (const StoredObject* stored = fork.machine().store().find(*wish.kind, key)) {
    const json::object job = to_object(*stored);
    if (wish.kind->job->end(job))
      decision = "Finished";
    else if (wish.kind->job->suspended(job))
      decision = "HeldBack";
  }
  return {{"object", reference(wish, key)}, {"decision", decision}};
}

std::set<std::string> local_queues_of(const Model& model, const Waiting& asked) {
  if (!asked.local_queue.empty()) return {asked.local_queue};
  std::set<std::string> out;
  for (const auto& [key, local] : model.local_queues)
    if (local.cluster_queue == asked.cluster_queue) out.insert(key);
  return out;
}

/// Those that the question means and that the user may know, of a queue the first ones.
std::vector<WorkloadId> waiting_of(const Engine& engine, const Waiting& asked,
                                   const MayKnow& may_know) {
  std::vector<WorkloadId> out;
  const auto add = [&](WorkloadId id) {
    const WorkloadState state = engine.state(id);
    if (state == WorkloadState::kFinished || state == WorkloadState::kInactive) return;
    // One that is tried in several options waits as these do; one that a plugin holds back, too.
    const WorkloadRecord& w = engine.model().workloads[id];
    if (!w.stands_aside() || state == WorkloadState::kPending ||
        !engine.model().members_for(w).empty())
      out.push_back(id);
  };
  for (const std::string& key : asked.workloads)
    if (const auto id = engine.find(key); id && engine.object(*id)) add(*id);
  const std::string queue = asked.local_queue.empty()
                                ? asked.cluster_queue
                                : cluster_queue_of(engine.model(), asked.local_queue);
  if (queue.empty()) return out;
  const Names names(engine, may_know);
  for (const PendingWorkload& each :
       pending_workloads(engine.model(), queue, asked.local_queue, 0, kMostLookedAt)) {
    if (out.size() == kMostWaiting) break;
    if (!names.hidden(engine.key(each.id))) add(each.id);
  }
  // Those that wait beside the queue: for a gate, a backoff, a plugin.
  for (const WorkloadId id : waiting_in(engine.model(), local_queues_of(engine.model(), asked))) {
    if (out.size() >= kMostWaiting) break;
    const bool told = engine.model().counted_as(id) != id ||  // as another one
                      std::find(out.begin(), out.end(), id) != out.end();
    if (!told && !names.hidden(engine.key(id))) add(id);
  }
  return out;
}

}  // namespace

std::vector<Asked> asked_workloads(Fork& fork, const Question& question,
                                   const std::vector<Granted>& granted, const Happenings& since,
                                   const MayKnow& may_know) {
  const Engine& engine = fork.engine();
  std::vector<Asked> out;
  const auto add = [&](std::size_t wish, const std::string& key) {
    const auto id = engine.find(key);
    if (!id) return;
    if (since.existed(*id) && since.before(*id) == WorkloadState::kFinished) return;
    out.push_back({wish, *id});
  };
  for (std::size_t i = 0; i < question.wishes.size(); ++i) {
    const Wish& wish = question.wishes[i];
    if (wish.remove) continue;
    if (is_workload(*wish.kind)) add(i, granted[i].key);
    if (!wish.kind->job) continue;
    const StoredObject* job = fork.machine().store().find(*wish.kind, granted[i].key);
    if (!job) continue;
    for (const ObjectRef& owned : fork.machine().index().owned_by(job->metadata.uid()))
      if (is_workload(*owned.kind)) add(i, owned.key);
  }
  for (const WorkloadId id : waiting_of(engine, question.waiting, may_know)) {
    const bool told =
        std::any_of(out.begin(), out.end(), [&](const Asked& each) { return each.workload == id; });
    if (!told && since.existed(id)) out.push_back({std::nullopt, id});
  }
  return out;
}

bool waits(const Engine& engine, WorkloadId id) {
  const WorkloadState state = engine.state(id);
  return state == WorkloadState::kPending || state == WorkloadState::kQuotaReserved;
}

json::object answer_document(Fork& fork, const Question& question,
                             const std::vector<Granted>& granted, const std::vector<Asked>& asked,
                             const Happenings& since, const MayKnow& may_know) {
  Names names(fork.engine(), may_know);
  for (const Asked& each : asked)
    names.asked(each.workload, reference_of(fork.engine(), each, question, granted));
  json::array workloads;
  for (const Asked& each : asked)
    workloads.push_back(told_of(fork, each, question, names, granted, since, may_know));
  for (std::size_t i = 0; i < question.wishes.size(); ++i) {
    const Wish& wish = question.wishes[i];
    if (wish.remove || !wish.kind->job) continue;
    const bool queued =
        std::any_of(asked.begin(), asked.end(), [i](const Asked& each) { return each.wish == i; });
    if (!queued) workloads.push_back(without_workload(fork, wish, granted[i].key));
  }
  json::object out{{"time", format_time(fork.now())},
                   {"resourceVersion", std::to_string(fork.version())}};
  if (!workloads.empty()) out["workloads"] = std::move(workloads);
  json::object changes = Changes(fork.engine(), question, names, since).document();
  if (!changes.empty()) out["changes"] = std::move(changes);
  json::array uncertain = uncertainties(fork.engine(), asked);
  if (!uncertain.empty()) out["uncertain"] = std::move(uncertain);
  json::array warnings;
  for (const Granted& each : granted)
    for (const std::string& warning : each.warnings) warnings.emplace_back(warning);
  if (!warnings.empty()) out["warnings"] = std::move(warnings);
  return out;
}

}  // namespace sluice::host
