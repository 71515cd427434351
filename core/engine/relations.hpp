// Relations: which workloads are tied together by traits: groups, replacements, followers.
//
// Traits name other workloads by key, and those may come later, go, and come again; so every name
// is remembered, and a tie holds while both ends exist. It keeps three views of the Model that
// decisions look at: `siblings` (members of each group), `anchored` (which are ordered as which)
// and `together` (which ones an eviction takes along); and each record's `unit`, by which the
// ledger counts those that share their quota once.
// Invariant: a linked workload stands in exactly the lists that its traits name, an unlinked one in
// none; two in one group have one unit; verify() checks it. The engine's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/model.hpp"

namespace sluice {

class Relations {
 public:
  explicit Relations(Model& model) : model_(model) {}

  /// Do traits of another workload name this one, so that it has to be linked when it comes?
  bool named(const std::string& key) const {
    return replacements_.contains(key) || followers_.contains(key);
  }

  /// The workloads that it is related to and whose traits say that they replace it.
  std::vector<WorkloadId> replacements_of(const WorkloadRecord& w) const;

  /// Ties a workload to those that its traits name, and those that name it to it. REQUIRES: it
  /// exists, has extras, and is not linked.
  void link(WorkloadId id);
  /// The reverse; those that named it go on naming it. REQUIRES: it exists. No-op when not linked.
  void unlink(WorkloadId id);
  /// unlink() of one that goes. REQUIRES: it holds nothing.
  void forget(WorkloadId id);

  /// It is about to hold quota that was given earlier: gives it the unit that holders have.
  void join_holders(WorkloadId id);

  /// Aborts when the invariant is broken. O(workloads). For tests.
  void verify() const;

 private:
  using ByKey = std::unordered_map<std::string, std::vector<WorkloadId>>;

  /// Of a unit of the ledger: how many workloads are in it, and of which group it is.
  struct Unit {
    std::size_t workloads = 0;
    std::string group;  ///< empty: of none
  };

  void bind_followers(WorkloadId id);
  void lead(WorkloadId leader, WorkloadId follower);
  std::uint32_t new_unit();
  std::uint32_t group_unit(const hooks::Traits& traits);
  std::uint32_t unit_of(const WorkloadRecord& w, bool holding);
  void set_unit(WorkloadId id, std::uint32_t unit);
  void leave_unit(std::uint32_t unit);

  Model& model_;
  std::unordered_map<std::string, std::uint32_t> group_units_;
  std::vector<Unit> units_;  // by number
  ByKey followers_;          // by follows
  ByKey replacements_;       // by what they replace
};

}  // namespace sluice
