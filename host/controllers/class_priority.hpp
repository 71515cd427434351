// ClassPriorityController: a workload has the priority of the WorkloadPriorityClass that it names
// (KEP-973), also when that one gets another value, or is deleted and made again: until it has
// finished, whether it waits or runs.
//
// Invariant: a class that changed is looked at again until no workload is behind it, so that a
// write that was refused is made again. Kernel's thread.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class ClassPriorityController final : public Controller {
 public:
  /// After writes it looks once more: the API server of a cluster may have refused one.
  static constexpr Duration kLookAgain = 30 * kSecond;
  /// Workloads that are written in one turn; the writes of others wait for them.
  static constexpr std::size_t kMostAtOnce = 64;

  /// `engine` must outlive it.
  ClassPriorityController(const api::Scheme& scheme, const Engine& engine);

  std::string_view name() const override { return "class-priority"; }
  std::vector<std::string> watches() const override;
  /// The one key is that of all classes: however many changed, the workloads are gone over once.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  /// Nothing: where somebody gave a workload another priority since, that stays.
  void resumed(const ObjectChange&, bool, std::vector<WorkKey>&) override {}
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  /// O(workloads).
  void find_behind(const ObjectAccess& objects);
  Result<void> write(const std::string& key, ObjectAccess& objects) const;

  const Engine& engine_;
  const api::KindInfo* classes_;
  const api::KindInfo* workloads_;
  std::set<std::string, std::less<>> changed_;  // classes
  std::vector<std::string> behind_;             // their workloads of another priority, last first
};

}  // namespace sluice::host
