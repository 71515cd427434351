// Sets: the StatefulSets of a cluster, as far as pods wait for what they say (parents.hpp): tells
// the pods, and remembers which of them wait for one that is not known yet, or names no queue.
//
// Invariant: a pod is remembered for one StatefulSet at most, and not after it is gone. Belongs to
// the control thread; every call is part of one of the Keeper's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "facts.hpp"
#include "sluice/cpp/context.hpp"

namespace pods {

class Sets {
 public:
  explicit Sets(const sluice::Context& context) : context_(context) {}

  /// Tells a pod what the StatefulSet says that holds it up, or remembers that it waits for that.
  /// reconcile() is called for what it was told.
  void tell(const sluice::Json& pod);
  /// The pod waits for nobody.
  void forget(const std::string& ns, const std::string& pod);
  /// Those that wait for the StatefulSet.
  std::vector<std::string> waiting_for(const std::string& ns, const std::string& set) const;

  /// What it says now goes to its pods, as long as none of them was started.
  void tell_again(const sluice::Json& set, const std::vector<Pod>& pods);

  /// Whether a workload of which no pod is there gets pods again. A StatefulSet makes those that
  /// were evicted anew, until it has none. kSoon, or not at all: of one that is not known here,
  /// which makes the first pods of a LeaderWorkerSet's replicas, or is gone. Those that a
  /// LeaderWorkerSet itself owned, by which Kueue had them, are of another group than later ones.
  enum class GetsPods : std::uint8_t { kNever, kSoon, kWhenever };
  GetsPods gets_pods(const sluice::Json& workload) const;

 private:
  using Name = std::pair<std::string, std::string>;  // namespace, name

  std::optional<sluice::Json> find(const std::string& ns, const std::string& name,
                                   const std::string& uid) const;
  void patch(const std::string& ns, const std::string& pod, const sluice::Json& told) const;

  sluice::Context context_;
  std::map<Name, std::set<std::string>> waiting_;  // pods, by the StatefulSet
  std::map<Name, std::string> waits_for_;          // the StatefulSet, by the pod
};

}  // namespace pods
