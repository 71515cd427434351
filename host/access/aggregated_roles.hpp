// AggregatedRoles: a ClusterRole that is made of others shows what it gives, as Kubernetes' does:
// its rules are those of all ClusterRoles that its aggregationRule selects. It is for people who
// read it; who may do what is worked out from the selected ones (RbacIndex).
//
// Kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/objects/controller.hpp"

namespace sluice::host {

class AggregatedRoles final : public Controller {
 public:
  explicit AggregatedRoles(const api::Scheme& scheme);

  std::string_view name() const override { return "aggregated-roles"; }
  std::vector<std::string> watches() const override;
  /// All roles at once, whichever of them changed.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  const api::KindInfo* roles_;
};

}  // namespace sluice::host
