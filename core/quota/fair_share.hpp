// Shares of fair sharing: how much a node borrows against what it could borrow (semantics 6).
//
// A Share is an exact fraction, never a float: comparing two of them is a decision. Pure functions
// of a QuotaTree; the thread rules of the tree apply.
#pragma once

#include <compare>
#include <cstdint>

#include "core/quota/quota_tree.hpp"

namespace sluice {

struct Share {
  bool borrows = false;   ///< borrows anything at all, lendable or not
  bool infinite = false;  ///< weight 0 and borrowing; compared among themselves by the ratio alone
  Wide numerator = 0;     ///< borrowed × 1000
  Wide denominator = 1;   ///< lendable × weight in thousandths, above 0

  std::strong_ordering operator<=>(const Share& other) const;
  bool operator==(const Share& other) const { return (*this <=> other) == 0; }
};

/// The share of a node as its usage stands. A root has share 0. O(frs of the tree).
Share share_of(const QuotaTree& tree, NodeId node);

/// A share as the API shows it: in thousandths, rounded up; the highest int64: without bound.
std::int64_t shown_share(const Share& share);
/// The same as metrics have it: not rounded; no number without bound.
double measured_share(const Share& share);

}  // namespace sluice
