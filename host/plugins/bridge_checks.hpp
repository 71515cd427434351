// CheckBridge: CheckControllers over the loaded plugins that provide check-controller/1.
//
// Which plugin answers for which controller name is fixed when the plugins are loaded. Called by
// one thread at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "host/plugins/check_controllers.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

class CheckBridge final : public CheckControllers {
 public:
  /// Asks each plugin for its names. An error names the plugins that claim one name, or the one
  /// that names none.
  static Result<CheckBridge> make(const std::vector<LoadedPlugin*>& plugins);

  bool any() const { return !by_name_.empty(); }

  bool provides(std::string_view controller_name) const override;
  std::string plugin_of(std::string_view controller_name) const override;
  bool quarantined(std::string_view controller_name) const override;
  Duration pause(std::string_view controller_name) const override;
  bool away(std::string_view controller_name) const override;
  std::optional<CheckActivity> check_changed(const std::string& check,
                                             std::string_view check_json) override;
  bool begin(const CheckQuery& query) override;
  bool owes_answer(std::string_view controller_name) const override;
  void cancel(const CheckQuery& query, std::string_view why) override;
  CheckTelling explain(const CheckQuery& query) override;
  std::string trouble(std::string_view check_json, std::string_view workload) const override;
  std::vector<std::string> take_restarted() override;
  std::vector<LateAnswer> take_late() override { return std::exchange(late_, {}); }
  std::vector<CheckReport> take_reports() override;

 private:
  Result<void> add(LoadedPlugin& plugin);
  LoadedPlugin* find(std::string_view check_json) const;
  std::optional<CheckActivity> tell(LoadedPlugin& plugin, const std::string& check,
                                    std::string_view check_json);
  CheckActivity judge(const LoadedPlugin& plugin, const std::string& check, bool gone,
                      Answer outcome, const CheckActivity& said, const hooks::Fault& fault);

  std::map<std::string, LoadedPlugin*, std::less<>> by_name_;
  std::vector<LoadedPlugin*> plugins_;
  std::map<LoadedPlugin*, RestartWatch> restarts_;
  std::map<std::string, CheckActivity> activity_;  // per check: what was said of it last
  std::map<std::string, LoadedPlugin*> told_;      // per check: who was told of it last
  // By plugin and workload whose check it could not begin, the last time: the fault.
  std::map<std::pair<const LoadedPlugin*, std::string>, std::string> failed_;
  std::vector<LateAnswer> late_;
};

}  // namespace sluice::host
