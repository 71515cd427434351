// QuotaTree: how much of each fr each node may use, over all cohort trees (semantics 1).
//
// Nodes are ClusterQueues (leaves) and Cohorts (inner nodes). Per node and fr there is one Cell;
// the cells of a node lie together. Invariants, after every call:
//   - usage of an inner node = sum over its children c of max(0, usage(c) - local(c)), exactly;
//   - adding an amount and taking it away again restores every cell bit by bit (simulate and undo).
// The shape is fixed between calls of build(). Threads: add_usage() and the readers of one root may
// be called by one thread at a time; different roots are independent of each other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/quota/flavor_resource.hpp"
#include "core/types/amount.hpp"

namespace sluice {

using NodeId = std::uint32_t;

/// What one node offers of one fr.
struct QuotaSpec {
  FrId fr = kNone;
  Amount nominal = 0;
  Amount borrowing_limit = kUnlimited;
  Amount lending_limit = kUnlimited;
  bool operator==(const QuotaSpec&) const = default;
};

/// One node as the configuration gives it.
struct NodeSpec {
  std::string name;
  NodeId parent = kNone;
  bool is_queue = false;
  bool active = true;  ///< inactive queues keep quota and usage, but decide nothing
  Amount weight_milli = 1000;
  std::vector<QuotaSpec> quotas;
};

class QuotaTree {
 public:
  /// Replaces shape and quota; all usage is zero afterwards. REQUIRES: parents form no cycle.
  /// O(nodes × frs).
  void build(std::vector<NodeSpec> nodes, const FlavorResources& frs);

  std::size_t node_count() const { return nodes_.size(); }
  std::size_t fr_count() const { return fr_count_; }
  const std::string& name(NodeId node) const { return nodes_[node].name; }
  NodeId parent(NodeId node) const { return nodes_[node].parent; }
  NodeId root(NodeId node) const { return nodes_[node].root; }
  bool has_parent(NodeId node) const { return nodes_[node].parent != kNone; }
  bool is_queue(NodeId node) const { return nodes_[node].is_queue; }
  bool active(NodeId node) const { return nodes_[node].active; }
  int height(NodeId node) const { return nodes_[node].height; }
  int depth(NodeId node) const { return nodes_[node].depth; }
  Amount weight_milli(NodeId node) const { return nodes_[node].weight_milli; }
  /// Children in order of name, cohorts before queues.
  std::span<const NodeId> children(NodeId node) const { return nodes_[node].children; }
  /// Path of names from the root, as messages show it: `/root/mid/queue`.
  std::string path(NodeId node) const;

  Amount nominal(NodeId node, FrId fr) const { return cell(node, fr).nominal; }
  Amount subtree(NodeId node, FrId fr) const { return cell(node, fr).subtree; }
  Amount local(NodeId node, FrId fr) const { return cell(node, fr).local; }
  Amount potential(NodeId node, FrId fr) const { return cell(node, fr).potential; }
  Amount borrowing_limit(NodeId node, FrId fr) const { return cell(node, fr).borrowing_limit; }
  Wide usage(NodeId node, FrId fr) const { return cell(node, fr).usage; }

  /// What is left of the node's own unlendable part.
  Amount local_available(NodeId node, FrId fr) const {
    const Cell& c = cell(node, fr);
    return c.usage >= c.local ? 0 : saturate(c.local - c.usage);
  }
  /// May be negative after quota was lowered. O(depth).
  Amount available(NodeId node, FrId fr) const;
  bool fits(NodeId node, FrId fr, Amount amount) const {
    return amount <= 0 || amount <= available(node, fr);
  }
  bool borrows_with(NodeId node, FrId fr, Amount amount) const {
    const Cell& c = cell(node, fr);
    return c.usage + amount > c.subtree;
  }
  /// Does any child of the node exceed its subtree quota in this fr? O(1).
  bool any_child_exceeds(NodeId node, FrId fr) const { return cell(node, fr).borrowers > 0; }
  /// Usage above what the node and its children brought themselves.
  bool exceeds_subtree(NodeId node, FrId fr) const { return borrows_with(node, fr, 0); }

  struct BorrowLevel {
    int level = 0;
    bool reclaim_possible = false;  ///< "reclaim possible in hierarchy"
  };
  BorrowLevel borrow_level(NodeId queue, FrId fr, Amount amount) const;

  /// Adds (or with a negative amount takes away) usage at a queue and above. O(depth).
  void add_usage(NodeId queue, FrId fr, Amount amount);

  /// From now on available_as_marked() under this root says what available() says now. O(1).
  void mark(NodeId root) { ++marks_[root]; }
  /// What available() said when the root was marked last. REQUIRES: it was. O(depth).
  Amount available_as_marked(NodeId node, FrId fr) const;

  /// Resources with quota, which have numbers of their own here, from 0 on.
  std::size_t resource_count() const { return frs_of_.size(); }
  /// All frs of one of them.
  std::span<const FrId> frs_of(std::size_t resource) const { return frs_of_[resource]; }
  /// Σ potential(node) over these frs: what the node could lend of it to its children.
  Amount lendable(NodeId node, std::size_t resource) const {
    return lendable_[node * resource_count() + resource];
  }

 private:
  struct alignas(64) Cell {
    Wide usage = 0;
    Amount nominal = 0;
    Amount subtree = 0;
    Amount local = 0;
    Amount potential = 0;
    Amount borrowing_limit = kUnlimited;
    std::int32_t borrowers = 0;  // children that exceed their subtree quota
    std::uint32_t mark = 0;      // of the root, when `usage` was put by last
  };
  struct Node {
    std::string name;
    NodeId parent = kNone;
    NodeId root = kNone;
    bool is_queue = false;
    bool active = true;
    int height = 0;
    int depth = 0;
    Amount weight_milli = 1000;
    std::vector<NodeId> children;
  };

  const Cell& cell(NodeId node, FrId fr) const { return cells_[node * fr_count_ + fr]; }
  Cell& cell(NodeId node, FrId fr) { return cells_[node * fr_count_ + fr]; }
  template <typename UsageOf>
  Wide available_wide(NodeId node, FrId fr, const UsageOf& usage_of) const;
  void link(std::vector<NodeSpec>& specs);
  void measure(NodeId node, int depth);
  void sum_up(NodeId node, const std::vector<NodeSpec>& specs);
  void spread_down(NodeId node);

  std::vector<Node> nodes_;
  std::vector<Cell> cells_;
  std::vector<Wide> put_by_;          // by cell: its usage at the mark of the root that it has
  std::vector<std::uint32_t> marks_;  // by root
  std::vector<Amount> lendable_;
  std::vector<std::vector<FrId>> frs_of_;  // by resource
  std::size_t fr_count_ = 0;
};

}  // namespace sluice
