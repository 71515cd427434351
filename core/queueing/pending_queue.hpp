// PendingQueue: the workloads that wait in one ClusterQueue, in order, some of them parked.
//
// Equals (same shape, same effective priority) form a class. A BestEffortFIFO queue parks and wakes
// whole classes, so that waking costs O(classes), not O(workloads); while a class is parked, an
// equal that arrives is parked with it unseen. Where a plugin gives keys to lanes, equals of
// several lanes form a class for each, which are parked and woken together: so a lane moves in
// front of another by one number, however many wait in it. Workloads that are parked for a reason
// of their own (their namespace does not match) are parked alone. Invariant: each member is in
// exactly one class, and is either in the heap (its class is open and it is not parked alone) or
// parked. The preemptor's place (semantics 2) puts one workload, with its group, ahead of all
// others. Used by the engine's thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/queueing/grounds.hpp"
#include "core/queueing/order_key.hpp"

namespace sluice {

struct PendingReason;

struct ClassKey {
  std::uint32_t shape = 0;
  std::int32_t priority = 0;
  std::uint32_t lane = 0;  ///< set by the queue
  bool operator==(const ClassKey&) const = default;
};

class PendingQueue {
 public:
  /// Adds a workload, or moves it to where its changed key and class belong. It comes into the
  /// heap, or is parked unseen when its class is parked. It is counted in `account`; one in none is
  /// listed by itself. O(log n).
  void insert(const OrderKey& key, ClassKey cls, std::uint32_t account = kNoAccount);
  static constexpr std::uint32_t kNoAccount = static_cast<std::uint32_t>(-1);
  /// Moves it to where its changed key belongs, parked or not as before. No-op when absent.
  void reorder(const OrderKey& key);
  /// The key that all of a lane have in common: low first; 0: it has none. True when it was
  /// another. O(log lanes).
  bool order_lane(std::uint32_t lane, std::int64_t key);
  /// fn(lane) for each that has a key, or a class.
  template <typename Fn>
  void each_lane(Fn&& fn) const {
    for (const auto& [lane, state] : lanes_) fn(lane);
  }
  /// True when `a` comes before `b` here.
  bool before(const OrderKey& a, const OrderKey& b) const;
  /// No-op when absent.
  void erase(WorkloadId id);
  bool contains(WorkloadId id) const { return slots_.contains(id); }

  /// The workload that has its turn; nullopt when the heap is empty.
  std::optional<WorkloadId> head() const;

  /// Where this queue is listed, once, by its number, when a workload comes, goes or is parked, or
  /// when note() says so; forget_note() lets it be listed again.
  void list_in(std::vector<std::uint32_t>& noted, std::uint32_t number) {
    noted_in_ = &noted;
    number_ = number;
  }
  void note() {
    if (!noted_in_ || noted_) return;
    noted_ = true;
    noted_in_->push_back(number_);
  }
  void forget_note() { noted_ = false; }

  /// Parks the workload and all its equals in the heap, for one reason that all share.
  void park_with_equals(WorkloadId id, std::shared_ptr<const PendingReason> why,
                        Grounds grounds = {});
  void park_alone(WorkloadId id);
  /// Everything comes back to the heap. True when anything moved.
  bool wake();
  bool anything_parked() const { return parked_classes_ > 0 || !alone_.empty(); }
  bool parked(WorkloadId id) const;
  /// fn(first member, grounds, reason) for the parked classes that have members; false ends it.
  template <typename Fn>
  bool each_parked(Fn&& fn) {
    std::size_t left = parked_classes_;
    for (std::size_t i = 0; left > 0; ++i) {
      if (!classes_[i].parked) continue;
      --left;
      Class& c = classes_[i];
      if (!c.members.empty() && !fn(c.members.begin()->id, c.grounds, c.why)) return false;
    }
    return true;
  }
  bool has_empty_parked() const {
    for (const Class& c : classes_)
      if (c.parked && c.members.empty()) return true;
    return false;
  }
  /// Parked classes without members are parked no more: an equal that comes is looked at.
  void open_empty();

  /// Gives the preemptor's place to this workload; its group (those with its anchor) moves along.
  void give_place(WorkloadId id, WorkloadId anchor) {
    note();
    place_ = {id, anchor};
  }
  /// It was admitted or deleted: the place is free when it held it.
  void free_place(WorkloadId id) {
    if (place_ && place_->holder == id) place_.reset();
  }

  /// The reason with which its class was parked last; null when it never was.
  std::shared_ptr<const PendingReason> class_reason(WorkloadId id) const;
  /// Members of parked classes whose reason changed in kind since the last call, and new members.
  /// O(classes that were parked, or got members, since).
  void collect_untold(std::vector<WorkloadId>& out);
  /// Its last reason was not that of its class. REQUIRES: contains(id).
  void note_untold(WorkloadId id) { add_newcomer(slots_.at(id).cls, id); }

  /// The workload that has the preemptor's place; nullopt: none.
  std::optional<WorkloadId> place() const {
    return place_ ? std::optional(place_->holder) : std::nullopt;
  }
  /// A StrictFIFO queue has no such place.
  void clear_place() { place_.reset(); }

  std::size_t size() const { return slots_.size(); }
  /// Classes of those that wait: in the heap, and parked. O(classes).
  struct ClassCounts {
    std::size_t open = 0, parked = 0;
  };
  ClassCounts class_counts() const {
    ClassCounts out;
    for (const Class& each : classes_)
      if (!each.members.empty()) ++(each.parked ? out.parked : out.open);
    return out;
  }
  /// How many of each account wait, parked ones too, and how many of them are parked. O(classes ×
  /// accounts), however many wait.
  struct Waiting {
    std::size_t pending = 0, parked = 0;
  };
  std::map<std::uint32_t, Waiting> by_account() const;
  /// Members without an account.
  const std::set<WorkloadId>& unaccounted() const { return unaccounted_; }
  /// fn(id, parked) for all members, in no particular order.
  template <typename Fn>
  void each(Fn&& fn) const {
    for (const auto& [id, slot] : slots_) fn(id, slot.alone || classes_[slot.cls].parked);
  }
  /// fn(first member) for each class that is parked and has members.
  template <typename Fn>
  void each_parked_class(Fn&& fn) const {
    for (const Class& each : classes_)
      if (each.parked && !each.members.empty()) fn(each.members.begin()->id);
  }
  /// fn(id) for all that are in the heap. O(classes + those).
  template <typename Fn>
  void each_open(Fn&& fn) const {
    for (const Class& each : classes_)
      if (!each.parked)
        for (const OrderKey& key : each.members) fn(key.id);
  }
  /// Those that are parked by themselves.
  const std::set<WorkloadId>& parked_alone() const { return alone_; }
  /// All members in queue order, parked ones too.
  std::vector<WorkloadId> members() const;

 private:
  using Accounts = std::map<std::uint32_t, std::size_t>;  // how many of each; no zeros
  using Keys = std::set<OrderKey, OrderKey::InLane>;
  struct Lane {
    std::int64_t key = 0;
    std::size_t classes = 0;  // parked ones, too
    Keys open_heads;          // the first member of every open class
  };
  struct Class {
    ClassKey key;
    Keys members;  // without those parked alone
    bool parked = false;
    std::shared_ptr<const PendingReason> why;
    Grounds grounds;           // while it is parked
    std::uint64_t digest = 0;  // of `why`; the amounts in it, which may change, do not count
    std::uint64_t told = 0;    // digest of the reason that members had last
    std::vector<WorkloadId> newcomers;  // since then; some may have left, or come again
    Accounts accounts;                  // of the members
    std::size_t alone = 0;              // of its workloads, parked by themselves
  };
  struct Slot {
    OrderKey key;
    std::uint32_t cls = 0;
    std::uint32_t account = kNoAccount;
    bool alone = false;
  };
  struct ClassKeyHash {
    std::size_t operator()(const ClassKey& key) const {
      return (std::size_t{key.shape} << 32U) ^ static_cast<std::uint32_t>(key.priority) ^
             (std::size_t{key.lane} << 13U);
    }
  };

  std::uint32_t class_of(ClassKey key);
  Lane& lane_of(const Class& c) { return lanes_.at(c.key.lane); }
  void drop_if_unused(std::uint32_t lane);
  void park(std::uint32_t cls, std::shared_ptr<const PendingReason> why, Grounds grounds);
  template <typename Fn>
  void each_sibling(ClassKey key, Fn&& fn);
  void add_member(const Slot& slot);
  void add_newcomer(std::uint32_t cls, WorkloadId id) {
    classes_[cls].newcomers.push_back(id);
    untold_.insert(cls);
  }
  void tidy_newcomers(std::uint32_t cls);
  void remove_member(const Slot& slot);
  static void count(Accounts& accounts, std::uint32_t account, int sign);
  std::optional<WorkloadId> head_of_place() const;
  void join_group(const OrderKey& key);
  void leave_group(const OrderKey& key);
  void retire(std::uint32_t cls);

  std::vector<Class> classes_;
  std::vector<std::uint32_t> free_classes_;
  /// Classes with newcomers, and those that were parked since they were asked for.
  std::set<std::uint32_t> untold_;
  std::unordered_map<ClassKey, std::uint32_t, ClassKeyHash> class_ids_;
  /// Those with a key or a class: one, unless plugins tell some apart.
  std::map<std::uint32_t, Lane> lanes_;
  std::unordered_map<WorkloadId, Slot> slots_;
  std::set<WorkloadId> alone_;
  Accounts alone_accounts_;
  std::set<WorkloadId> unaccounted_;
  std::unordered_map<WorkloadId, Keys> groups_;  // by anchor, grouped members only
  struct Place {
    WorkloadId holder;
    WorkloadId anchor;
  };
  std::optional<Place> place_;
  std::size_t parked_classes_ = 0;
  std::vector<std::uint32_t>* noted_in_ = nullptr;
  std::uint32_t number_ = 0;
  bool noted_ = false;
};

}  // namespace sluice
