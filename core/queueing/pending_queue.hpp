// PendingQueue: the workloads that wait in one ClusterQueue, in order, some of them parked.
//
// Equals (same shape, same effective priority) form a class. A BestEffortFIFO queue parks and wakes
// whole classes, so that waking costs O(classes), not O(workloads); while a class is parked, an
// equal that arrives is parked with it unseen. Workloads that are parked for a reason of their own
// (their namespace does not match) are parked alone. Invariant: each member is in exactly one
// class, and is either in the heap (its class is open and it is not parked alone) or parked. The
// preemptor's place (semantics 2) puts one workload, with its group, ahead of all others. Used by
// the engine's thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/queueing/order_key.hpp"

namespace sluice {

struct PendingReason;

struct ClassKey {
  std::uint32_t shape = 0;
  std::int32_t priority = 0;
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
  /// No-op when absent.
  void erase(WorkloadId id);
  bool contains(WorkloadId id) const { return slots_.contains(id); }

  /// The workload whose turn it is; nullopt when the heap is empty.
  std::optional<WorkloadId> head() const;

  /// Parks the workload and all its equals in the heap, for one reason that all share.
  void park_with_equals(WorkloadId id, std::shared_ptr<const PendingReason> why);
  void park_alone(WorkloadId id);
  /// Everything comes back to the heap. True when anything moved.
  bool wake();
  bool anything_parked() const { return parked_classes_ > 0 || !alone_.empty(); }
  bool parked(WorkloadId id) const;

  /// Gives the preemptor's place to this workload; its group (those with its anchor) moves along.
  void give_place(WorkloadId id, WorkloadId anchor) { place_ = {id, anchor}; }
  /// It was admitted or deleted: the place is free when it held it.
  void free_place(WorkloadId id) {
    if (place_ && place_->holder == id) place_.reset();
  }

  /// The reason with which its class was parked last; null when it never was.
  std::shared_ptr<const PendingReason> class_reason(WorkloadId id) const;
  /// Members of parked classes whose reason changed in kind since the last call, or who came since.
  void collect_untold(std::vector<WorkloadId>& out);
  /// It was told something else than the reason of its class. REQUIRES: contains(id).
  void note_untold(WorkloadId id) { classes_[slots_.at(id).cls].newcomers.push_back(id); }

  /// A StrictFIFO queue has no such place.
  void clear_place() { place_.reset(); }

  std::size_t size() const { return slots_.size(); }
  std::size_t parked_count() const;
  /// Different shapes among those that wait: in the heap, and parked. O(classes).
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
  /// All members in queue order, parked ones too.
  std::vector<WorkloadId> members() const;
  /// Members of the same class, in order. REQUIRES: contains(id).
  std::vector<WorkloadId> equals_of(WorkloadId id) const;

 private:
  using Accounts = std::map<std::uint32_t, std::size_t>;  // how many of each; no zeros
  struct Class {
    ClassKey key;
    std::set<OrderKey> members;  // without those parked alone
    bool parked = false;
    std::shared_ptr<const PendingReason> why;
    std::uint64_t told = 0;             // digest of the reason that members were told
    std::vector<WorkloadId> newcomers;  // since then
    Accounts accounts;                  // of the members
  };
  struct Slot {
    OrderKey key;
    std::uint32_t cls = 0;
    std::uint32_t account = kNoAccount;
    bool alone = false;
  };
  struct ClassKeyHash {
    std::size_t operator()(const ClassKey& key) const {
      return (std::size_t{key.shape} << 32U) ^ static_cast<std::uint32_t>(key.priority);
    }
  };

  std::uint32_t class_of(ClassKey key);
  void add_member(const Slot& slot);
  void remove_member(const Slot& slot);
  static void count(Accounts& accounts, std::uint32_t account, int sign);
  std::optional<WorkloadId> head_of_place() const;
  void join_group(const OrderKey& key);
  void leave_group(const OrderKey& key);
  void retire(std::uint32_t cls);

  std::vector<Class> classes_;
  std::vector<std::uint32_t> free_classes_;
  std::unordered_map<ClassKey, std::uint32_t, ClassKeyHash> class_ids_;
  std::set<OrderKey> open_heads_;  // the first member of every open class
  std::unordered_map<WorkloadId, Slot> slots_;
  std::set<WorkloadId> alone_;
  Accounts alone_accounts_;
  std::set<WorkloadId> unaccounted_;
  std::unordered_map<WorkloadId, std::set<OrderKey>> groups_;  // by anchor, grouped members only
  struct Place {
    WorkloadId holder;
    WorkloadId anchor;
  };
  std::optional<Place> place_;
  std::size_t parked_classes_ = 0;
};

}  // namespace sluice
