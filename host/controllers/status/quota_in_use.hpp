// QuotaInUseController: a ClusterQueue, ResourceFlavor or AdmissionCheck stays after it was deleted
// while it is in use: the queue while workloads hold quota of it, the others while a queue names
// them. What holds it is the finalizer kueue.x-k8s.io/resource-in-use, which Kueue puts on each one
// and a host on those that are deleted while they are in use.
//
// Kernel's thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class QuotaInUseController final : public Controller {
 public:
  /// `engine` must outlive it.
  QuotaInUseController(const api::Scheme& scheme, const Engine& engine);

  std::string_view name() const override { return "quota-in-use"; }
  std::vector<std::string> watches() const override;
  /// Keys are those that were deleted and are still there.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  /// The finalizer, of what is in use; empty otherwise. O(queues) at most.
  std::string_view held_by(const ObjectRef& ref) const;
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  bool in_use(const WorkKey& key) const;

  const Engine& engine_;
  const api::KindInfo* workloads_;
  const api::KindInfo* queues_;
  const api::KindInfo* flavors_;
  const api::KindInfo* checks_;
  std::map<const api::KindInfo*, std::set<std::string, std::less<>>> leaving_;  // their names
};

}  // namespace sluice::host
