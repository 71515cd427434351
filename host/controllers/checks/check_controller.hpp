// CheckController: asks the plugins that answer for admission checks, and takes in what they say
// (KEP-993).
//
// For every workload with a reservation and every check of it that a loaded plugin answers for,
// the plugin is told once to begin, per attempt, and to cancel when the reservation ended: evicted,
// finished or deleted. What was begun is only in memory, so a restart or a reload begins everything
// again, and so does a plugin's process that was started again; plugins take that as a repeat. A
// plugin that takes its time answers later: the attempt counts as begun meanwhile. Where it fails
// or is gone for a while, the message of a state that is Pending says so, until it takes the
// attempt up: that is written once for each sentence. What checks are there KnownChecks tells, and
// what plugins report goes through CheckReports.
// Checks of controllers outside of this process are left alone. What a plugin that took much time
// is to be told waits in line (CheckLines). Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"
#include "host/controllers/checks/begun_attempts.hpp"
#include "host/controllers/checks/check_lines.hpp"
#include "host/controllers/checks/check_reports.hpp"
#include "host/controllers/checks/known_checks.hpp"
#include "host/objects/controller.hpp"
#include "host/plugins/check_controllers.hpp"

namespace sluice::host {

class CheckController final : public Controller {
 public:
  /// All must outlive it.
  CheckController(const api::Scheme& scheme, const Engine& engine, CheckControllers& plugins);

  std::string_view name() const override { return "admission-checks"; }
  std::vector<std::string> watches() const override;
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool follows(const StoredObject& workload) const override {
    return !checks_.empty() || begun_.has(workload.key);
  }
  bool loads_apart() const override { return true; }
  void poll(std::vector<WorkKey>& keys) override;
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

  const CheckReports& reports() const { return reports_; }

 private:
  /// A plugin that is gone.
  struct Away {
    std::optional<Time> since;  ///< when it was looked at first
    bool is_told = false;       ///< it takes so long that states say it
  };
  /// How an attempt stands with its plugin.
  struct Standing {
    enum class Is : std::uint8_t { kUnknown, kBegun, kAway, kFailed } is = Is::kUnknown;
    std::string trouble = {};  ///< of the last two
  };

  void note_service(const std::string& check, const std::string& controller, bool served);
  void take_late(LateAnswer late, std::vector<WorkKey>& keys);
  void begin_again(const std::string& controller, std::vector<WorkKey>& keys);
  WorkKey workload_key(const std::string& key) const { return {workloads_, key}; }
  Result<Time> look_at_workload(const std::string& key, ObjectAccess& objects);
  Standing go_on(const std::string& key, WorkloadId id, const std::string& check,
                 const std::string& controller, const ObjectAccess& objects);
  Standing while_away(const std::string& key, const std::string& check,
                      const std::string& controller) const;
  BegunAttempt& note_failure(WorkloadId id, std::uint64_t attempt, const std::string& check,
                             const std::string& controller, const std::string& trouble, Time now);
  void note_away(std::vector<WorkKey>& keys);
  Time look_at_away(const std::string& controller, Time now);
  void end_others(const std::string& key, WorkloadId id, std::uint64_t attempt,
                  const std::map<std::string, std::string>& wanted);
  bool begin(WorkloadId id, const std::string& check, const std::string& controller,
             const ObjectAccess& objects);
  void cancel(const std::string& check, const BegunAttempt& begun, std::string_view why);
  std::string why_ended(const std::string& key) const;

  const Engine& engine_;
  CheckControllers& plugins_;
  const api::KindInfo* workloads_;
  std::vector<std::string> parameter_kinds_;  // of plugins: what checks may name as parameters
  CheckLines lines_;
  KnownChecks checks_;
  BegunAttempts begun_;
  CheckReports reports_;
  std::map<std::string, Away> away_;      // by controller
  std::set<std::string> out_of_service_;  // checks whose plugin was found in quarantine
  std::vector<WorkKey> named_;            // for the next poll
};

}  // namespace sluice::host
