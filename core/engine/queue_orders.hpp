// QueueOrders: what plugins say of the order within ClusterQueues, taken in.
//
// A key of a LocalQueue is one number of the queue's lane, so a change of it costs O(log lanes),
// however many wait there. Invariant: a queue follows the keys while none of its LocalQueues has a
// fault; with a fault, the built-in order holds for all of the queue, so that nobody gains by it. A
// LocalQueue has a key in one queue at most, and none once it is gone. The engine's thread only.
#pragma once

#include <map>
#include <string>

#include "core/engine/turn.hpp"
#include "core/model/model.hpp"

namespace sluice {

class QueueOrders {
 public:
  QueueOrders(Model& model, Turn& turn) : model_(model), turn_(turn) {}

  /// What a plugin says of all workloads of a LocalQueue from now on; a fault of before is over.
  /// Nothing where there is no such LocalQueue, or no ClusterQueue behind it yet: the plugin is
  /// asked again when that comes.
  void take(const std::string& local_queue, hooks::Ordering said);
  /// The plugin has no answer for one of its workloads.
  void failed(const std::string& local_queue, const std::string& sentence);
  /// The LocalQueue is gone.
  void forget(const std::string& local_queue);

 private:
  void give_key(const std::string& local_queue, QueueRecord& queue, std::int64_t key);
  void drop_key(const std::string& local_queue, QueueId but);
  void end_fault(const std::string& local_queue, QueueId but);
  void note_fault(QueueId id, const std::string& local_queue, const std::string& sentence);
  void reorder_all(QueueRecord& queue);
  void moved(QueueRecord& queue);

  Model& model_;
  Turn& turn_;
  /// A key that some queue has for a LocalQueue, by that: which queue, and the lane there.
  struct Keyed {
    QueueId queue = kNone;
    StringId lane = 0;
  };
  std::map<std::string, Keyed> keyed_;
  std::map<std::string, QueueId> faulty_;  ///< by LocalQueue: the queue that notes it
};

}  // namespace sluice
