// DecisionEvents: what was decided about workloads, as Events with the reasons that Kueue's have.
//
// Kernel's thread.
#pragma once

#include "api/scheme/scheme.hpp"
#include "core/engine/engine.hpp"
#include "host/kernel/kernel.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

class DecisionEvents final : public DecisionObserver {
 public:
  /// All must outlive it.
  DecisionEvents(const api::Scheme& scheme, const Engine& engine, ObjectAccess& objects);

  void decided(Time now, const Decision& decision) override;

 private:
  void emit(WorkloadId id, bool warning, std::string reason, std::string message);
  void evicted(const Decision& decision);
  std::string queue_of(WorkloadId id) const;
  Duration since(WorkloadId id, Time now, bool reservation) const;

  const api::KindInfo& kind_;
  const Engine& engine_;
  ObjectAccess& objects_;
};

}  // namespace sluice::host
