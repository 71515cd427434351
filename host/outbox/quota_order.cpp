#include "host/outbox/quota_order.hpp"

#include <algorithm>
#include <utility>

namespace sluice::host {

QuotaOrder::QuotaOrder(QuotaTrees trees) : shared_(std::move(trees)) {}

std::uint32_t QuotaOrder::tree_of(std::string_view queue) const {
  return shared_.of(queue).value_or(kAny);
}

std::uint64_t QuotaOrder::first_end(std::uint32_t tree) const {
  if (tree == kAny) return ends_.empty() ? UINT64_MAX : ends_.begin()->first;
  std::uint64_t out = UINT64_MAX;
  for (const std::uint32_t each : {tree, kAny})
    if (const auto found = trees_.find(each); found != trees_.end() && !found->second.ends.empty())
      out = std::min(out, *found->second.ends.begin());
  return out;
}

void QuotaOrder::leave_if_empty(std::uint32_t tree) {
  const auto found = trees_.find(tree);
  if (found != trees_.end() && found->second.ends.empty() && found->second.waiting.empty())
    trees_.erase(found);
}

/// Those of the tree that wait for no end any more.
void QuotaOrder::free(std::uint32_t tree) {
  const auto found = trees_.find(tree);
  if (found == trees_.end()) return;
  std::set<std::uint64_t>& waiting = found->second.waiting;
  const std::uint64_t first = first_end(tree);
  while (!waiting.empty() && *waiting.begin() <= first) {
    freed_.push_back(*waiting.begin());
    waiting_.erase(*waiting.begin());
    waiting.erase(waiting.begin());
  }
  leave_if_empty(tree);
}

void QuotaOrder::free_all() {
  std::vector<std::uint32_t> all;  // free() takes those away that have nobody left
  for (const auto& each : trees_) all.push_back(each.first);
  for (const std::uint32_t tree : all) free(tree);
}

void QuotaOrder::follow_trees() {
  if (std::exchange(shape_, shared_.shape()) == shape_) return;
  trees_.clear();
  for (auto& [edit, member] : ends_) trees_[member.tree = tree_of(member.queue)].ends.insert(edit);
  for (auto& [edit, member] : waiting_)
    trees_[member.tree = tree_of(member.queue)].waiting.insert(edit);
  free_all();
}

void QuotaOrder::add_end(std::uint64_t edit, std::string_view queue) {
  follow_trees();
  const std::uint32_t tree = tree_of(queue);
  ends_[edit] = {std::string(queue), tree};
  trees_[tree].ends.insert(edit);
}

void QuotaOrder::remove_end(std::uint64_t edit) {
  const auto found = ends_.find(edit);
  if (found == ends_.end()) return;
  const std::uint32_t tree = found->second.tree;
  trees_[tree].ends.erase(edit);
  ends_.erase(found);
  if (tree == kAny) return free_all();
  free(tree);
  free(kAny);
}

bool QuotaOrder::waits(std::uint64_t edit, std::string_view queue) {
  follow_trees();
  const std::uint32_t tree = tree_of(queue);
  if (first_end(tree) >= edit) return false;
  waiting_[edit] = {std::string(queue), tree};
  trees_[tree].waiting.insert(edit);
  return true;
}

void QuotaOrder::stop_waiting(std::uint64_t edit) {
  const auto found = waiting_.find(edit);
  if (found == waiting_.end()) return;
  const std::uint32_t tree = found->second.tree;
  trees_[tree].waiting.erase(edit);
  waiting_.erase(found);
  leave_if_empty(tree);
}

std::vector<std::uint64_t> QuotaOrder::take_freed() {
  follow_trees();
  return std::exchange(freed_, {});
}

}  // namespace sluice::host
