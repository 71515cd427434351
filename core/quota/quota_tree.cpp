#include "core/quota/quota_tree.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/check.hpp"

namespace sluice {

void QuotaTree::build(std::vector<NodeSpec> nodes, const FlavorResources& frs) {
  fr_count_ = frs.size();
  nodes_.assign(nodes.size(), {});
  cells_.assign(nodes.size() * fr_count_, {});
  put_by_.assign(cells_.size(), 0);
  marks_.assign(nodes.size(), 0);
  std::map<ResourceId, std::vector<FrId>> by_resource;
  for (FrId fr = 0; fr < fr_count_; ++fr) by_resource[frs.resource_of(fr)].push_back(fr);
  frs_of_.clear();
  for (auto& [resource, all] : by_resource) frs_of_.push_back(std::move(all));
  lendable_.assign(nodes.size() * resource_count(), 0);

  link(nodes);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].parent != kNone) continue;
    measure(id, 0);
    sum_up(id, nodes);
    spread_down(id);
  }
  for (const Node& node : nodes_)
    SLUICE_CHECK(node.root != kNone, "node ", node.name, " is in a cycle");
}

void QuotaTree::link(std::vector<NodeSpec>& specs) {
  for (NodeId id = 0; id < specs.size(); ++id) {
    NodeSpec& spec = specs[id];
    Node& node = nodes_[id];
    node.name = std::move(spec.name);
    node.parent = spec.parent;
    node.is_queue = spec.is_queue;
    node.active = spec.active;
    node.weight_milli = spec.weight_milli;
    SLUICE_CHECK(spec.parent == kNone || (spec.parent < specs.size() && spec.parent != id), "node ",
                 node.name, " has the parent ", spec.parent, " of ", specs.size());
    for (const QuotaSpec& quota : spec.quotas) {
      SLUICE_CHECK(quota.fr < fr_count_, "quota for fr ", quota.fr, " of ", fr_count_);
      Cell& c = cell(id, quota.fr);
      c.nominal = quota.nominal;
      c.borrowing_limit = quota.borrowing_limit;
    }
    SLUICE_CHECK(spec.parent == kNone || !specs[spec.parent].is_queue, "node ", node.name,
                 " stands under a queue");
    if (spec.parent != kNone) nodes_[spec.parent].children.push_back(id);
  }
  for (Node& node : nodes_) {
    std::sort(node.children.begin(), node.children.end(), [this](NodeId a, NodeId b) {
      if (nodes_[a].is_queue != nodes_[b].is_queue) return nodes_[b].is_queue;
      return nodes_[a].name < nodes_[b].name;
    });
  }
}

void QuotaTree::measure(NodeId id, int depth) {
  Node& node = nodes_[id];
  SLUICE_CHECK(depth >= 0 && static_cast<std::size_t>(depth) < nodes_.size(), "node ", node.name,
               " is at depth ", depth, " of ", nodes_.size(), " nodes");
  node.depth = depth;
  node.root = node.parent == kNone ? id : nodes_[node.parent].root;
  node.height = 0;
  for (const NodeId child : node.children) {
    measure(child, depth + 1);
    if (nodes_[child].is_queue && !nodes_[child].active) continue;
    node.height = std::max(node.height, nodes_[child].height + 1);
  }
}

void QuotaTree::sum_up(NodeId id, const std::vector<NodeSpec>& specs) {
  for (const NodeId child : nodes_[id].children) sum_up(child, specs);
  for (FrId fr = 0; fr < fr_count_; ++fr) {
    Cell& c = cell(id, fr);
    Wide sum = c.nominal;
    for (const NodeId child : nodes_[id].children)
      sum += cell(child, fr).subtree - cell(child, fr).local;
    c.subtree = saturate(sum);
  }
  for (const QuotaSpec& quota : specs[id].quotas) {
    Cell& c = cell(id, quota.fr);
    if (quota.lending_limit != kUnlimited)
      c.local = std::max<Amount>(0, c.subtree - quota.lending_limit);
    SLUICE_CHECK(c.local >= 0 && c.local <= std::max<Amount>(0, c.subtree), "node ",
                 nodes_[id].name, " never lends ", c.local, " of ", c.subtree);
  }
}

void QuotaTree::spread_down(NodeId id) {
  const NodeId parent = nodes_[id].parent;
  for (FrId fr = 0; fr < fr_count_; ++fr) {
    Cell& c = cell(id, fr);
    if (parent == kNone) {
      c.potential = c.subtree;
      continue;
    }
    Wide potential = Wide{c.local} + cell(parent, fr).potential;
    if (c.borrowing_limit != kUnlimited)
      potential = std::min(potential, Wide{c.subtree} + c.borrowing_limit);
    c.potential = saturate(potential);
  }
  for (std::size_t resource = 0; resource < resource_count(); ++resource) {
    Wide sum = 0;
    for (const FrId fr : frs_of_[resource]) sum += cell(id, fr).potential;
    lendable_[id * resource_count() + resource] = saturate(sum);
  }
  for (const NodeId child : nodes_[id].children) spread_down(child);
}

std::string QuotaTree::path(NodeId node) const {
  const NodeId up = parent(node);
  return (up == kNone ? std::string() : path(up)) + "/" + name(node);
}

template <typename UsageOf>
Wide QuotaTree::available_wide(NodeId node, FrId fr, const UsageOf& usage_of) const {
  const Cell& c = cell(node, fr);
  const Wide usage = usage_of(c);
  const NodeId up = nodes_[node].parent;
  if (up == kNone) return c.subtree - usage;
  Wide from_parent = available_wide(up, fr, usage_of);
  if (c.borrowing_limit != kUnlimited) {
    const Wide lent = std::max<Wide>(0, usage - c.local);
    from_parent = std::min(from_parent, (Wide{c.subtree} - c.local) - lent + c.borrowing_limit);
  }
  return std::max<Wide>(0, c.local - usage) + from_parent;
}

Amount QuotaTree::available(NodeId node, FrId fr) const {
  return saturate(available_wide(node, fr, [](const Cell& c) { return c.usage; }));
}

Amount QuotaTree::available_as_marked(NodeId node, FrId fr) const {
  const std::uint32_t mark = marks_[nodes_[node].root];
  SLUICE_CHECK(mark > 0, "the root of ", nodes_[node].name, " was never marked");
  return saturate(available_wide(node, fr, [&](const Cell& c) {
    return c.mark == mark ? put_by_[static_cast<std::size_t>(&c - cells_.data())] : c.usage;
  }));
}

QuotaTree::BorrowLevel QuotaTree::borrow_level(NodeId queue, FrId fr, Amount amount) const {
  SLUICE_CHECK(queue < nodes_.size() && fr < fr_count_, "borrow level of fr ", fr, " at node ",
               queue, " of ", nodes_.size());
  if (!borrows_with(queue, fr, amount) || !has_parent(queue)) return {0, has_parent(queue)};
  Amount remainder = amount - local_available(queue, fr);
  NodeId node = parent(queue);
  while (true) {
    if (!borrows_with(node, fr, remainder)) return {height(node), has_parent(node)};
    if (!has_parent(node)) return {height(node), false};
    remainder -= local_available(node, fr);
    node = parent(node);
  }
}

void QuotaTree::add_usage(NodeId queue, FrId fr, Amount amount) {
  SLUICE_CHECK(queue < nodes_.size() && nodes_[queue].is_queue, "usage at node ", queue, " of ",
               nodes_.size(), ", which is no queue");
  SLUICE_CHECK(fr < fr_count_, "usage of fr ", fr, "; the tree knows ", fr_count_);
  Wide change = amount;
  const std::uint32_t mark = marks_[nodes_[queue].root];
  for (NodeId node = queue; node != kNone && change != 0; node = nodes_[node].parent) {
    Cell& c = cell(node, fr);
    const Wide before = std::max<Wide>(0, c.usage - c.local);
    const bool exceeded = c.usage > c.subtree;
    if (c.mark != mark) {
      c.mark = mark;
      put_by_[node * fr_count_ + fr] = c.usage;
    }
    c.usage += change;
    change = std::max<Wide>(0, c.usage - c.local) - before;
    const bool exceeds = c.usage > c.subtree;
    const NodeId parent = nodes_[node].parent;
    if (exceeded == exceeds || parent == kNone) continue;
    const auto borrowers = (cell(parent, fr).borrowers += exceeds ? 1 : -1);
    SLUICE_CHECK(
        borrowers >= 0 && static_cast<std::size_t>(borrowers) <= nodes_[parent].children.size(),
        borrowers, " of ", nodes_[parent].children.size(), " children of ", nodes_[parent].name,
        " exceed their quota");
  }
}

}  // namespace sluice
