// CheckReports: what plugins reported on checks, judged against the workload that there is.
//
// A report of another attempt than the present one is dropped and counted; so is one of a plugin
// that does not answer for the check, which is logged once for the plugin. Belongs to the kernel's
// thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/engine/engine.hpp"
#include "host/controllers/checks/begun_attempts.hpp"
#include "host/controllers/checks/known_checks.hpp"
#include "host/objects/controller.hpp"
#include "host/plugins/check_controllers.hpp"

namespace sluice::host {

class CheckReports {
 public:
  /// All must outlive it. `pods`: the kind Pod.
  CheckReports(const Engine& engine, CheckControllers& plugins, const api::KindInfo& pods,
               const KnownChecks& checks, BegunAttempts& begun)
      : engine_(engine), plugins_(plugins), pods_(&pods), checks_(checks), begun_(begun) {}

  /// Takes what came since the last call; the keys of the workloads, one for each report.
  std::vector<std::string> take();
  /// Hands those of a workload to the engine, in the order in which they came.
  void hand_in(const std::string& workload, ObjectAccess& objects);

  /// That came for a reservation which had ended, or for no check of the workload.
  std::uint64_t late() const { return late_; }
  /// Of plugins that do not answer for the check.
  std::uint64_t foreign() const { return foreign_; }

 private:
  bool hand_in_one(const std::string& workload, const CheckReport& report, ObjectAccess& objects);
  void refuse_foreign(const std::string& workload, const CheckReport& report);

  const Engine& engine_;
  CheckControllers& plugins_;
  const api::KindInfo* pods_;
  const KnownChecks& checks_;
  BegunAttempts& begun_;
  std::unordered_map<std::string, std::vector<CheckReport>> waiting_;  // by workload
  std::uint64_t late_ = 0, foreign_ = 0;
  std::set<std::string> named_;  // plugins that answered checks of others, and were named
};

}  // namespace sluice::host
