#include "core/engine/relations.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/check.hpp"

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

/// The lists of a map as sets, so that they compare whatever their order.
template <typename Map>
auto as_sets(const Map& map) {
  std::map<typename Map::key_type, std::multiset<WorkloadId>> out;
  for (const auto& [key, ids] : map)
    if (!ids.empty()) out[key].insert(ids.begin(), ids.end());
  return out;
}

}  // namespace

void Relations::link(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.exists() && w.extras, w.key, " is tied to others and has no traits");
  const hooks::Traits& traits = w.extras->traits;
  if (traits.has_group) {
    model_.siblings[traits.group.id].push_back(id);
    if (traits.group.order_as != w.key) model_.anchored[traits.group.order_as].push_back(id);
  }
  if (traits.has_replaces) replacements_[traits.replaces.workload].push_back(id);
  const auto settle_unit = [this](WorkloadId each) {
    const WorkloadRecord& e = model_.workloads[each];
    set_unit(each, unit_of(e, e.holds_quota()));
  };
  for (const WorkloadId other : replacements_of(w)) settle_unit(other);
  settle_unit(id);
  if (const WorkloadId replaced = model_.replaced_by(w); replaced != kNone) settle_unit(replaced);
  bind_followers(id);
}

std::vector<WorkloadId> Relations::replacements_of(const WorkloadRecord& w) const {
  std::vector<WorkloadId> out;
  const auto others = replacements_.find(w.key);
  if (others == replacements_.end()) return out;
  for (const WorkloadId other : others->second)
    if (const WorkloadRecord& o = model_.workloads[other]; &o != &w && Model::related(w, o))
      out.push_back(other);
  return out;
}

/// Unrelated workloads never go together (Model::related).
void Relations::lead(WorkloadId leader, WorkloadId follower) {
  if (!Model::related(model_.workloads[leader], model_.workloads[follower])) return;
  std::vector<WorkloadId>& bound = model_.together[leader];
  if (std::find(bound.begin(), bound.end(), follower) == bound.end()) bound.push_back(follower);
}

/// Followers go with their leader when that is preempted.
void Relations::bind_followers(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  const hooks::Traits& traits = w.extras->traits;
  if (!traits.follows.empty() && traits.follows != w.key) {
    followers_[traits.follows].push_back(id);
    if (const auto leader = model_.find(traits.follows)) lead(*leader, id);
  }
  if (const auto waiting = followers_.find(w.key); waiting != followers_.end())
    for (const WorkloadId follower : waiting->second) lead(id, follower);
}

void Relations::unlink(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  model_.together.erase(id);
  if (!w.extras) return;
  const hooks::Traits& traits = w.extras->traits;
  if (const auto leader = model_.find(traits.follows)) drop(model_.together, *leader, id);
  drop(followers_, traits.follows, id);
  if (traits.has_group) {
    drop(model_.siblings, traits.group.id, id);
    drop(model_.anchored, traits.group.order_as, id);
  }
  if (traits.has_replaces) drop(replacements_, traits.replaces.workload, id);
}

void Relations::join_holders(WorkloadId id) { set_unit(id, unit_of(model_.workloads[id], true)); }

/// Somebody enters it at once, by set_unit().
std::uint32_t Relations::new_unit() {
  const std::uint32_t unit = model_.ledger.new_unit();
  if (units_.size() <= unit) units_.resize(unit + 1);
  return unit;
}

void Relations::leave_unit(std::uint32_t unit) {
  if (unit == kNone) return;
  Unit& left = units_[unit];
  SLUICE_CHECK(left.workloads > 0, "nobody is in unit ", unit);
  if (--left.workloads > 0) return;
  if (!left.group.empty()) group_units_.erase(left.group);
  left = Unit();
  // Of a stale tree it may be held still, until that is built anew.
  SLUICE_CHECK(model_.tree_stale || !model_.ledger.is_held(unit), "unit ", unit,
               " ends while it is held");
  model_.ledger.end_unit(unit);
}

void Relations::forget(WorkloadId id) {
  unlink(id);
  WorkloadRecord& w = model_.workloads[id];
  leave_unit(std::exchange(w.unit, kNone));
}

std::uint32_t Relations::group_unit(const hooks::Traits& traits) {
  const auto [it, fresh] = group_units_.emplace(traits.group.id, 0);
  if (!fresh) return it->second;
  it->second = new_unit();
  units_[it->second].group = traits.group.id;
  return it->second;
}

/// A group is one unit; else a replacement, what it replaces and what replaces it are one. One that
/// waits again, after its replacement took its place, is not.
std::uint32_t Relations::unit_of(const WorkloadRecord& w, bool holding) {
  const hooks::Traits* traits = w.traits();
  if (traits && traits->has_group) return group_unit(*traits);
  if (const WorkloadId replaced = model_.replaced_by(w); replaced != kNone) {
    const WorkloadRecord& r = model_.workloads[replaced];
    if (r.traits() && r.traits()->has_group) return group_unit(*r.traits());
    if (r.unit != kNone) return r.unit;
    return w.unit == kNone ? new_unit() : w.unit;
  }
  for (const WorkloadId other : replacements_of(w)) {
    const WorkloadRecord& replacement = model_.workloads[other];
    if (replacement.unit != kNone && (holding || !replacement.holds_quota()))
      return replacement.unit;
  }
  return kNone;
}

/// What counts is counted by the new unit from here on.
void Relations::set_unit(WorkloadId id, std::uint32_t unit) {
  WorkloadRecord& w = model_.workloads[id];
  if (w.unit == unit) return;
  SLUICE_CHECK(!w.gone, w.key, " changes its unit while a search has taken it away");
  const bool counted = w.counted && !model_.tree_stale;
  if (counted) model_.ledger.release(id, w);
  const std::uint32_t before = std::exchange(w.unit, unit);
  if (unit != kNone) ++units_[unit].workloads;
  if (counted) model_.ledger.take(id, w);
  leave_unit(before);
  count_holding(model_, id);
}

void Relations::verify() const {
  ByKey siblings, anchored, followers, replacements;
  std::unordered_map<WorkloadId, std::vector<WorkloadId>> together;
  const auto lead_once = [&](WorkloadId leader, WorkloadId follower) {
    if (!Model::related(model_.workloads[leader], model_.workloads[follower])) return;
    std::vector<WorkloadId>& bound = together[leader];
    if (std::find(bound.begin(), bound.end(), follower) == bound.end()) bound.push_back(follower);
  };
  for (const auto& [key, id] : model_.ids) {
    const WorkloadRecord& w = model_.workloads[id];
    const hooks::Traits* traits = w.traits();
    if (!traits) continue;
    if (traits->has_group) {
      siblings[traits->group.id].push_back(id);
      if (traits->group.order_as != w.key) anchored[traits->group.order_as].push_back(id);
      SLUICE_CHECK(w.unit == group_units_.at(traits->group.id), w.key, " counts in unit ", w.unit,
                   ", its group in ", group_units_.at(traits->group.id));
    }
    if (traits->has_replaces) replacements[traits->replaces.workload].push_back(id);
    if (!traits->follows.empty() && traits->follows != w.key) {
      followers[traits->follows].push_back(id);
      if (const auto leader = model_.find(traits->follows)) lead_once(*leader, id);
    }
  }
  SLUICE_CHECK(as_sets(siblings) == as_sets(model_.siblings), "groups differ from the traits");
  SLUICE_CHECK(as_sets(anchored) == as_sets(model_.anchored), "anchors differ from the traits");
  SLUICE_CHECK(as_sets(followers) == as_sets(followers_), "followers differ from the traits");
  SLUICE_CHECK(as_sets(replacements) == as_sets(replacements_), "replacements differ");
  SLUICE_CHECK(as_sets(together) == as_sets(model_.together), "who goes together differs");
}

}  // namespace sluice
