#include "core/quota/fair_share.hpp"

#include <limits>

#include "core/base/check.hpp"

namespace sluice {
namespace {

/// a/b <=> c/d for non-negative numbers and positive denominators, by continued fractions: nothing
/// is multiplied, so nothing can overflow.
std::strong_ordering compare_fractions(Wide a, Wide b, Wide c, Wide d) {
  while (true) {
    const Wide whole_left = a / b;
    const Wide whole_right = c / d;
    if (whole_left != whole_right) return whole_left <=> whole_right;
    const Wide rest_left = a % b;
    const Wide rest_right = c % d;
    if (rest_left == 0 || rest_right == 0) return rest_left <=> rest_right;
    // rest_left/b <=> rest_right/d is the same as d/rest_right <=> b/rest_left.
    a = d;
    c = b;
    b = rest_right;
    d = rest_left;
  }
}

}  // namespace

std::strong_ordering Share::operator<=>(const Share& other) const {
  if (infinite != other.infinite) return infinite <=> other.infinite;
  return compare_fractions(numerator, denominator, other.numerator, other.denominator);
}

Share share_of(const QuotaTree& tree, NodeId node) {
  Share share;
  const NodeId parent = tree.parent(node);
  if (parent == kNone) return share;
  Wide best_borrowed = 0;
  Wide best_lendable = 1;
  for (std::size_t resource = 0; resource < tree.resource_count(); ++resource) {
    Wide borrowed = 0;
    for (const FrId fr : tree.frs_of(resource)) {
      const Wide above = tree.usage(node, fr) - tree.subtree(node, fr);
      if (above > 0) borrowed += above;
    }
    if (borrowed == 0) continue;
    share.borrows = true;
    const Amount lendable = tree.lendable(parent, resource);
    if (lendable <= 0) continue;
    if (compare_fractions(borrowed, lendable, best_borrowed, best_lendable) > 0) {
      best_borrowed = borrowed;
      best_lendable = lendable;
    }
  }
  const Amount weight = tree.weight_milli(node);
  share.infinite = weight == 0 && share.borrows;
  share.numerator = best_borrowed * 1000;
  share.denominator = best_lendable * (weight == 0 ? 1000 : weight);
  SLUICE_CHECK(share.denominator > 0 && share.numerator >= 0, tree.name(node), " with weight ",
               weight, " has a share of ", static_cast<std::int64_t>(share.numerator), " of ",
               static_cast<std::int64_t>(share.denominator));
  return share;
}

std::int64_t shown_share(const Share& share) {
  if (share.infinite) return std::numeric_limits<std::int64_t>::max();
  const Wide numerator = share.numerator * 1000;
  return static_cast<std::int64_t>((numerator + share.denominator - 1) / share.denominator);
}

double measured_share(const Share& share) {
  if (share.infinite) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(share.numerator) * 1000 / static_cast<double>(share.denominator);
}

}  // namespace sluice
