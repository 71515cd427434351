// PodWaits: keys that wait for pods of a job to end, to be named when one of them changes. Which
// job it is its UID says, so that one that is gone has pods, too.
//
// One thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "host/controllers/jobs/waits.hpp"
#include "host/objects/controller.hpp"
#include "host/objects/kinds.hpp"

namespace sluice::host {

class PodWaits {
 public:
  void set(const WorkKey& key, const std::string& uid) { waits_.set(key, uid); }
  void erase(const WorkKey& key) { waits_.erase(key); }

  /// Appends the keys that the change of a pod concerns; false: it is none of a pod.
  bool name(const ObjectChange& change, std::vector<WorkKey>& keys) const {
    if (!is_pod(*change.kind)) return false;
    if (waits_.empty()) return true;  // as for almost all pods
    const StoredObject& pod = change.stored ? *change.stored : *change.before;
    for (const OwnerReference& owner : pod.metadata.owners()) {
      const std::set<WorkKey>& waiting = waits_.of(std::string(owner.uid));
      keys.insert(keys.end(), waiting.begin(), waiting.end());
    }
    return true;
  }

 private:
  Waits<WorkKey, std::string> waits_;
};

}  // namespace sluice::host
