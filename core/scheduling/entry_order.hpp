// The order in which the nominated are processed (semantics 3.3 and 6).
//
// Classical: sorted once. Fair sharing: a tournament per root whose next winner depends on what the
// earlier ones took; only the winner's path is compared again. Deterministic: ties end in UID and
// key.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/model/model.hpp"
#include "core/quota/fair_share.hpp"
#include "core/scheduling/entry.hpp"

namespace sluice {

/// Indices into `entries`: less borrowing, priority, queue-order time, UID.
std::vector<std::size_t> classical_order(std::span<const Entry> entries);

/// Draws the entries of one root one by one.
class Tournament {
 public:
  /// `members`: indices of the entries of this root. Refers to all arguments while it lives.
  Tournament(Model& model, std::span<const Entry> entries, NodeId root,
             const std::vector<std::size_t>& members);

  bool empty() const { return remaining_ == 0; }
  /// The next entry to process. REQUIRES: !empty(). O(depth × log n + shares on its path), given
  /// that the caller changes usage only on the path of the entry drawn last.
  std::size_t draw();

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  /// How an entry looks as the champion of one child of a cohort.
  struct Standing {
    bool borrows = false;  ///< on something that the workload requests
    Share share;
    const OrderKey* key = nullptr;
    std::size_t entry = 0;
    bool operator<(const Standing& other) const;
  };
  struct CohortState {
    std::set<Standing> standings;
    std::unordered_map<NodeId, std::set<Standing>::iterator> of_child;
  };

  void enter(NodeId child, std::size_t entry);
  void refresh(NodeId queue);
  Standing standing(NodeId child, std::size_t entry) const;

  Model& model_;
  std::span<const Entry> entries_;
  NodeId root_;
  std::unordered_map<NodeId, std::size_t> of_queue_;
  std::unordered_map<NodeId, CohortState> cohorts_;
  NodeId last_ = kNone;  // queue of the entry drawn last
  std::size_t remaining_ = 0;
};

}  // namespace sluice
