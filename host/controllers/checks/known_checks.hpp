// KnownChecks: the AdmissionChecks that there are, whose controller answers for each, and what its
// plugin says of it, which is written as the condition Active of the check.
//
// A plugin that takes its time says it later; until then nothing is written. A check that a plugin
// answers for is marked with its name, so that it can be told when that is loaded no more. Belongs
// to the kernel's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/controllers/checks/check_lines.hpp"
#include "host/objects/controller.hpp"
#include "host/plugins/check_controllers.hpp"

namespace sluice::host {

class KnownChecks {
 public:
  /// All must outlive it. `kind`: AdmissionCheck.
  KnownChecks(const api::KindInfo& kind, CheckControllers& plugins, CheckLines& lines)
      : kind_(&kind), plugins_(plugins), lines_(lines) {}

  const api::KindInfo& kind() const { return *kind_; }
  WorkKey key_of(const std::string& check) const { return {kind_, check}; }
  bool empty() const { return controller_of_.empty(); }
  /// By check: its spec.controllerName, of those that were looked at.
  const std::unordered_map<std::string, std::string>& controllers() const { return controller_of_; }
  /// The controller of a check, if a plugin answers for it; nullptr otherwise.
  const std::string* answered_by_plugin(const std::string& check) const;
  /// Whose the check is, also of one that nobody has looked at yet; nullopt: there is none.
  std::optional<std::string> controller_of(const std::string& check,
                                           const ObjectAccess& objects) const;

  /// Its plugin has to be told of it anew: what it says of what was does not count.
  void name(const std::string& check, std::vector<WorkKey>& keys);
  /// All of a controller; without one, all.
  void name_all(std::optional<std::string_view> controller, std::vector<WorkKey>& keys);
  /// REQUIRES: it says what a plugin said of a check.
  void take_late(LateAnswer late, std::vector<WorkKey>& keys);
  /// Tells the plugin that answers for it, and writes what that says.
  Result<void> look_at(const std::string& check, ObjectAccess& objects);

 private:
  Result<void> ask(const boost::json::object& check, const std::string& controller,
                   std::string_view plugin, ObjectAccess& objects);
  Result<void> set_active(const boost::json::object& before, const CheckActivity& activity,
                          std::string_view plugin, ObjectAccess& objects) const;

  const api::KindInfo* kind_;
  CheckControllers& plugins_;
  CheckLines& lines_;
  std::unordered_map<std::string, std::string> controller_of_;
  /// Checks whose plugin was told of them and has not answered, or has, since the last look.
  std::unordered_map<std::string, std::optional<CheckActivity>> told_;
};

}  // namespace sluice::host
