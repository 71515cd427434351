#include "core/engine/explanation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/engine/cohort_views.hpp"
#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"
#include "core/model/queue_order.hpp"
#include "core/scheduling/flavor_match.hpp"
#include "core/scheduling/own_view.hpp"

namespace sluice {
namespace {

std::string unsuitable(const Model& model, FlavorId flavor, const api::PodTemplate& pod) {
  if (flavor >= model.flavors.size() || !model.flavors[flavor].exists)
    return "flavor " + model.frs.flavor_name(flavor) + " not found";
  const FlavorRecord& record = model.flavors[flavor];
  if (const api::Taint* taint = untolerated_taint(record, pod))
    return "untolerated taint " + taint->key;
  if (const api::LabelMap::Entry* wanted = unmatched_selector(record, pod))
    return "its label " + wanted->first + " is not " + wanted->second +
           ", which the pods' node selector wants";
  if (!matches_labels(record, pod)) return "the pods' required affinity excludes it";
  return {};
}

/// What earlier pod sets of the workload take: now, and of all that there could be.
struct Taken {
  std::map<FrId, Amount> now, most;
};

FlavorAnswer answer_of(const Model& model, const QueueRecord& queue, FlavorId flavor,
                       ResourceId resource, Amount requested, const api::PodTemplate& pod,
                       const Taken& taken, std::set<FrId>& lacking) {
  FlavorAnswer out;
  out.flavor = model.frs.flavor_name(flavor);
  out.unsuitable = unsuitable(model, flavor, pod);
  const FrId fr = model.frs.find(flavor, resource);
  if (fr != kNone && fr < model.tree.fr_count() && queue.id < model.tree.node_count()) {
    out.available = model.tree.available(queue.id, fr);
    out.maximum = model.tree.potential(queue.id, fr);
    out.nominal = model.tree.nominal(queue.id, fr);
  }
  if (const auto now = taken.now.find(fr); now != taken.now.end()) out.available -= now->second;
  if (const auto most = taken.most.find(fr); most != taken.most.end()) {
    out.maximum -= most->second;
    out.shared = true;
  }
  out.missing = std::max<std::int64_t>(0, requested - out.available);
  out.never = requested > out.maximum;
  if (out.missing > 0 && out.unsuitable.empty() && !out.never && fr != kNone) lacking.insert(fr);
  return out;
}

/// Collects the workloads that hold some of what is lacking; the most of each by name.
class Holders {
 public:
  Holders(const Model& model, const std::set<FrId>& lacking, const MayKnow& may_know)
      : model_(model), lacking_(lacking), may_know_(may_know) {}

  void add(const WorkloadRecord& w) {
    for (const FrAmount& used : w.holding->usage) {
      if (used.amount <= 0 || !lacking_.contains(used.fr)) continue;
      Of& of = by_fr_[used.fr];
      if (known(w.object->meta.ns)) {
        of.named.push_back({&w, used.amount});
      } else {
        ++of.others.unnamed;
        of.others.unnamed_amount = add_saturating(of.others.unnamed_amount, used.amount);
      }
    }
  }

  void hand_over(Explanation& out) {
    for (auto& [fr, of] : by_fr_) {
      const std::string& flavor = model_.frs.flavor_name(model_.frs.flavor_of(fr));
      const std::string& resource = model_.frs.resource_name(model_.frs.resource_of(fr));
      const std::size_t most = std::min(of.named.size(), Explanation::kMostHolders);
      const auto end = of.named.begin() + static_cast<std::ptrdiff_t>(most);
      std::partial_sort(of.named.begin(), end, of.named.end(), [](const Named& a, const Named& b) {
        return std::tie(b.amount, a.workload->key) < std::tie(a.amount, b.workload->key);
      });
      for (auto it = of.named.begin(); it != end; ++it) {
        const WorkloadRecord& w = *it->workload;
        out.holders.push_back({w.key, model_.queues[w.holding->queue].name, flavor, resource,
                               it->amount, w.priority, w.holding->reserved_at});
      }
      for (auto it = end; it != of.named.end(); ++it) {
        ++of.others.more;
        of.others.more_amount = add_saturating(of.others.more_amount, it->amount);
      }
      of.others.flavor = flavor;
      of.others.resource = resource;
      if (of.others.more + of.others.unnamed > 0) out.others.push_back(of.others);
    }
  }

 private:
  struct Named {
    const WorkloadRecord* workload = nullptr;
    Amount amount = 0;
  };
  struct Of {
    std::vector<Named> named;
    OtherHolders others;
  };

  bool known(const std::string& ns) {
    if (!may_know_) return true;
    const auto [at, fresh] = known_.emplace(ns, false);
    if (fresh) at->second = may_know_(ns);
    return at->second;
  }

  const Model& model_;
  const std::set<FrId>& lacking_;
  const MayKnow& may_know_;
  std::map<FrId, Of> by_fr_;
  std::unordered_map<std::string, bool> known_;
};

void explain_order(const Model& model, const QueueRecord& queue, const WorkloadRecord& w,
                   Explanation& out) {
  for (const auto& [local_queue, sentence] : queue.order_faults)
    out.order.push_back({"", "", "", sentence + "; so the order is by priority and time"});
  if (!out.order.empty()) return;
  const auto add = [&out](const hooks::Ordering& order) {
    if (!order.because.empty()) out.order.push_back({order.by, "", "", order.because});
  };
  if (const LocalQueueRecord* local = model.local_queue_of(w)) add(local->order);
  if (const hooks::Traits* traits = w.traits()) add(traits->order);
}

void find_position(const Model& model, const QueueRecord& queue, WorkloadId id, Explanation& out) {
  const api::Workload& own = *model.workloads[id].object;
  out.queued = queue.pending.contains(id);
  if (!out.queued) return;
  out.parked = queue.pending.parked(id);
  if (const auto head = queue.pending.head(); head && *head != id && !queue.best_effort())
    out.head = model.workloads[*head].key;
  explain_order(model, queue, model.workloads[id], out);
  bool before = true;
  for (const WorkloadId each : queue.pending.members()) {
    before &= each != id;
    const api::Workload& other = *model.workloads[each].object;
    const bool local = other.meta.ns == own.meta.ns && other.queue_name == own.queue_name;
    ++out.in_cluster_queue;
    out.ahead_in_cluster_queue += before ? 1 : 0;
    if (before && out.ahead.size() < Explanation::kMostAhead)
      out.ahead.push_back(model.workloads[each].key);
    out.in_local_queue += local ? 1 : 0;
    out.ahead_in_local_queue += before && local ? 1 : 0;
  }
}

std::vector<Refusal> refusals_of(const Model& model, const PendingReason& why) {
  std::vector<Refusal> out;
  if (!why.text.empty()) out.push_back({why.by, "", "", why.text});
  for (const FlavorReason& each : why.flavors) {
    if (each.kind != FlavorReason::Kind::kFiltered && each.kind != FlavorReason::Kind::kText)
      continue;
    if (each.text.empty()) continue;
    const bool known = why.object && each.pod_set < why.object->pod_sets.size();
    out.push_back({each.by, known ? why.object->pod_sets[each.pod_set].name : "",
                   each.flavor == kNone ? "" : model.frs.flavor_name(each.flavor), each.text});
  }
  return out;
}

/// The members that are ordered as this workload, which takes no part itself.
std::vector<StandIn> stand_ins_of(const Model& model, const WorkloadRecord& w) {
  std::vector<StandIn> out;
  const auto members = model.anchored.find(w.key);
  if (!w.stands_aside() || members == model.anchored.end()) return out;
  std::vector<OrderKey> keys;
  for (const WorkloadId member : members->second) keys.push_back(order_key(model, member));
  std::sort(keys.begin(), keys.end());
  for (const OrderKey& key : keys) {
    const WorkloadRecord& m = model.workloads[key.id];
    const bool parked = m.queue != kNone && model.queues[m.queue].pending.parked(key.id);
    out.push_back({key.id, parked});
  }
  return out;
}

/// What so many pods of the pod set ask for; `queue` may be nullptr.
std::vector<ResourceAmount> requests_of(const PodSetRecord& pods, std::int32_t count,
                                        const QueueRecord* queue) {
  std::vector<ResourceAmount> out;
  for_each_request(*pods.shape, count, queue ? queue->pods_resource : kNone,
                   [&out](ResourceId resource, Amount amount) {
                     out.push_back({resource, amount});
                   });
  return out;
}

/// Indexes of what the pods ask for, by the queue's resource groups.
std::vector<std::vector<std::size_t>> by_group(const QueueRecord& queue, const PodSetAnswer& set) {
  std::vector<std::vector<std::size_t>> out(queue.groups.size());
  for (std::size_t i = 0; i < set.resources.size(); ++i)
    if (set.resources[i].covered && set.resources[i].group < out.size())
      out[set.resources[i].group].push_back(i);
  return out;
}

/// The place of the first of the group's flavors for which `holds` is true of each of these
/// resources; nullopt: there is none.
template <typename Holds>
std::optional<std::size_t> first_flavor(const PodSetAnswer& set,
                                        const std::vector<std::size_t>& resources,
                                        std::size_t flavors, Holds holds) {
  for (std::size_t f = 0; f < flavors; ++f)
    if (std::all_of(resources.begin(), resources.end(), [&](std::size_t i) {
          const FlavorAnswer& answer = set.resources[i].flavors[f];
          return answer.unsuitable.empty() && holds(answer);
        }))
      return f;
  return std::nullopt;
}

/// The pod set takes, of each group, the first flavor that has room for it; where none has, what
/// there is of the first that ever could.
void take_for(const Model& model, const QueueRecord& queue,
              const std::vector<ResourceAmount>& asked, const PodSetAnswer& set, Taken& taken) {
  const auto groups = by_group(queue, set);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<FlavorId>& flavors = queue.groups[g].flavors;
    const auto fits = first_flavor(set, groups[g], flavors.size(),
                                   [](const FlavorAnswer& each) { return each.missing == 0; });
    const auto could = fits ? fits
                            : first_flavor(set, groups[g], flavors.size(),
                                           [](const FlavorAnswer& each) { return !each.never; });
    if (!could) continue;
    for (const std::size_t i : groups[g]) {
      const FrId fr = model.frs.find(flavors[*could], asked[i].resource);
      const ResourceAnswer& resource = set.resources[i];
      const std::int64_t there = std::max<std::int64_t>(0, resource.flavors[*could].available);
      taken.now[fr] += std::min(resource.requested, there);
      taken.most[fr] += resource.requested;
    }
  }
}

/// What each flavor has for its pod sets; `lacking` gets what is missing somewhere.
void explain_pod_sets(Model& model, WorkloadId id, const QueueRecord* queue, Explanation& out,
                      std::set<FrId>& lacking) {
  const WorkloadRecord& w = model.workloads[id];
  std::optional<OwnView> view;  // what it replaces is no obstacle to it
  if (queue && !model.tree_stale && !w.holds_quota()) view.emplace(model, id, queue->id);
  Taken taken;  // by the pod sets before
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    const PodSetRecord& pods = w.pod_sets[i];
    PodSetAnswer& set = out.pod_sets.emplace_back();
    set.name = w.object->pod_sets[i].name;
    set.count = pods.remaining();
    set.least = pods.min_count > 0 ? std::min(set.count, pods.min_count) : set.count;
    const std::vector<ResourceAmount> asked = requests_of(pods, set.least, queue);
    for (const ResourceAmount& wanted : asked) {
      ResourceAnswer& resource = set.resources.emplace_back();
      resource.resource = model.frs.resource_name(wanted.resource);
      resource.requested = wanted.amount;
      resource.group = queue ? queue->group_of(wanted.resource) : kNone;
      resource.covered = !queue || resource.group != kNone;
      if (resource.group == kNone) continue;
      for (const FlavorId flavor : queue->groups[resource.group].flavors)
        resource.flavors.push_back(answer_of(model, *queue, flavor, wanted.resource,
                                             resource.requested, *pods.shape->pod, taken, lacking));
    }
    if (queue) take_for(model, *queue, asked, set, taken);
  }
}

/// The ClusterQueue that its LocalQueue leads to never existed: so that has no quota of anything.
void explain_missing_queue(const Model& model, const WorkloadRecord& w, Explanation& out) {
  const LocalQueueRecord* local = model.local_queue_of(w);
  if (!local || model.known_queue(local->cluster_queue) != kNone) return;
  out.cluster_queue = local->cluster_queue;
  for (PodSetAnswer& set : out.pod_sets)
    for (ResourceAnswer& resource : set.resources) resource.covered = false;
}

/// What is available of each of these to the queue.
std::vector<Amount> available_of(const Model& model, QueueId queue, const std::set<FrId>& frs) {
  std::vector<Amount> out;
  for (const FrId fr : frs) out.push_back(model.tree.available(queue, fr));
  return out;
}

/// Whether the queue has more of anything that is lacking when these hold nothing.
bool frees_some(Model& model, QueueId queue, const std::set<FrId>& lacking,
                const std::vector<WorkloadId>& holders) {
  const std::vector<Amount> before = available_of(model, queue, lacking);
  Removal removal(model);
  for (const WorkloadId each : holders) removal.remove(each);
  return available_of(model, queue, lacking) != before;
}

// Holders for which it is tried out whether their end would help: a millisecond. Those of queues
// beyond that count as if it did.
constexpr std::size_t kMostTried = 1000;

/// Names who holds what is lacking: in queues whose use takes from what this one may have. A queue
/// that lends nothing, or to one that may borrow nothing, is none of these.
void find_holders(Model& model, QueueId queue, const std::set<FrId>& lacking,
                  const MayKnow& may_know, Explanation& out) {
  if (lacking.empty()) return;
  std::vector<std::vector<WorkloadId>> near, more;  // by queue; whose use counts, and the others
  std::size_t left = model.tree_stale ? 0 : kMostTried;
  for (const QueueRecord& other : model.queues) {
    if (other.id >= model.tree.node_count() ||
        model.tree.root(other.id) != model.tree.root(queue) || other.holders.empty())
      continue;
    std::vector<WorkloadId> holders;
    for (const WorkloadId holder : other.holders)
      if (model.workloads[holder].key != out.replaces) holders.push_back(holder);
    const bool tries = holders.size() <= left;
    if (tries) left -= holders.size();
    auto& into = !tries || frees_some(model, queue, lacking, holders) ? near : more;
    into.push_back(std::move(holders));
  }
  Holders holders(model, lacking, may_know);
  for (const auto& of_queue : near.empty() ? more : near)
    for (const WorkloadId holder : of_queue) holders.add(model.workloads[holder]);
  holders.hand_over(out);
}

}  // namespace

Explanation explain(Model& model, WorkloadId id, const MayKnow& may_know) {
  const WorkloadRecord& w = model.workloads[id];
  Explanation out;
  out.stand_ins = stand_ins_of(model, w);
  std::set<FrId> lacking;
  const QueueId queue_id = w.holds_quota() ? w.holding->queue : w.queue;
  const QueueRecord* queue = queue_id == kNone ? nullptr : &model.queues[queue_id];
  explain_pod_sets(model, id, queue, out, lacking);
  if (const WorkloadId replaced = model.replaced_by(w); replaced != kNone)
    out.replaces = model.workloads[replaced].key;
  if (w.state == WorkloadState::kPending)
    if (const auto why = pending_reason(model, w, id)) out.refusals = refusals_of(model, *why);
  if (!queue) {
    if (w.state == WorkloadState::kPending) explain_missing_queue(model, w, out);
    return out;
  }
  out.cluster_queue = queue->name;
  out.cohorts = cohorts_above(model, queue->name);
  if (w.state != WorkloadState::kPending) return out;
  find_position(model, *queue, id, out);
  if (queue_id >= model.tree.node_count()) return out;
  find_holders(model, queue_id, lacking, may_know, out);
  return out;
}

}  // namespace sluice
