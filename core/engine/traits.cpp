// What plugins say about a workload, and the units, anchors and partners that follow from it.
#include <algorithm>

#include "core/engine/state.hpp"

namespace sluice {
namespace {

/// Takes `id` out of the list under `key`, and the list out of the map when it was the last.
template <typename Map>
void drop(Map& map, const typename Map::key_type& key, WorkloadId id) {
  const auto it = map.find(key);
  if (it == map.end()) return;
  std::erase(it->second, id);
  if (it->second.empty()) map.erase(it);
}

}  // namespace

void EngineState::ask_traits(WorkloadRecord& w, WorkloadId id) {
  hooks::Traits traits;
  if (hooks_.workload_traits) {
    hooks::Fault fault;
    hooks_.workload_traits->traits(*w.object, traits, fault);
    if (fault) {
      // What was known stays, so that nobody loses anything because of the fault.
      traits = w.extras ? w.extras->traits : hooks::Traits();
      traits.conflict = fault.sentence();
    }
    mark(w, id, traits.claimed_by);
  }
  const bool plain = traits.takes_part && !traits.has_group && !traits.has_replaces &&
                     traits.evict_with.empty() && traits.follows.empty() &&
                     traits.counted_as == hooks::CountedAs::kItself && traits.shape_key.empty() &&
                     !traits.may_lower_counts && traits.conflict.empty();
  if (plain && !w.extras && !partners_.contains(w.key) && !replacements_.contains(w.key) &&
      !followers_.contains(w.key))
    return;
  w.more().traits = std::move(traits);
  link_traits(w, id);
}

/// Units, anchors and partners that follow from the traits; whoever named this workload before it
/// came is linked to it too.
void EngineState::link_traits(WorkloadRecord& w, WorkloadId id) {
  const hooks::Traits& traits = w.extras->traits;
  if (traits.has_group) {
    model.siblings[traits.group.id].push_back(id);
    if (traits.group.order_as != w.key) anchored_[traits.group.order_as].push_back(id);
  }
  if (traits.has_replaces) replacements_[traits.replaces.workload].push_back(id);
  const auto settle_unit = [this](WorkloadId each) {
    const WorkloadRecord& e = model.workloads[each];
    set_unit(each, unit_of(e, e.holds_quota()));
  };
  if (const auto others = replacements_.find(w.key); others != replacements_.end())
    for (const WorkloadId other : others->second)
      if (other != id) settle_unit(other);
  settle_unit(id);
  if (const WorkloadId replaced = model.replaced_by(w); replaced != kNone) settle_unit(replaced);

  bind_partners(w, id);
}

/// Who goes with whom when one is preempted: partners with each other, followers with their leader.
void EngineState::bind_partners(const WorkloadRecord& w, WorkloadId id) {
  const hooks::Traits& traits = w.extras->traits;
  const auto lead = [this](WorkloadId leader, WorkloadId follower) {
    std::vector<WorkloadId>& bound = model.together[leader];
    if (std::find(bound.begin(), bound.end(), follower) == bound.end()) bound.push_back(follower);
  };
  const auto bind = [&lead](WorkloadId a, WorkloadId b) {
    lead(a, b);
    lead(b, a);
  };
  if (!traits.evict_with.empty() && traits.evict_with != w.key) {
    partners_[traits.evict_with].push_back(id);
    if (const auto other = find(traits.evict_with)) bind(id, *other);
  }
  if (const auto waiting = partners_.find(w.key); waiting != partners_.end())
    for (const WorkloadId other : waiting->second) bind(id, other);
  if (!traits.follows.empty() && traits.follows != w.key) {
    followers_[traits.follows].push_back(id);
    if (const auto leader = find(traits.follows)) lead(*leader, id);
  }
  if (const auto waiting = followers_.find(w.key); waiting != followers_.end())
    for (const WorkloadId follower : waiting->second) lead(id, follower);
}

void EngineState::unlink_traits(WorkloadRecord& w, WorkloadId id) {
  if (const auto it = model.together.find(id); it != model.together.end()) {
    const std::vector<WorkloadId> bound = std::move(it->second);
    model.together.erase(it);
    for (const WorkloadId other : bound) drop(model.together, other, id);
  }
  if (!w.extras) return;
  const hooks::Traits& traits = w.extras->traits;
  if (const auto leader = find(traits.follows)) drop(model.together, *leader, id);
  drop(followers_, traits.follows, id);
  if (traits.has_group) {
    drop(model.siblings, traits.group.id, id);
    drop(anchored_, traits.group.order_as, id);
  }
  if (traits.has_replaces) drop(replacements_, traits.replaces.workload, id);
  drop(partners_, traits.evict_with, id);
}

/// Plugins that claim the workload and are not in its mark yet are added to it.
void EngineState::mark(WorkloadRecord& w, WorkloadId id, const std::vector<std::string>& plugins) {
  const std::string* held = w.object->meta.annotations.find(kClaimedBy);
  std::string marks = held ? *held : std::string();
  const std::size_t before = marks.size();
  for (const std::string& plugin : plugins) {
    if (("," + marks + ",").find("," + plugin + ",") != std::string::npos) continue;
    marks += (marks.empty() ? "" : ",") + plugin;
    decide(DecisionType::kMarked, id).reason = plugin;
  }
  if (marks.size() == before) return;
  auto object = std::make_shared<api::Workload>(*w.object);
  object->meta.annotations.set(std::string(kClaimedBy), std::move(marks));
  w.object = std::move(object);
}

/// A group is one unit; else a replacement, what it replaces and what replaces it are one. One that
/// waits again, after its replacement took its place, is not.
std::uint32_t EngineState::unit_of(const WorkloadRecord& w, bool holding) {
  const auto group_unit = [this](const hooks::Traits& traits) {
    const auto [it, fresh] = group_units_.emplace(traits.group.id, 0);
    if (fresh) it->second = model.ledger.new_unit();
    return it->second;
  };
  const hooks::Traits* traits = w.traits();
  if (traits && traits->has_group) return group_unit(*traits);
  if (const WorkloadId replaced = model.replaced_by(w); replaced != kNone) {
    const WorkloadRecord& r = model.workloads[replaced];
    if (r.traits() && r.traits()->has_group) return group_unit(*r.traits());
    if (r.unit != kNone) return r.unit;
    return w.unit == kNone ? model.ledger.new_unit() : w.unit;
  }
  if (const auto others = replacements_.find(w.key); others != replacements_.end())
    for (const WorkloadId other : others->second) {
      const WorkloadRecord& replacement = model.workloads[other];
      if (replacement.unit != kNone && (holding || !replacement.holds_quota()))
        return replacement.unit;
    }
  return kNone;
}

void EngineState::set_unit(WorkloadId id, std::uint32_t unit) {
  WorkloadRecord& w = model.workloads[id];
  if (w.unit == unit) return;
  const bool counted = w.counted && !structure_dirty_;
  if (counted) model.ledger.release(id, w);
  w.unit = unit;
  if (counted) model.ledger.take(id, w);
}

}  // namespace sluice
