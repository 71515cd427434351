#include "core/scheduling/flavor_assigner.hpp"

#include "core/base/check.hpp"
#include "core/model/removal.hpp"
#include "core/scheduling/flavor_match.hpp"
#include "core/scheduling/search_policy.hpp"

namespace sluice {
namespace {

std::string taint_text(const api::Taint& taint) {
  const char* effect = taint.effect == api::TaintEffect::kNoExecute ? "NoExecute" : "NoSchedule";
  return "{" + taint.key + " " + taint.value + " " + effect + " <nil>}";
}

}  // namespace

void FlavorAssigner::assign(WorkloadId workload, QueueId queue,
                            std::span<const std::int32_t> counts, const AssignOptions& options,
                            Assignment& out) {
  workload_ = &model_.workloads[workload];
  queue_ = &model_.queues[queue];
  id_ = workload;
  options_ = options;
  result_ = &out;
  simulated_.clear();
  out.clear();
  SLUICE_CHECK(counts.size() == workload_->pod_sets.size(), workload_->key, " has ",
               workload_->pod_sets.size(), " pod sets, asked for are ", counts.size());
  out.counts.assign(counts.begin(), counts.end());
  const auto n = static_cast<std::uint32_t>(workload_->pod_sets.size());
  out.positions.assign(n * queue_->groups.size(), ScanPosition::kUnset);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (workload_->pod_sets[i].group_leader != i || assign_pod_sets(i)) continue;
    out.mode = Mode::kNoFit;
    return;
  }
}

bool FlavorAssigner::assign_pod_sets(std::uint32_t leader) {
  members_.clear();
  for (std::uint32_t i = leader; i < workload_->pod_sets.size(); ++i)
    if (workload_->pod_sets[i].group_leader == leader) members_.push_back(i);
  ask_count_ = 0;
  if (!split_requests()) return false;
  for (std::size_t i = 0; i < ask_count_; ++i)
    if (!find_flavor(asks_[i])) return false;
  for (std::size_t i = 0; i < ask_count_; ++i) take(asks_[i]);
  return true;
}

/// Sorts the requests of the members by resource group. False when a resource is in none.
bool FlavorAssigner::split_requests() {
  bool covered = true;
  for (const std::uint32_t i : members_)
    for_each_request(*workload_->pod_sets[i].shape, result_->counts[i], queue_->pods_resource,
                     [&](ResourceId resource, Amount amount) {
                       covered = add_request(resource, amount) && covered;
                     });
  return covered;
}

bool FlavorAssigner::add_request(ResourceId resource, Amount amount) {
  const std::uint32_t group = queue_->group_of(resource);
  if (group == kNone) {
    if (amount == 0 || config_.ignore_undeclared_resources) return true;
    FlavorReason& reason = result_->reasons.emplace_back();
    reason.kind = FlavorReason::Kind::kUncovered;
    reason.text = model_.frs.resource_name(resource);
    reason.pod_set = static_cast<std::uint16_t>(members_.front());
    return false;
  }
  Ask& ask = ask_of(group);
  for (Request& r : ask.requests) {
    if (r.resource != resource) continue;
    r.total = add_saturating(r.total, amount);
    return true;
  }
  ask.requests.push_back({resource, amount});
  return true;
}

FlavorAssigner::Ask& FlavorAssigner::ask_of(std::uint32_t group) {
  for (std::size_t i = 0; i < ask_count_; ++i)
    if (asks_[i].group == group) return asks_[i];
  if (ask_count_ == asks_.size()) asks_.emplace_back();
  Ask& ask = asks_[ask_count_++];
  ask.group = group;
  ask.requests.clear();
  ask.found = false;
  ask.position = ScanPosition::kUnset;
  return ask;
}

std::uint32_t FlavorAssigner::first_flavor(const Ask& ask) const {
  if (!options_.resume) return 0;
  const std::size_t groups = queue_->groups.size();
  const std::vector<std::int16_t>& positions = options_.resume->positions;
  if (positions.size() != workload_->pod_sets.size() * groups) return 0;
  const std::int16_t last = positions[members_.front() * groups + ask.group];
  if (last < 0) return 0;
  const auto next = static_cast<std::uint32_t>(last) + 1;
  return next < queue_->groups[ask.group].flavors.size() ? next : 0;
}

bool FlavorAssigner::find_flavor(Ask& ask) {
  ask_plugin_filters(ask);
  const auto count = static_cast<std::uint32_t>(queue_->groups[ask.group].flavors.size());
  std::uint32_t last = 0;
  for (std::uint32_t i = first_flavor(ask); i < count; ++i) {
    last = i;
    if (!passes_filters(ask, i)) continue;
    try_flavor(ask, i);
    const hooks::SearchVerdict verdict = after_flavor(ask);
    if (!result_->fault.empty()) return false;
    const bool stop_here = verdict == hooks::SearchVerdict::kStopHere;
    if (tried_.outcome.mode != Mode::kNoFit &&
        (stop_here || !ask.found || better(tried_.outcome, ask.best.outcome))) {
      std::swap(ask.best, tried_);
      ask.found = true;
    }
    if (stop_here || (verdict == hooks::SearchVerdict::kStopBest && ask.found)) break;
  }
  // Where plugins leave nothing after this flavor there is nothing to go on with.
  bool more = false;
  for (std::uint32_t i = last + 1; i < count && !more; ++i)
    more = !hooks_.flavor_filter || skipped_[i] == 0;
  ask.position = more ? static_cast<std::int16_t>(last) : ScanPosition::kExhausted;
  return ask.found;
}

void FlavorAssigner::ask_plugin_filters(const Ask& ask) {
  if (!hooks_.flavor_filter) return;
  const ResourceGroupRecord& group = queue_->groups[ask.group];
  skipped_.assign(group.flavors.size(), 0);
  skip_reasons_.assign(group.flavors.size(), {});
  skipped_by_.assign(group.flavors.size(), {});
  facts_.clear();
  for (std::size_t i = 0; i < group.flavors.size(); ++i) {
    hooks::FlavorFacts& facts = facts_.emplace_back();
    facts.name = group.flavor_names[i];
    const FlavorRecord& flavor = model_.flavors[group.flavors[i]];
    if (!flavor.exists) continue;
    facts.node_labels = &flavor.node_labels;
    facts.node_taints = &flavor.node_taints;
  }
  for (const std::uint32_t pod_set : members_) {
    hooks::FilterAnswer answer;
    answer.skip.assign(group.flavors.size(), 0);
    answer.reasons.assign(group.flavors.size(), {});
    hooks::Fault fault;
    hooks_.flavor_filter->filter(
        {*workload_->object, queue_->id, pod_set, group.flavor_names, facts_, queue_->spec.get()},
        answer, fault);
    if (fault) result_->fault = fault.sentence();
    for (std::size_t i = 0; i < skipped_.size(); ++i) {
      if (answer.skip[i] == 0 || skipped_[i] != 0) continue;
      skipped_[i] = 1;
      result_->other_grounds = true;
      skip_reasons_[i] = std::move(answer.reasons[i]);
      if (i < answer.by.size()) skipped_by_[i] = std::move(answer.by[i]);
    }
  }
}

/// In a second nomination the choice of the first is the only one; a group that it never reached is
/// open.
bool FlavorAssigner::allowed_again(const Ask& ask, FlavorId flavor) const {
  if (!options_.only) return true;
  for (const ResourceChoice& r : options_.only->choices)
    if (r.pod_set == members_.front() && queue_->group_of(r.resource) == ask.group)
      return model_.frs.flavor_of(r.fr) == flavor;
  return true;
}

bool FlavorAssigner::passes_filters(const Ask& ask, std::uint32_t index) {
  const FlavorId flavor_id = queue_->groups[ask.group].flavors[index];
  const FlavorRecord& flavor = model_.flavors[flavor_id];
  if (!allowed_again(ask, flavor_id)) return false;
  if (!flavor.exists) {
    explain(ask, FlavorReason::Kind::kMissingFlavor, flavor_id);
    return false;
  }
  if (hooks_.flavor_filter && skipped_[index] != 0) {
    if (skip_reasons_[index].empty()) return false;  // not to be mentioned
    FlavorReason& reason = explain(ask, FlavorReason::Kind::kFiltered, flavor_id);
    reason.text = skip_reasons_[index];
    reason.by = skipped_by_[index];
    return false;
  }
  for (const std::uint32_t pod_set : members_) {
    const api::PodTemplate& pod = *workload_->pod_sets[pod_set].shape->pod;
    if (const api::Taint* taint = untolerated_taint(flavor, pod)) {
      explain(ask, FlavorReason::Kind::kTaint, flavor_id).text = taint_text(*taint);
      return false;
    }
    if (!matches_labels(flavor, pod)) {
      explain(ask, FlavorReason::Kind::kAffinity, flavor_id);
      return false;
    }
  }
  return true;
}

/// Fills tried_.
void FlavorAssigner::try_flavor(const Ask& ask, std::uint32_t index) {
  const ResourceGroupRecord& group = queue_->groups[ask.group];
  tried_.outcome = {Mode::kFit, 0};
  tried_.resources.clear();
  for (const Request& request : ask.requests) {
    const auto at = std::find(group.resources.begin(), group.resources.end(), request.resource);
    const auto column = static_cast<std::size_t>(at - group.resources.begin());
    const bool first = tried_.resources.empty();
    tried_.resources.push_back(evaluate(ask, group.frs[index][column], request));
    const hooks::FlavorOutcome outcome{tried_.resources.back().mode, tried_.resources.back().level};
    if (outcome.mode == Mode::kNoFit) {
      tried_.outcome = outcome;
      return;
    }
    if (first || better(tried_.outcome, outcome)) tried_.outcome = outcome;
  }
}

ResourceChoice FlavorAssigner::evaluate(const Ask& ask, FrId fr, const Request& request) {
  const QuotaTree& tree = model_.tree;
  const QueueId queue = queue_->id;
  const Amount earlier = result_->used(fr);
  const Amount amount = add_saturating(request.total, earlier);
  ResourceChoice choice{request.resource, fr, request.total, Mode::kFit, 0, 0};
  if (amount > tree.potential(queue, fr) && amount > 0) {
    choice.mode = Mode::kNoFit;
    FlavorReason& reason = explain(ask, FlavorReason::Kind::kMaximum, model_.frs.flavor_of(fr));
    reason.resource = request.resource;
    reason.a = earlier;
    reason.b = request.total;
    reason.c = tree.potential(queue, fr);
    return choice;
  }
  const auto [level, reclaim_possible] = tree.borrow_level(queue, fr, amount);
  choice.level = level;
  const Amount available = std::max<Amount>(0, tree.available(queue, fr));
  result_->looks.push_back({fr, amount, amount <= available});
  if (amount <= available) return choice;
  FlavorReason& reason = explain(ask, FlavorReason::Kind::kUnused, model_.frs.flavor_of(fr));
  reason.resource = request.resource;
  reason.a = amount - available;
  reason.b = amount;
  if (!preemption_may_help(fr, amount, reclaim_possible)) {
    choice.mode = Mode::kNoFit;
    return choice;
  }
  simulate(fr, amount, choice);
  return choice;
}

bool FlavorAssigner::preemption_may_help(FrId fr, Amount amount, bool reclaim_possible) const {
  if (model_.tree.nominal(queue_->id, fr) >= amount || reclaim_possible) return true;
  const api::Preemption& policy = queue_->spec->preemption;
  return policy.borrow_within_cohort ||
         (config_.fair_sharing && policy.reclaim_within_cohort != api::ReclaimWithinCohort::kNever);
}

void FlavorAssigner::simulate(FrId fr, Amount amount, ResourceChoice& choice) {
  choice.mode = Mode::kNoCandidates;
  if (!options_.may_preempt) return;
  const FrAmount request{fr, amount};
  Simulated& simulated = simulated_.emplace_back();
  simulated.request = request;
  simulated.victims =
      finder_.find({id_, queue_->id, std::span(&request, 1), std::span(&fr, 1), &simulated.note});
  if (simulated.note.fault) result_->fault = simulated.note.fault.sentence();
  const std::vector<Victim>& victims = simulated.victims;
  if (victims.empty()) return;
  result_->other_grounds = true;
  const bool all_elsewhere = std::all_of(victims.begin(), victims.end(), [&](const Victim& v) {
    return model_.workloads[v.id].holding->queue != queue_->id;
  });
  choice.mode = all_elsewhere ? Mode::kReclaim : Mode::kPreempt;
  Removal without(model_);
  for (const Victim& v : victims) without.remove(v.id);
  choice.level = model_.tree.borrow_level(queue_->id, fr, amount).level;
}

const FlavorAssigner::Simulated* FlavorAssigner::simulated_for(const FrAmount& request) const {
  for (const Simulated& s : simulated_)
    if (s.request == request) return &s;
  return nullptr;
}

bool FlavorAssigner::better(const hooks::FlavorOutcome& a, const hooks::FlavorOutcome& b) {
  hooks::Fault fault;
  const bool answer = better_outcome(hooks_, queue_->id, a, b, fault);
  if (fault) result_->fault = fault.sentence();
  return answer;
}

hooks::SearchVerdict FlavorAssigner::after_flavor(const Ask& ask) {
  hooks::SearchStep step;
  step.queue = queue_->id;
  step.current = tried_.outcome;
  step.has_best = ask.found;
  if (ask.found) step.best = ask.best.outcome;
  hooks::Fault fault;
  const hooks::SearchVerdict verdict = search_verdict(hooks_, step, fault);
  if (fault) result_->fault = fault.sentence();
  return verdict;
}

void FlavorAssigner::take(const Ask& ask) {
  for (const std::uint32_t pod_set : members_) {
    for (const ResourceChoice& shared : ask.best.resources) {
      ResourceChoice mine = shared;
      mine.pod_set = pod_set;
      mine.amount =
          model_.amount_of(*workload_, pod_set, shared.resource, result_->counts[pod_set]);
      result_->use(mine.fr, mine.amount);
      result_->choices.push_back(mine);
    }
    result_->positions[pod_set * queue_->groups.size() + ask.group] = ask.position;
  }
  for (const ResourceChoice& r : ask.best.resources) {
    result_->mode = std::min(result_->mode, r.mode);
    result_->level = std::max(result_->level, r.level);
  }
}

FlavorReason& FlavorAssigner::explain(const Ask& ask, FlavorReason::Kind kind, FlavorId flavor) {
  FlavorReason& reason = result_->reasons.emplace_back();
  reason.kind = kind;
  reason.flavor = flavor;
  reason.pod_set = static_cast<std::uint16_t>(members_.front());
  reason.group = static_cast<std::uint16_t>(ask.group);
  return reason;
}

}  // namespace sluice
