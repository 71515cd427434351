#include "host/simulate/report/collector.hpp"

#include <algorithm>

#include "core/engine/queue_views.hpp"
#include "core/model/model.hpp"

namespace sluice::host {
namespace {

void remember(std::vector<std::pair<StringId, StringId>>& all, StringId name, StringId above) {
  const auto known =
      std::find_if(all.begin(), all.end(), [name](const auto& each) { return each.first == name; });
  if (known == all.end())
    all.emplace_back(name, above);
  else
    known->second = above;
}

}  // namespace

void ReportCollector::decided(Duration at, const Decision& decision, const Engine& engine) {
  if (decision.type == DecisionType::kStatus) return;
  RunEvent event;
  event.at = at;
  event.workload = index_of(at, decision.workload, engine);
  event.type = static_cast<std::uint8_t>(decision.type);
  event.what = what_of(decision, engine);
  if (decision.type == DecisionType::kQuotaReserved)
    if (const StringId queue = tables_.places[event.what].queue; queue != 0)
      record_.workloads[event.workload].queue = queue;
  if (!decision.by.empty())
    if (const auto by = engine.find(decision.by)) event.by = index_of(at, *by, engine);
  record_.events.push_back(event);
}

std::uint32_t ReportCollector::what_of(const Decision& decision, const Engine& engine) {
  switch (decision.type) {
    case DecisionType::kQuotaReserved: {
      const auto view = engine.view(decision.workload);
      if (!view.admission) return tables_.place("", decision.borrowing, {});
      return tables_.place(view.admission->cluster_queue, decision.borrowing,
                           view.admission->pod_sets);
    }
    case DecisionType::kLowered: {
      const auto& queues = engine.model().queues;
      const QueueId queue = engine.model().workloads[decision.workload].queue;
      return tables_.place(queue < queues.size() ? engine.model().tree.name(queue) : "", false,
                           assignment_of(engine.model(), decision.workload));
    }
    case DecisionType::kEvicted:
      return tables_.reason(decision.reason,
                            decision.preemption.empty() ? decision.message : decision.preemption);
    case DecisionType::kCheckState:
      return tables_.reason(decision.reason, decision.message.empty()
                                                 ? decision.cause
                                                 : decision.cause + ": " + decision.message);
    case DecisionType::kAdmitted:
    case DecisionType::kWaitingForVictims:
      return 0;
    case DecisionType::kFinished:
    case DecisionType::kRequeued:
      return tables_.reason(decision.reason, "");  // as the decision log has it
    default:
      return tables_.reason(decision.reason, decision.message);
  }
}

// An event that changed nothing: no workload waited or ran otherwise because of it.
void ReportCollector::skipped(Duration, std::string_view, std::string_view) {}

void ReportCollector::came(Duration at, WorkloadId workload, const Engine& engine) {
  index_of(at, workload, engine);
}

void ReportCollector::gone(Duration at, WorkloadId workload, const Engine& engine) {
  record_.events.push_back({at, index_of(at, workload, engine), RunEvent::kGone,
                            tables_.reason("Deleted", ""), kNotThere});
  indexes_[workload] = kNotThere;
}

std::uint32_t ReportCollector::index_of(Duration at, WorkloadId workload, const Engine& engine) {
  if (workload >= indexes_.size()) indexes_.resize(workload + 1, kNotThere);
  if (indexes_[workload] != kNotThere) return indexes_[workload];
  const auto index = static_cast<std::uint32_t>(record_.workloads.size());
  indexes_[workload] = index;
  const auto object = engine.object(workload);
  ReportWorkload& known = record_.workloads.emplace_back();
  known.key = engine.key(workload);
  if (!object) return index;  // it is being deleted
  known.priority = engine.model().workloads[workload].priority;
  known.arrived = object->meta.creation_time ? offset_of(*object->meta.creation_time) : at;
  known.queue = tables_.texts.intern(cluster_queue_of(engine.model(), *object));
  known.shape = shape_of(workload, engine);
  fresh_.emplace_back(workload, index);
  take_over(index, workload, engine);
  return index;
}

/// What a workload brought in its status: it held quota, or had ended, before it was first seen.
void ReportCollector::take_over(std::uint32_t index, WorkloadId workload, const Engine& engine) {
  const api::WorkloadStatus& status = engine.object(workload)->status;
  const auto tell = [&](const char* condition, DecisionType type, std::uint32_t what) {
    const auto* told = status.condition(condition);
    if (!told || !told->is_true()) return;
    record_.events.push_back({offset_of(told->last_transition_time), index,
                              static_cast<std::uint8_t>(type), what, kNotThere});
  };
  if (status.admission) {
    tell("QuotaReserved", DecisionType::kQuotaReserved,
         tables_.place(status.admission->cluster_queue, false, status.admission->pod_sets));
    tell("Admitted", DecisionType::kAdmitted, 0);
  }
  tell("Finished", DecisionType::kFinished, tables_.reason("Finished", ""));
}

Duration ReportCollector::offset_of(Time time) const {
  return saturate(Wide{time} - start_);  // the status of a dump may name any time
}

std::uint32_t ReportCollector::shape_of(WorkloadId workload, const Engine& engine) {
  const Model& model = engine.model();
  const auto object = engine.object(workload);
  const auto& pod_sets = model.workloads[workload].pod_sets;
  ReportShape shape;
  for (std::size_t i = 0; i < std::min(pod_sets.size(), object->pod_sets.size()); ++i) {
    auto& pods = shape.pods.emplace_back();
    pods.name = tables_.texts.intern(object->pod_sets[i].name);
    pods.count = pod_sets[i].count;
    for (const ResourceAmount& request : pod_sets[i].shape->requests)
      pods.requests.emplace_back(tables_.texts.intern(model.frs.resource_name(request.resource)),
                                 request.amount);
  }
  return tables_.shape(std::move(shape));
}

// Once the instant is at rest it is known which workload counts for which, and in which queue.
void ReportCollector::rested(Duration at, const Engine& engine) {
  for (const auto& [workload, index] : fresh_) {
    if (indexes_[workload] != index) continue;  // gone within the instant
    const WorkloadId whom = engine.model().counted_as(workload);
    ReportWorkload& known = record_.workloads[index];
    if (whom != workload && whom < indexes_.size()) known.counts_for = indexes_[whom];
    if (known.queue == 0)
      known.queue =
          tables_.texts.intern(cluster_queue_of(engine.model(), *engine.object(workload)));
  }
  fresh_.clear();
  note_use(at, engine);
}

void ReportCollector::note_use(Duration at, const Engine& engine) {
  const Model& model = engine.model();
  if (model.tree_stale) return;
  if (epoch_ != model.epoch || cells_ != model.tree.node_count() * model.tree.fr_count()) {
    for (Watched& old : watched_) {  // what is no longer there is not used
      UseSeries::put(old.series->use, at, 0);
      UseSeries::put(old.series->nominal, at, 0);
    }
    learn_tree(engine);
  }
  for (Watched& cell : watched_) {
    const Amount use = cell.series->cohort ? 0 : saturate(model.tree.usage(cell.node, cell.fr));
    const Amount nominal = model.tree.nominal(cell.node, cell.fr);
    if (use == cell.use && nominal == cell.nominal) continue;
    cell.use = use;
    cell.nominal = nominal;
    UseSeries::put(cell.series->use, at, use);
    UseSeries::put(cell.series->nominal, at, nominal);
  }
}

void ReportCollector::learn_tree(const Engine& engine) {
  const Model& model = engine.model();
  const QuotaTree& tree = model.tree;
  epoch_ = model.epoch;
  cells_ = tree.node_count() * tree.fr_count();
  watched_.clear();
  for (NodeId node = 0; node < tree.node_count(); ++node) {
    const bool cohort = !tree.is_queue(node);
    if (!cohort && !model.find_queue(tree.name(node))) continue;
    const StringId name = tables_.texts.intern(tree.name(node));
    remember(cohort ? cohorts_ : queues_, name,
             tree.has_parent(node) ? tables_.texts.intern(tree.name(tree.parent(node))) : 0);
    for (FrId fr = 0; fr < tree.fr_count(); ++fr) {
      if (cohort && tree.nominal(node, fr) == 0) continue;
      const auto flavor = tables_.texts.intern(model.frs.flavor_name(model.frs.flavor_of(fr)));
      const auto resource =
          tables_.texts.intern(model.frs.resource_name(model.frs.resource_of(fr)));
      // A use that no cell ever has, so that the first look notes it.
      watched_.push_back({node, fr, -1, -1, &record_.use.of(cohort, name, flavor, resource)});
    }
  }
}

}  // namespace sluice::host
