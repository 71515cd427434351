#include "host/plugins/bridge_checks.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <exception>
#include <memory>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/plugins/workload_api.hpp"

namespace sluice::host {

namespace {

constexpr std::size_t kMostFailed = 10'000;

/// spec.controllerName of an AdmissionCheck; empty when it says none.
std::string controller_name_of(std::string_view check_json) {
  boost::system::error_code error;
  const boost::json::value value = api::parse_deep(check_json, error);
  if (error) return {};
  const boost::json::value* name = value.find_pointer("/spec/controllerName", error);
  return name != nullptr && name->is_string() ? std::string(api::view(name->get_string()))
                                              : std::string();
}

struct ActivityAnswer {
  CheckActivity activity{true, "Active", "The controller of the check carries it out"};
  Nonsense nonsense;
};

void set_active(void* context, std::int32_t active, sluice_str_t reason,
                sluice_str_t message) noexcept {
  ActivityAnswer& answer = *static_cast<ActivityAnswer*>(context);
  try {
    if (active != 0 && active != 1) answer.nonsense.note("active is neither 0 nor 1");
    answer.activity = {active == 1,
                       condition_reason_of(reason, "the reason of inactive", answer.nonsense),
                       shown_text(message, kMessageBytes)};
  } catch (const std::exception&) {
    answer.nonsense.note(kNoMemory);
  }
}

sluice_check_query_t raw_of(const CheckQuery& query) {
  return {sizeof(sluice_check_query_t), query.retry_count,           query.attempt,
          ref_of(*query.workload),      abi_of(query.workload_json), abi_of(query.check),
          abi_of(query.check_json)};
}

}  // namespace

Result<CheckBridge> CheckBridge::make(const std::vector<LoadedPlugin*>& plugins) {
  CheckBridge bridge;
  for (LoadedPlugin* plugin : plugins)
    if (auto added = bridge.add(*plugin); !added) return added.error();
  return bridge;
}

Result<void> CheckBridge::add(LoadedPlugin& plugin) {
  const auto names =
      plugin.names(Hook::kCheckControllers, plugin.extensions().check_controller->controllers,
                   "a controllerName");
  if (!names || names->empty())
    return Error{"plugin " + plugin.name() + " does not say whose checks it answers for: " +
                 (names ? "it names no controllerName" : names.error().text)};
  for (const std::string& name : *names) {
    const auto [it, fresh] = by_name_.emplace(name, &plugin);
    if (fresh || it->second == &plugin) continue;
    return Error{"plugins " + it->second->name() + " and " + plugin.name() +
                 " both answer for the controllerName " + name +
                 "; only one may: take one of them out of plugins.load"};
  }
  plugins_.push_back(&plugin);
  restarts_.emplace(&plugin, plugin);
  return {};
}

bool CheckBridge::provides(std::string_view controller_name) const {
  return by_name_.contains(controller_name);
}

std::string CheckBridge::plugin_of(std::string_view controller_name) const {
  const auto found = by_name_.find(controller_name);
  return found == by_name_.end() ? std::string() : found->second->name();
}

bool CheckBridge::quarantined(std::string_view controller_name) const {
  const auto found = by_name_.find(controller_name);
  return found != by_name_.end() && found->second->health().quarantined();
}

Duration CheckBridge::pause(std::string_view controller_name) const {
  const auto found = by_name_.find(controller_name);
  return found == by_name_.end() ? 0 : found->second->pause();
}

LoadedPlugin* CheckBridge::find(std::string_view check_json) const {
  if (check_json.empty()) return nullptr;
  const auto found = by_name_.find(controller_name_of(check_json));
  return found == by_name_.end() ? nullptr : found->second;
}

bool CheckBridge::away(std::string_view controller_name) const {
  const auto found = by_name_.find(controller_name);
  return found != by_name_.end() && found->second->away();
}

namespace {

/// A question that may outlive the call that asks it, with the answer to it.
struct AskedActivity {
  std::string check, check_json;
  ActivityAnswer answer;
};

}  // namespace

std::optional<CheckActivity> CheckBridge::tell(LoadedPlugin& plugin, const std::string& check,
                                               std::string_view check_json) {
  const auto asked =
      std::make_shared<AskedActivity>(AskedActivity{check, std::string(check_json), {}});
  std::optional<CheckActivity> now;
  const auto put = [&plugin, asked] {
    asked->answer = {};
    const sluice_check_t raw{sizeof(sluice_check_t), asked->check_json.empty() ? 1 : 0,
                             abi_of(asked->check), abi_of(asked->check_json)};
    const sluice_activity_sink_t sink{sizeof(sluice_activity_sink_t), 0, &asked->answer,
                                      &set_active};
    const std::int32_t code =
        plugin.extensions().check_controller->check_changed(plugin.self(), &raw, &sink);
    return plugin.judged(code, asked->answer.nonsense);
  };
  plugin.ask(Hook::kCheckChanged, {{}, asked->check}, put,
             [this, &plugin, asked, &now](Answer outcome, const hooks::Fault& fault, bool late) {
               const bool gone = asked->check_json.empty();
               CheckActivity said =
                   judge(plugin, asked->check, gone, outcome, asked->answer.activity, fault);
               if (!late)
                 now = std::move(said);
               else if (!gone)
                 late_.push_back({.controller = controller_name_of(asked->check_json),
                                  .check = asked->check,
                                  .activity = std::move(said)});
             });
  return now;
}

/// What the answer, or that there is none, says of a check.
CheckActivity CheckBridge::judge(const LoadedPlugin& plugin, const std::string& check, bool gone,
                                 Answer outcome, const CheckActivity& said,
                                 const hooks::Fault& fault) {
  if (gone) activity_.erase(check);
  if (outcome == Answer::kOk && !gone) activity_[check] = said;
  if (outcome == Answer::kOk) return said;
  // Who died over the question is asked again when it is there again; until then what it said
  // holds.
  if (const auto before = activity_.find(check); plugin.was_lost() && before != activity_.end())
    return before->second;
  return {false, "PluginFault",
          outcome == Answer::kClosed ? fault.text : plugin.health().last_fault()};
}

std::optional<CheckActivity> CheckBridge::check_changed(const std::string& check,
                                                        std::string_view check_json) {
  LoadedPlugin* now = find(check_json);
  const auto before = told_.find(check);
  if (before != told_.end() && before->second != now) {
    LoadedPlugin* other = before->second;
    told_.erase(before);
    tell(*other, check, {});
  }
  if (now == nullptr)
    return CheckActivity{false, "NoController", "no plugin answers for its controllerName"};
  told_[check] = now;
  return tell(*now, check, check_json);
}

bool CheckBridge::begin(const CheckQuery& query) {
  SLUICE_CHECK(query.workload != nullptr, "a check begins without a workload: ", query.check);
  LoadedPlugin* plugin = find(query.check_json);
  if (plugin == nullptr) return false;
  const auto asked = std::make_shared<const CheckQuery>(query);
  bool begun = true;
  const auto put = [plugin, asked] {
    const sluice_check_query_t raw = raw_of(*asked);
    return plugin->extensions().check_controller->begin(plugin->self(), &raw);
  };
  plugin->ask(Hook::kBeginCheck, about_of(*asked->workload), put,
              [this, plugin, asked, &begun](Answer outcome, const hooks::Fault&, bool late) {
                const bool well = outcome == Answer::kOk;
                const auto of = std::pair<const LoadedPlugin*, std::string>(
                    plugin, asked->workload->meta.key());
                failed_.erase(of);
                if (failed_.size() >= kMostFailed) failed_.clear();  // the next attempts tell again
                const std::string fault = well ? "" : plugin->health().last_fault();
                if (!well) failed_[of] = fault;
                if (!late)
                  begun = well;
                else if (well || !plugin->was_lost())  // else it begins again with the next life
                  late_.push_back({.controller = controller_name_of(asked->check_json),
                                   .check = asked->check,
                                   .workload = asked->workload->meta.key(),
                                   .attempt = asked->attempt,
                                   .began = well,
                                   .fault = fault});
              });
  return begun;
}

bool CheckBridge::owes_answer(std::string_view controller_name) const {
  const auto found = by_name_.find(controller_name);
  return found != by_name_.end() && found->second->owes_answer();
}

void CheckBridge::cancel(const CheckQuery& query, std::string_view why) {
  SLUICE_CHECK(query.workload != nullptr, "a check ends without a workload: ", query.check);
  LoadedPlugin* plugin = find(query.check_json);
  if (const auto told = told_.find(query.check); plugin == nullptr && told != told_.end())
    plugin = told->second;
  if (plugin == nullptr) return;
  const auto asked = std::make_shared<const CheckQuery>(query);
  const auto put = [plugin, asked, reason = std::string(why)] {
    const api::ObjectMeta& meta = asked->workload->meta;
    const sluice_check_cancel_t raw{sizeof(sluice_check_cancel_t),
                                    0,
                                    asked->attempt,
                                    abi_of(meta.ns),
                                    abi_of(meta.name),
                                    abi_of(meta.uid),
                                    abi_of(asked->check),
                                    abi_of(reason)};
    return plugin->extensions().check_controller->cancel(plugin->self(), &raw);
  };
  plugin->ask(Hook::kCancelCheck, about_of(*asked->workload), put,
              [](Answer, const hooks::Fault&, bool) {});  // faults are counted and logged
}

CheckTelling CheckBridge::explain(const CheckQuery& query) {
  SLUICE_CHECK(query.workload != nullptr, "a check without a workload: ", query.check);
  LoadedPlugin* plugin = find(query.check_json);
  if (plugin == nullptr) return {};
  const sluice_check_controller_t& table = *plugin->extensions().check_controller;
  if (!SLUICE_HAS(&table, explain) || table.explain == nullptr) return {};
  // Whoever waits for an answer of its process is not to be disturbed.
  if (plugin->pause() > 0) return {{}, true};
  const sluice_check_query_t raw = raw_of(query);
  IncomingText text(kMessageBytes);
  const sluice_sink_t sink = text.sink();
  hooks::Fault fault;
  bool more_soon = false;
  const Answer answer =
      plugin->call_with(Access::kReads, Hook::kExplainCheck, about_of(*query.workload), fault, [&] {
        std::int32_t code = table.explain(plugin->self(), &raw, &sink);
        more_soon = code == SLUICE_RETRY;
        if (more_soon) code = SLUICE_OK;
        return plugin->judged(code, text.too_long("what it says"));
      });
  if (answer == Answer::kLater) return {{}, true};
  return answer == Answer::kOk ? CheckTelling{text.shown_lines(), more_soon} : CheckTelling();
}

std::string CheckBridge::trouble(std::string_view check_json, std::string_view workload) const {
  const LoadedPlugin* plugin = find(check_json);
  if (plugin == nullptr || plugin->health().quarantined()) return {};
  const auto failed = failed_.find({plugin, std::string(workload)});
  if (!plugin->away() && failed == failed_.end()) return {};
  const std::string fault = failed == failed_.end() ? "" : ": " + failed->second;
  return std::string(plugin->away() ? kPluginGone : kPluginFailed) + fault;
}

std::vector<std::string> CheckBridge::take_restarted() {
  std::vector<std::string> names;
  for (auto& [plugin, watch] : restarts_) {
    if (!watch.take_restarted()) continue;
    for (const auto& [name, answers] : by_name_)
      if (answers == plugin) names.push_back(name);
  }
  return names;
}

std::vector<CheckReport> CheckBridge::take_reports() {
  std::vector<CheckReport> all;
  for (LoadedPlugin* plugin : plugins_)
    for (CheckReport& report : plugin->host_side().take_reports()) all.push_back(std::move(report));
  return all;
}

}  // namespace sluice::host
