// QuotaOrder: which edits that give quota wait for which that end some.
//
// One that gives quota waits for all that ended some before it in the same quota tree: what they
// had may be what it gets. In other trees nothing can be, so an end that the API server does not
// take holds up its own tree and no other. A queue that is in no tree counts for all of them.
//
// Edits are known by their order. Invariant: each is counted in the tree that its queue is in as of
// the last time that somebody asked, which is how everybody counts who reads the objects. Pure;
// belongs to an Outbox. O(log edits) each; O(edits × log edits) after the trees have changed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

/// Where quota is shared.
struct QuotaTrees {
  /// The number of the tree that a ClusterQueue is in; nullopt: there is no such queue.
  std::function<std::optional<std::uint32_t>(std::string_view queue)> of;
  /// Another one when queues may be in other trees.
  std::function<std::uint64_t()> shape;
};

class QuotaOrder {
 public:
  explicit QuotaOrder(QuotaTrees trees);

  /// This edit ends quota of the queue; until it is over, or will not be.
  void add_end(std::uint64_t edit, std::string_view queue);
  void remove_end(std::uint64_t edit);

  /// Whether this edit, which gives quota of the queue, has to wait. Then take_freed() has it once
  /// that is over, unless it stops waiting.
  bool waits(std::uint64_t edit, std::string_view queue);
  void stop_waiting(std::uint64_t edit);
  /// Those that wait no more, each once.
  std::vector<std::uint64_t> take_freed();

 private:
  static constexpr std::uint32_t kAny = UINT32_MAX;
  struct Member {
    std::string queue;
    std::uint32_t tree = kAny;
  };
  struct Tree {
    std::set<std::uint64_t> ends, waiting;
  };

  std::uint32_t tree_of(std::string_view queue) const;
  std::uint64_t first_end(std::uint32_t tree) const;
  void free(std::uint32_t tree);
  void free_all();
  void follow_trees();
  void leave_if_empty(std::uint32_t tree);

  QuotaTrees shared_;
  std::uint64_t shape_ = 0;
  std::map<std::uint64_t, Member> ends_, waiting_;
  std::map<std::uint32_t, Tree> trees_;  // that have any
  std::vector<std::uint64_t> freed_;
};

}  // namespace sluice::host
