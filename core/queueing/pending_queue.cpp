#include "core/queueing/pending_queue.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/base/check.hpp"
#include "core/reasons/reasons.hpp"

namespace sluice {
namespace {

constexpr std::size_t kFewNewcomers = 16;

}  // namespace

std::uint32_t PendingQueue::class_of(ClassKey key) {
  if (const auto it = class_ids_.find(key); it != class_ids_.end()) return it->second;
  std::uint32_t id = 0;
  if (free_classes_.empty()) {
    id = static_cast<std::uint32_t>(classes_.size());
    classes_.emplace_back();
  } else {
    id = free_classes_.back();
    free_classes_.pop_back();
  }
  classes_[id].key = key;
  class_ids_.emplace(key, id);
  ++lanes_[key.lane].classes;
  each_sibling(key, [&](std::uint32_t sibling) {  // equals of a parked class are parked, too
    if (classes_[sibling].parked && !classes_[id].parked) park(id, classes_[sibling].why, {});
  });
  return id;
}

/// fn(number) for the classes of the same shape and priority in other lanes.
template <typename Fn>
void PendingQueue::each_sibling(ClassKey key, Fn&& fn) {
  const std::uint32_t own = key.lane;
  for (const auto& [lane, state] : lanes_) {
    if (lane == own) continue;
    key.lane = lane;
    if (const auto it = class_ids_.find(key); it != class_ids_.end()) fn(it->second);
  }
}

void PendingQueue::park(std::uint32_t cls, std::shared_ptr<const PendingReason> why,
                        Grounds grounds) {
  Class& c = classes_[cls];
  if (!c.members.empty()) lane_of(c).open_heads.erase(*c.members.begin());
  c.parked = true;
  c.why = std::move(why);
  c.digest = c.why ? c.why->digest() : 0;
  c.grounds = std::move(grounds);
  untold_.insert(cls);
  ++parked_classes_;
}

bool PendingQueue::order_lane(std::uint32_t lane, std::int64_t key) {
  const auto known = lanes_.find(lane);
  if ((known == lanes_.end() ? 0 : known->second.key) == key) return false;
  note();
  lanes_[lane].key = key;
  drop_if_unused(lane);
  return true;
}

/// LocalQueues come and go, and each that had a lane would be looked at for every head.
void PendingQueue::drop_if_unused(std::uint32_t lane) {
  const auto it = lanes_.find(lane);
  if (it == lanes_.end() || it->second.key != 0 || it->second.classes > 0) return;
  SLUICE_CHECK(it->second.open_heads.empty(), "lane ", lane, " has no class and ",
               it->second.open_heads.size(), " heads");
  lanes_.erase(it);
}

bool PendingQueue::before(const OrderKey& a, const OrderKey& b) const {
  const auto key_of = [this](std::uint32_t lane) {
    const auto it = lanes_.find(lane);
    return it == lanes_.end() ? 0 : it->second.key;
  };
  if (a.lane != b.lane)
    if (const std::int64_t of_a = key_of(a.lane), of_b = key_of(b.lane); of_a != of_b)
      return of_a < of_b;
  return OrderKey::InLane()(a, b);
}

void PendingQueue::count(Accounts& accounts, std::uint32_t account, int sign) {
  if (account == kNoAccount) return;
  if (sign > 0) {
    ++accounts[account];
    return;
  }
  const auto it = accounts.find(account);
  SLUICE_CHECK(it != accounts.end(), "nobody of account ", account, " is counted");
  if (--it->second == 0) accounts.erase(it);
}

void PendingQueue::add_member(const Slot& slot) {
  const OrderKey& key = slot.key;
  Class& c = classes_[slot.cls];
  count(c.accounts, slot.account, 1);
  const bool first = c.members.empty() || OrderKey::InLane()(key, *c.members.begin());
  if (first && !c.parked) {
    Keys& heads = lane_of(c).open_heads;
    if (!c.members.empty()) heads.erase(*c.members.begin());
    heads.insert(key);
  }
  c.members.insert(c.members.end(), key);  // most come last
  add_newcomer(slot.cls, key.id);
  // A class that is never parked is never told of them.
  if (c.newcomers.size() > 2 * c.members.size() + kFewNewcomers) tidy_newcomers(slot.cls);
}

/// Each member once, in the order in which they came first: no more than there are members.
void PendingQueue::tidy_newcomers(std::uint32_t cls) {
  std::unordered_set<WorkloadId> seen;
  std::erase_if(classes_[cls].newcomers, [&](WorkloadId id) {
    const auto slot = slots_.find(id);
    const bool member = slot != slots_.end() && slot->second.cls == cls && !slot->second.alone;
    return !member || !seen.insert(id).second;
  });
}

void PendingQueue::remove_member(const Slot& slot) {
  const OrderKey& key = slot.key;
  Class& c = classes_[slot.cls];
  count(c.accounts, slot.account, -1);
  const auto it = c.members.find(key);
  SLUICE_CHECK(it != c.members.end(), "workload ", key.id, " is not in its class");
  const bool first = it == c.members.begin();
  if (c.grounds.of == key.id) c.grounds = {};
  c.members.erase(it);
  if (first && !c.parked) {
    Keys& heads = lane_of(c).open_heads;
    heads.erase(key);
    if (!c.members.empty()) heads.insert(*c.members.begin());
  }
}

void PendingQueue::insert(const OrderKey& key, ClassKey cls, std::uint32_t account) {
  erase(key.id);
  note();
  cls.lane = key.lane;
  const Slot& slot = slots_.emplace(key.id, Slot{key, class_of(cls), account, false}).first->second;
  add_member(slot);
  if (account == kNoAccount) unaccounted_.insert(key.id);
  join_group(key);
}

void PendingQueue::reorder(const OrderKey& key) {
  const auto it = slots_.find(key.id);
  if (it == slots_.end()) return;
  note();
  Slot& slot = it->second;
  if (!slot.alone) remove_member(slot);
  leave_group(slot.key);
  slot.key = key;
  if (ClassKey cls = classes_[slot.cls].key; cls.lane != key.lane) {
    cls.lane = key.lane;
    const std::uint32_t before = std::exchange(slot.cls, class_of(cls));
    if (slot.alone) {
      --classes_[before].alone;
      ++classes_[slot.cls].alone;
    }
    if (!classes_[before].parked) retire(before);
  }
  if (!slot.alone) add_member(slot);
  join_group(key);
}

void PendingQueue::join_group(const OrderKey& key) {
  if (key.anchor != key.id) groups_[key.anchor].insert(key);
}

void PendingQueue::leave_group(const OrderKey& key) {
  if (key.anchor == key.id) return;
  const auto group = groups_.find(key.anchor);
  SLUICE_CHECK(group != groups_.end(), "workload ", key.id, " is not in the group of ", key.anchor);
  group->second.erase(key);
  if (group->second.empty()) groups_.erase(group);
}

void PendingQueue::erase(WorkloadId id) {
  const auto it = slots_.find(id);
  if (it == slots_.end()) return;
  note();
  const Slot slot = it->second;
  slots_.erase(it);
  unaccounted_.erase(id);
  if (slot.alone) {
    alone_.erase(id);
    --classes_[slot.cls].alone;
    count(alone_accounts_, slot.account, -1);
  } else {
    remove_member(slot);
  }
  leave_group(slot.key);
  // A parked class stays known while parked: an equal that arrives later is still an equal.
  if (!classes_[slot.cls].parked) retire(slot.cls);
}

/// Frees an empty class for another shape; that of a workload which is parked alone stays.
void PendingQueue::retire(std::uint32_t cls) {
  Class& c = classes_[cls];
  if (!c.members.empty() || c.alone > 0) return;
  class_ids_.erase(c.key);
  untold_.erase(cls);
  const std::uint32_t lane = c.key.lane;
  c = Class();
  free_classes_.push_back(cls);
  --lanes_.at(lane).classes;
  drop_if_unused(lane);
}

std::optional<WorkloadId> PendingQueue::head_of_place() const {
  if (!place_) return std::nullopt;
  const OrderKey* first = nullptr;
  if (const auto group = groups_.find(place_->anchor); group != groups_.end()) {
    for (const OrderKey& key : group->second) {
      if (parked(key.id)) continue;
      first = &key;
      break;
    }
  }
  // The anchor may be one of the members, and then has a rank like them.
  const auto anchor = slots_.find(place_->anchor);
  if (anchor != slots_.end() && !parked(place_->anchor) &&
      (!first || before(anchor->second.key, *first)))
    first = &anchor->second.key;
  if (!first) return std::nullopt;
  return first->id;
}

std::optional<WorkloadId> PendingQueue::head() const {
  if (const auto id = head_of_place()) return id;
  const OrderKey* first = nullptr;
  for (const auto& [number, lane] : lanes_)
    if (!lane.open_heads.empty() && (!first || before(*lane.open_heads.begin(), *first)))
      first = &*lane.open_heads.begin();
  return first ? std::optional(first->id) : std::nullopt;
}

void PendingQueue::park_with_equals(WorkloadId id, std::shared_ptr<const PendingReason> why,
                                    Grounds grounds) {
  note();
  const Slot& slot = slots_.at(id);
  Class& c = classes_[slot.cls];
  SLUICE_CHECK(!slot.alone && !c.parked, "workload ", id, " is parked already");
  SLUICE_CHECK(!c.members.empty(), "the class of workload ", id, " is empty");
  each_sibling(c.key, [&](std::uint32_t sibling) {
    if (!classes_[sibling].parked) park(sibling, why, {});
  });
  park(slot.cls, std::move(why), std::move(grounds));
}

void PendingQueue::park_alone(WorkloadId id) {
  Slot& slot = slots_.at(id);
  SLUICE_CHECK(!slot.alone, "workload ", id, " is parked already");
  note();
  remove_member(slot);
  slot.alone = true;
  ++classes_[slot.cls].alone;
  alone_.insert(id);
  count(alone_accounts_, slot.account, 1);
}

bool PendingQueue::wake() {
  if (!anything_parked()) return false;
  note();
  bool moved = !alone_.empty();
  for (std::uint32_t id = 0; parked_classes_ > 0; ++id) {
    SLUICE_CHECK(id < classes_.size(), parked_classes_, " parked classes more than there are");
    Class& c = classes_[id];
    if (!c.parked) continue;
    c.parked = false;
    --parked_classes_;
    if (!c.members.empty()) {
      lane_of(c).open_heads.insert(*c.members.begin());
      moved = true;
    } else {
      retire(id);
    }
  }
  for (const WorkloadId id : alone_) {
    Slot& slot = slots_.at(id);
    slot.alone = false;
    --classes_[slot.cls].alone;
    add_member(slot);
  }
  alone_.clear();
  alone_accounts_.clear();
  return moved;
}

void PendingQueue::open_empty() {
  std::size_t left = parked_classes_;
  for (std::uint32_t id = 0; left > 0; ++id) {
    Class& c = classes_[id];
    if (!c.parked) continue;
    --left;
    if (!c.members.empty()) continue;
    c.parked = false;
    --parked_classes_;
    retire(id);
  }
}

bool PendingQueue::parked(WorkloadId id) const {
  const auto it = slots_.find(id);
  return it != slots_.end() && (it->second.alone || classes_[it->second.cls].parked);
}

std::shared_ptr<const PendingReason> PendingQueue::class_reason(WorkloadId id) const {
  const auto it = slots_.find(id);
  // One that was parked alone waits for something else than its equals.
  return it == slots_.end() || it->second.alone ? nullptr : classes_[it->second.cls].why;
}

void PendingQueue::collect_untold(std::vector<WorkloadId>& out) {
  for (const std::uint32_t cls : std::exchange(untold_, {})) {
    Class& c = classes_[cls];
    if (!c.parked || !c.why) continue;  // park() lists it again
    if (c.digest != c.told) {
      for (const OrderKey& key : c.members) out.push_back(key.id);
    } else {
      out.insert(out.end(), c.newcomers.begin(), c.newcomers.end());
    }
    c.told = c.digest;
    c.newcomers.clear();
  }
}

std::map<std::uint32_t, PendingQueue::Waiting> PendingQueue::by_account() const {
  std::map<std::uint32_t, Waiting> out;
  const auto add = [&out](const Accounts& accounts, bool are_parked) {
    for (const auto& [account, members] : accounts) {
      Waiting& sum = out[account];
      sum.pending += members;
      sum.parked += are_parked ? members : 0;
    }
  };
  for (const Class& c : classes_) add(c.accounts, c.parked);
  add(alone_accounts_, true);
  return out;
}

std::vector<WorkloadId> PendingQueue::members() const {
  std::vector<OrderKey> keys;
  keys.reserve(slots_.size());
  for (const auto& [id, slot] : slots_) keys.push_back(slot.key);
  std::sort(keys.begin(), keys.end(),
            [this](const OrderKey& a, const OrderKey& b) { return before(a, b); });
  std::vector<WorkloadId> ids;
  ids.reserve(keys.size());
  for (const OrderKey& key : keys) ids.push_back(key.id);
  return ids;
}

}  // namespace sluice
