// CheckController: asks the plugins that answer for admission checks, and takes in what they say
// (KEP-993).
//
// For every workload with a reservation and every check of it that a loaded plugin answers for,
// the plugin is told once to begin, per attempt, and to cancel when the reservation ended: evicted,
// finished or deleted. What was begun is only in memory, so a restart or a reload begins everything
// again, and so does a plugin's process that was started again; plugins take that as a repeat. A
// report of another attempt than the present one is dropped and counted; so is one of a plugin that
// does not answer for the check, which is logged once for the plugin. The condition Active of an
// AdmissionCheck says whether its plugin is there and can work; one that is quarantined cannot. A
// plugin that takes its time answers later: the attempt counts as begun meanwhile. Where it fails
// or is gone for a while, the message of a state that is Pending says so, until it takes the
// attempt up: that is written once for each sentence.
// Checks of controllers outside of this process are left alone. What a plugin that took much time
// is to be told waits in line (CheckLines). Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/engine/engine.hpp"
#include "host/controllers/checks/check_lines.hpp"
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
    return !controller_of_.empty() || begun_.contains(workload.key);
  }
  bool loads_apart() const override { return true; }
  void poll(std::vector<WorkKey>& keys) override;
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

  /// Reports that came for a reservation which had ended, or for no check of the workload.
  std::uint64_t late_reports() const { return late_reports_; }
  /// Reports of plugins that do not answer for the check.
  std::uint64_t foreign_reports() const { return foreign_reports_; }

 private:
  struct Begun {
    std::string ns, name, uid;  ///< of the workload
    std::string controller;     ///< spec.controllerName when it began
    std::uint64_t attempt = 0;
    bool again = false;        ///< its plugin was started again, and knows nothing of it
    bool sure = false;         ///< its plugin said that it began
    std::string trouble = {};  ///< it did not begin: the sentence for the check's state
    int failures = 0;          ///< in a row, of this attempt
    Time again_at = 0;         ///< after the last of them; not before, whatever changes meanwhile
  };
  using BegunChecks = std::map<std::string, Begun>;  // by check
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
  void name_check(const std::string& check, std::vector<WorkKey>& keys);
  void take_late(LateAnswer late, std::vector<WorkKey>& keys);
  void begin_again(const std::string& controller, std::vector<WorkKey>& keys);
  WorkKey check_key(const std::string& check) const { return {checks_, check}; }
  WorkKey workload_key(const std::string& key) const { return {workloads_, key}; }
  Result<void> look_at_check(const std::string& check, ObjectAccess& objects);
  Result<void> set_active(const boost::json::object& before, const CheckActivity& activity,
                          std::string_view plugin, ObjectAccess& objects) const;
  Result<Time> look_at_workload(const std::string& key, ObjectAccess& objects);
  Standing go_on(const std::string& key, WorkloadId id, const std::string& check,
                 const std::string& controller, const ObjectAccess& objects);
  Standing while_away(const std::string& check, const std::string& controller) const;
  Begun& note_failure(const std::string& key, std::uint64_t attempt, const std::string& check,
                      const std::string& controller, const std::string& trouble, Time now);
  void note_away(std::vector<WorkKey>& keys);
  Time look_at_away(const std::string& controller, Time now);
  Begun& note_begun(const api::ObjectMeta& workload, const std::string& check,
                    const std::string& controller, std::uint64_t attempt);
  Begun* find_begun(const std::string& key, const std::string& check);
  void end_others(const std::string& key, WorkloadId id, std::uint64_t attempt,
                  const std::map<std::string, std::string>& wanted);
  bool begin(WorkloadId id, const std::string& check, const std::string& controller,
             const ObjectAccess& objects);
  void cancel(const std::string& check, const Begun& begun, std::string_view why);
  void take_in(const std::string& key, const std::vector<CheckReport>& reports,
               ObjectAccess& objects);
  bool take_in_one(const std::string& key, const CheckReport& report, ObjectAccess& objects);
  std::optional<std::string> controller_of(const std::string& check,
                                           const ObjectAccess& objects) const;
  void refuse_foreign(const std::string& key, const CheckReport& report);
  std::string why_ended(const std::string& key) const;

  const Engine& engine_;
  CheckControllers& plugins_;
  const api::KindInfo* workloads_;
  const api::KindInfo* checks_;
  const api::KindInfo* pods_;
  std::vector<std::string> parameter_kinds_;  // of plugins: what checks may name as parameters
  std::unordered_map<std::string, std::string> controller_of_;  // check → spec.controllerName
  std::unordered_map<std::string, BegunChecks> begun_;          // by workload
  std::unordered_map<std::string, std::vector<CheckReport>> reports_;
  /// Checks whose plugin was told of them and has not answered, or has, since the last look.
  std::unordered_map<std::string, std::optional<CheckActivity>> told_;
  CheckLines lines_;
  std::map<std::string, Away> away_;      // by controller
  std::set<std::string> out_of_service_;  // checks whose plugin was found in quarantine
  std::vector<WorkKey> named_;            // for the next poll
  std::uint64_t late_reports_ = 0, foreign_reports_ = 0;
  std::set<std::string> foreign_;  // plugins that answered checks of others, and were named
};

}  // namespace sluice::host
