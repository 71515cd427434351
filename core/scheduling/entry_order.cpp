#include "core/scheduling/entry_order.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/check.hpp"
#include "core/scheduling/own_view.hpp"

namespace sluice {

std::vector<std::size_t> classical_order(std::span<const Entry> entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int left = entries[a].nomination.assignment.level;
    const int right = entries[b].nomination.assignment.level;
    return left != right ? left < right : entries[a].key < entries[b].key;
  });
  return order;
}

bool Tournament::Standing::operator<(const Standing& other) const {
  if (borrows != other.borrows) return !borrows;
  if (const auto c = share <=> other.share; c != 0) return c < 0;
  return *key < *other.key;
}

Tournament::Tournament(Model& model, std::span<const Entry> entries, NodeId root,
                       const std::vector<std::size_t>& members)
    : model_(model), entries_(entries), root_(root), remaining_(members.size()) {
  for (const std::size_t i : members) of_queue_.emplace(entries[i].queue, i);
  for (const std::size_t i : members) refresh(entries[i].queue);
}

Tournament::Standing Tournament::standing(NodeId child, std::size_t entry) const {
  const Entry& e = entries_[entry];
  const std::vector<FrAmount>& usage = e.nomination.assignment.usage;
  const OwnView view(model_, e.id, e.queue);
  model_.ledger.add(e.queue, usage);
  Standing out;
  out.borrows = std::any_of(usage.begin(), usage.end(), [&](const FrAmount& u) {
    return u.amount > 0 && model_.tree.exceeds_subtree(child, u.fr);
  });
  out.share = share_of(model_.tree, child);
  model_.ledger.subtract(e.queue, usage);
  out.key = &e.key;
  out.entry = entry;
  return out;
}

void Tournament::enter(NodeId child, std::size_t entry) {
  CohortState& cohort = cohorts_[model_.tree.parent(child)];
  if (const auto it = cohort.of_child.find(child); it != cohort.of_child.end()) {
    cohort.standings.erase(it->second);
    cohort.of_child.erase(it);
  }
  if (entry == kNobody) return;
  cohort.of_child.emplace(child, cohort.standings.insert(standing(child, entry)).first);
}

/// Compares anew along the path of one queue, bottom up.
void Tournament::refresh(NodeId queue) {
  const auto it = of_queue_.find(queue);
  std::size_t champion = it == of_queue_.end() ? kNobody : it->second;
  for (NodeId child = queue; child != root_; child = model_.tree.parent(child)) {
    enter(child, champion);
    const CohortState& cohort = cohorts_[model_.tree.parent(child)];
    champion = cohort.standings.empty() ? kNobody : cohort.standings.begin()->entry;
  }
}

std::size_t Tournament::draw() {
  SLUICE_CHECK(remaining_ > 0, "nobody left in the tournament of ", model_.tree.name(root_));
  if (last_ != kNone) refresh(last_);
  const std::size_t winner =
      model_.tree.is_queue(root_) ? of_queue_.at(root_) : cohorts_[root_].standings.begin()->entry;
  last_ = entries_[winner].queue;
  of_queue_.erase(last_);
  --remaining_;
  return winner;
}

}  // namespace sluice
