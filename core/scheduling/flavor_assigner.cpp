#include "core/scheduling/flavor_assigner.hpp"

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

FlavorAssigner::FlavorAssigner(Model& model, const EngineConfig& config, const hooks::Hooks& hooks,
                               WorkloadId workload, QueueId queue)
    : model_(model),
      config_(config),
      hooks_(hooks),
      id_(workload),
      queue_id_(queue),
      workload_(model.workloads[workload]),
      queue_(model.queues[queue]),
      finder_(model, config, hooks) {}

Assignment FlavorAssigner::assign(std::span<const std::int32_t> counts,
                                  const AssignOptions& options) {
  options_ = options;
  result_ = Assignment();
  const auto n = static_cast<std::uint32_t>(workload_.pod_sets.size());
  result_.pod_sets.resize(n);
  result_.positions.assign(n * queue_.groups.size(), ScanPosition::kUnset);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (workload_.pod_sets[i].group_leader != i) continue;
    if (assign_pod_sets(i, counts)) continue;
    result_.mode = Mode::kNoFit;
    result_.pod_sets.resize(i);
    break;
  }
  return std::move(result_);
}

bool FlavorAssigner::assign_pod_sets(std::uint32_t leader, std::span<const std::int32_t> counts) {
  std::vector<std::uint32_t> pod_sets;
  for (std::uint32_t i = leader; i < workload_.pod_sets.size(); ++i)
    if (workload_.pod_sets[i].group_leader == leader) pod_sets.push_back(i);
  for (const std::uint32_t i : pod_sets) result_.pod_sets[i].count = counts[i];

  std::vector<Ask> asks;
  if (!split_requests(pod_sets, counts, asks)) return false;
  std::vector<std::pair<Tried, std::int16_t>> found;
  for (const Ask& ask : asks) {
    Tried best;
    std::int16_t position = ScanPosition::kUnset;
    if (!find_flavor(ask, best, position)) return false;
    found.emplace_back(std::move(best), position);
  }
  for (std::size_t i = 0; i < asks.size(); ++i)
    take(asks[i], found[i].first, counts, found[i].second);
  return true;
}

Amount FlavorAssigner::request_of(std::uint32_t pod_set, ResourceId resource,
                                  std::int32_t count) const {
  if (resource == queue_.pods_resource) return count;
  for (const ResourceAmount& r : workload_.pod_sets[pod_set].shape->requests)
    if (r.resource == resource) return multiply_saturating(r.amount, count);
  return 0;
}

bool FlavorAssigner::split_requests(const std::vector<std::uint32_t>& pod_sets,
                                    std::span<const std::int32_t> counts, std::vector<Ask>& asks) {
  bool covered = true;
  const auto add = [&](ResourceId resource, Amount amount) {
    const std::uint32_t group =
        resource < queue_.group_of_resource.size() ? queue_.group_of_resource[resource] : kNone;
    if (group == kNone) {
      if (amount == 0 || config_.ignore_undeclared_resources) return;
      covered = false;
      FlavorReason reason;
      reason.kind = FlavorReason::Kind::kUncovered;
      reason.resource = resource;
      reason.pod_set = static_cast<std::uint16_t>(pod_sets.front());
      result_.reasons.push_back(std::move(reason));
      return;
    }
    auto ask =
        std::find_if(asks.begin(), asks.end(), [&](const Ask& a) { return a.group == group; });
    if (ask == asks.end()) ask = asks.insert(asks.end(), Ask{pod_sets, group, {}});
    for (Request& r : ask->requests) {
      if (r.resource != resource) continue;
      r.total = add_saturating(r.total, amount);
      return;
    }
    ask->requests.push_back({resource, amount});
  };
  for (const std::uint32_t i : pod_sets) {
    for (const ResourceAmount& r : workload_.pod_sets[i].shape->requests)
      if (r.resource != queue_.pods_resource)
        add(r.resource, multiply_saturating(r.amount, counts[i]));
    if (queue_.pods_resource != kNone) add(queue_.pods_resource, counts[i]);
  }
  return covered;
}

std::uint32_t FlavorAssigner::first_flavor(const Ask& ask) const {
  if (!options_.resume) return 0;
  const std::size_t groups = queue_.groups.size();
  const std::vector<std::int16_t>& positions = options_.resume->positions;
  const std::size_t slot = ask.pod_sets.front() * groups + ask.group;
  if (positions.size() != workload_.pod_sets.size() * groups) return 0;
  const std::int16_t last = positions[slot];
  if (last < 0) return 0;
  const auto next = static_cast<std::uint32_t>(last) + 1;
  return next < queue_.groups[ask.group].flavors.size() ? next : 0;
}

bool FlavorAssigner::find_flavor(const Ask& ask, Tried& best, std::int16_t& position) {
  const ResourceGroupRecord& group = queue_.groups[ask.group];
  ask_plugin_filters(ask);
  bool any = false;
  const auto count = static_cast<std::uint32_t>(group.flavors.size());
  std::uint32_t last = 0;
  for (std::uint32_t i = first_flavor(ask); i < count; ++i) {
    last = i;
    if (!passes_filters(ask, i)) continue;
    Tried tried = try_flavor(ask, i);
    const hooks::SearchVerdict verdict = after_flavor(tried, any ? &best : nullptr);
    if (!result_.fault.empty()) return false;
    if (verdict == hooks::SearchVerdict::kStopHere) {
      best = std::move(tried);
      any = true;
      break;
    }
    if (tried.outcome.mode != Mode::kNoFit && (!any || better(tried.outcome, best.outcome))) {
      best = std::move(tried);
      any = true;
    }
    if (verdict == hooks::SearchVerdict::kStopBest && any) break;
  }
  position = last + 1 == count ? ScanPosition::kExhausted : static_cast<std::int16_t>(last);
  return any && best.outcome.mode != Mode::kNoFit;
}

void FlavorAssigner::ask_plugin_filters(const Ask& ask) {
  if (!hooks_.flavor_filter) return;
  const ResourceGroupRecord& group = queue_.groups[ask.group];
  skipped_.assign(group.flavors.size(), 0);
  skip_reasons_.assign(group.flavors.size(), {});
  for (const std::uint32_t pod_set : ask.pod_sets) {
    hooks::FilterAnswer answer;
    answer.skip.assign(group.flavors.size(), 0);
    answer.reasons.assign(group.flavors.size(), {});
    hooks::Fault fault;
    hooks_.flavor_filter->filter({*workload_.object, queue_id_, pod_set, group.flavor_names},
                                 answer, fault);
    if (fault) result_.fault = fault.text;
    for (std::size_t i = 0; i < skipped_.size(); ++i) {
      if (answer.skip[i] == 0 || skipped_[i] != 0) continue;
      skipped_[i] = 1;
      skip_reasons_[i] = std::move(answer.reasons[i]);
    }
  }
}

bool FlavorAssigner::passes_filters(const Ask& ask, std::uint32_t index) {
  const ResourceGroupRecord& group = queue_.groups[ask.group];
  const FlavorId flavor_id = group.flavors[index];
  const FlavorRecord& flavor = model_.flavors[flavor_id];
  FlavorReason reason;
  reason.flavor = flavor_id;
  if (options_.only && ask.pod_sets.front() < options_.only->pod_sets.size()) {
    // The first nomination's choice is the only one; a group that it never reached is open.
    bool allowed = true;
    for (const ResourceChoice& r : options_.only->pod_sets[ask.pod_sets.front()].resources)
      if (queue_.group_of_resource[r.resource] == ask.group)
        allowed = model_.frs.flavor_of(r.fr) == flavor_id;
    if (!allowed) return false;
  }
  if (!flavor.exists) {
    reason.kind = FlavorReason::Kind::kMissingFlavor;
    explain(std::move(reason), ask);
    return false;
  }
  if (hooks_.flavor_filter && skipped_[index] != 0) {
    reason.kind = FlavorReason::Kind::kFiltered;
    reason.text = skip_reasons_[index];
    explain(std::move(reason), ask);
    return false;
  }
  for (const std::uint32_t pod_set : ask.pod_sets) {
    const api::PodTemplate& pod = *workload_.pod_sets[pod_set].shape->pod;
    if (const api::Taint* taint = untolerated_taint(flavor, pod)) {
      reason.kind = FlavorReason::Kind::kTaint;
      reason.text = taint_text(*taint);
      explain(std::move(reason), ask);
      return false;
    }
    if (!matches_labels(flavor, pod)) {
      reason.kind = FlavorReason::Kind::kAffinity;
      explain(std::move(reason), ask);
      return false;
    }
  }
  return true;
}

FlavorAssigner::Tried FlavorAssigner::try_flavor(const Ask& ask, std::uint32_t index) {
  const ResourceGroupRecord& group = queue_.groups[ask.group];
  Tried tried;
  tried.flavor = index;
  tried.outcome = {Mode::kFit, 0};
  tried.resources.reserve(ask.requests.size());
  bool first = true;
  for (const Request& request : ask.requests) {
    const auto at = std::find(group.resources.begin(), group.resources.end(), request.resource);
    const auto column = static_cast<std::size_t>(at - group.resources.begin());
    ResourceChoice choice = evaluate(ask, group.frs[index][column], request);
    const hooks::FlavorOutcome outcome{choice.mode, choice.level};
    tried.resources.push_back(choice);
    if (outcome.mode == Mode::kNoFit) {
      tried.outcome = outcome;
      break;
    }
    if (first || better(tried.outcome, outcome)) tried.outcome = outcome;
    first = false;
  }
  return tried;
}

ResourceChoice FlavorAssigner::evaluate(const Ask& ask, FrId fr, const Request& request) {
  const QuotaTree& tree = model_.tree;
  const Amount earlier = result_.used(fr);
  const Amount amount = add_saturating(request.total, earlier);
  ResourceChoice choice{request.resource, fr, request.total, Mode::kFit, 0};
  FlavorReason reason;
  reason.flavor = model_.frs.flavor_of(fr);
  reason.resource = request.resource;
  if (amount > tree.potential(queue_id_, fr) && amount > 0) {
    choice.mode = Mode::kNoFit;
    reason.kind = FlavorReason::Kind::kMaximum;
    reason.a = earlier;
    reason.b = request.total;
    reason.c = tree.potential(queue_id_, fr);
    explain(std::move(reason), ask);
    return choice;
  }
  const auto [level, reclaim_possible] = tree.borrow_level(queue_id_, fr, amount);
  choice.level = level;
  if (tree.fits(queue_id_, fr, amount)) return choice;
  reason.kind = FlavorReason::Kind::kUnused;
  reason.a = amount - std::max<Amount>(0, tree.available(queue_id_, fr));
  explain(std::move(reason), ask);
  if (!preemption_may_help(fr, amount, reclaim_possible)) {
    choice.mode = Mode::kNoFit;
    return choice;
  }
  simulate(fr, amount, choice);
  return choice;
}

bool FlavorAssigner::preemption_may_help(FrId fr, Amount amount, bool reclaim_possible) const {
  if (model_.tree.nominal(queue_id_, fr) >= amount || reclaim_possible) return true;
  const api::Preemption& policy = queue_.spec->preemption;
  return policy.borrow_within_cohort ||
         (config_.fair_sharing && policy.reclaim_within_cohort != api::ReclaimWithinCohort::kNever);
}

void FlavorAssigner::simulate(FrId fr, Amount amount, ResourceChoice& choice) const {
  choice.mode = Mode::kNoCandidates;
  if (!options_.may_preempt) return;
  const FrAmount request{fr, amount};
  const std::vector<Victim> victims =
      finder_.find({id_, queue_id_, std::span(&request, 1), std::span(&fr, 1)});
  if (victims.empty()) return;
  const bool all_elsewhere = std::all_of(victims.begin(), victims.end(), [&](const Victim& v) {
    return model_.workloads[v.id].holding->queue != queue_id_;
  });
  choice.mode = all_elsewhere ? Mode::kReclaim : Mode::kPreempt;
  Removal without(model_);
  for (const Victim& v : victims) without.remove(v.id);
  choice.level = model_.tree.borrow_level(queue_id_, fr, amount).level;
}

bool FlavorAssigner::better(const hooks::FlavorOutcome& a, const hooks::FlavorOutcome& b) {
  hooks::Fault fault;
  const bool answer = better_outcome(hooks_, queue_id_, a, b, fault);
  if (fault) result_.fault = fault.text;
  return answer;
}

hooks::SearchVerdict FlavorAssigner::after_flavor(const Tried& tried, const Tried* best) {
  hooks::SearchStep step;
  step.queue = queue_id_;
  step.current = tried.outcome;
  step.has_best = best != nullptr;
  if (best) step.best = best->outcome;
  hooks::Fault fault;
  const hooks::SearchVerdict verdict = search_verdict(hooks_, step, fault);
  if (fault) result_.fault = fault.text;
  return verdict;
}

void FlavorAssigner::take(const Ask& ask, const Tried& tried, std::span<const std::int32_t> counts,
                          std::int16_t position) {
  for (const std::uint32_t pod_set : ask.pod_sets) {
    for (const ResourceChoice& shared : tried.resources) {
      ResourceChoice mine = shared;
      mine.amount = request_of(pod_set, shared.resource, counts[pod_set]);
      result_.use(mine.fr, mine.amount);
      result_.pod_sets[pod_set].resources.push_back(mine);
    }
    result_.positions[pod_set * queue_.groups.size() + ask.group] = position;
  }
  for (const ResourceChoice& r : tried.resources) {
    result_.mode = std::min(result_.mode, r.mode);
    result_.level = std::max(result_.level, r.level);
  }
}

void FlavorAssigner::explain(FlavorReason reason, const Ask& ask) {
  reason.pod_set = static_cast<std::uint16_t>(ask.pod_sets.front());
  reason.group = static_cast<std::uint16_t>(ask.group);
  result_.reasons.push_back(std::move(reason));
}

}  // namespace sluice
