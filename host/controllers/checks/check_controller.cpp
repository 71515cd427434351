#include "host/controllers/checks/check_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "core/base/backoff.hpp"
#include "host/base/log.hpp"
#include "host/controllers/checks/check_query.hpp"
#include "host/controllers/checks/check_report.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// The sort of a key that names a controller, whose line needs a timer; checks and workloads have
/// the sort 0.
constexpr std::uint32_t kLine = 1;
/// The same of one whose plugin is gone.
constexpr std::uint32_t kAway = 2;
/// What did not begin is begun again after a second, two, four, …
constexpr Duration kFirstRetry = kSecond;
constexpr Duration kLongestRetry = 300 * kSecond;
/// Who is back sooner was not missed: nothing is written.
constexpr Duration kMissedAfter = kSecond;
/// On an AdmissionCheck: the plugin that answers for it.
constexpr std::string_view kAnsweredBy = "sluice.dev/answered-by";

std::string controller_name(const json::object& check) {
  return std::string(api::find_text(part(check, "spec"), "controllerName"));
}

std::string check_naming(std::string_view check, std::string_view controller) {
  return fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"controllerName":"{}"}}}})", check,
                     controller);
}

bool is_trouble(std::string_view message) {
  return message.starts_with(kPluginGone) || message.starts_with(kPluginFailed) ||
         message.starts_with(kPluginOff);
}

/// What the state of a check that waits says of its plugin; empty: nothing.
void tell_trouble(const std::string& key, const api::WorkloadStatus& status, std::string_view check,
                  const std::string& trouble, ObjectAccess& objects) {
  for (const api::AdmissionCheckState& now : status.admission_checks) {
    if (now.name != check) continue;
    const bool is_said = trouble.empty() ? !is_trouble(now.message) : now.message == trouble;
    if (now.state != "Pending" || is_said) return;
    api::AdmissionCheckState told = now;
    told.message = trouble;
    static_cast<void>(objects.report_check(key, told));  // refused: it changed, and is named anew
  }
}

}  // namespace

CheckController::CheckController(const api::Scheme& scheme, const Engine& engine,
                                 CheckControllers& plugins)
    : engine_(engine),
      plugins_(plugins),
      workloads_(&api::kueue_kind(scheme, "Workload")),
      checks_(&api::kueue_kind(scheme, "AdmissionCheck")),
      pods_(scheme.find("v1", "Pod")),
      lines_(plugins, kLine) {
  for (const api::KindInfo* kind : scheme.kinds())
    if (!kind->contributed_by.empty() && !kind->namespaced)
      parameter_kinds_.push_back(kind->group_kind());
}

std::vector<std::string> CheckController::watches() const {
  std::vector<std::string> kinds = parameter_kinds_;
  kinds.insert(kinds.end(), {"kueue.x-k8s.io/AdmissionCheck", "kueue.x-k8s.io/Workload"});
  return kinds;
}

void CheckController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind == checks_) {
    const bool status_alone =
        change.stored && change.before && same_but_status(*change.stored, *change.before);
    if (!status_alone) name_check(change.key, keys);
    return;
  }
  if (change.kind != workloads_) {  // it may be what checks name as their parameters
    for (const auto& [check, controller] : controller_of_) name_check(check, keys);
    return;
  }
  const bool checked =
      change.stored && !api::member_text(change.stored->status, "admissionChecks").empty();
  if (checked || begun_.contains(change.key)) keys.push_back(workload_key(change.key));
}

/// It has to be told of anew: what it says of what was does not count.
void CheckController::name_check(const std::string& check, std::vector<WorkKey>& keys) {
  told_.erase(check);
  keys.push_back(check_key(check));
}

void CheckController::take_late(LateAnswer late, std::vector<WorkKey>& keys) {
  if (late.activity) {
    const auto known = controller_of_.find(late.check);
    const auto told = told_.find(late.check);
    if (known == controller_of_.end() || known->second != late.controller || told == told_.end())
      return;
    told->second = std::move(late.activity);
    keys.push_back(check_key(late.check));
    return;
  }
  Begun* begun = find_begun(late.workload, late.check);
  if (!begun || begun->attempt != late.attempt) return;
  begun->sure = late.began;
  if (!late.began)
    begun->trouble = plugins_.quarantined(late.controller)
                         ? std::string(kPluginOff)
                         : fmt::format("{}: {}", kPluginFailed, late.fault);
  keys.push_back(workload_key(late.workload));
}

void CheckController::poll(std::vector<WorkKey>& keys) {
  for (CheckReport& report : plugins_.take_reports()) {
    std::string key = join_key(report.ns, report.name);
    reports_[key].push_back(std::move(report));
    keys.push_back(workload_key(key));
  }
  for (WorkKey& key : std::exchange(named_, {})) keys.push_back(std::move(key));
  for (LateAnswer& late : plugins_.take_late()) take_late(std::move(late), keys);
  for (const std::string& controller : plugins_.take_restarted()) begin_again(controller, keys);
  note_away(keys);
  lines_.serve(keys);
}

void CheckController::begin_again(const std::string& controller, std::vector<WorkKey>& keys) {
  for (const auto& [check, answers] : controller_of_)
    if (answers == controller) name_check(check, keys);
  for (auto& [workload, checks] : begun_) {
    for (auto& [check, begun] : checks) {
      if (begun.controller != controller) continue;
      begun.again = true;
      begun.trouble.clear();
      keys.push_back(workload_key(workload));
    }
  }
}

void CheckController::note_away(std::vector<WorkKey>& keys) {
  for (const auto& [check, controller] : controller_of_) {
    if (!plugins_.away(controller))
      away_.erase(controller);
    else if (away_.try_emplace(controller).second)
      keys.push_back({nullptr, controller, kAway});
  }
}

/// When to look again. Those whose states have to tell of it are named.
Time CheckController::look_at_away(const std::string& controller, Time now) {
  const auto found = away_.find(controller);
  if (found == away_.end() || found->second.is_told) return kNever;
  Away& away = found->second;
  if (!away.since) away.since = now;
  if (now < *away.since + kMissedAfter) return *away.since + kMissedAfter;
  away.is_told = true;
  for (const auto& [workload, checks] : begun_)
    for (const auto& [check, begun] : checks)
      if (begun.controller == controller) named_.push_back(workload_key(workload));
  for (WorkKey& key : lines_.waiting_for(controller))
    if (key.kind == workloads_) named_.push_back(std::move(key));
  return kNever;
}

Result<Time> CheckController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  if (key.sort == kLine) return lines_.due(key.name, objects.now());
  if (key.sort == kAway) return look_at_away(key.name, objects.now());
  if (key.kind == checks_) {
    if (auto done = look_at_check(key.name, objects); !done) return done.error();
    return kNever;
  }
  if (auto reports = reports_.extract(key.name)) take_in(key.name, reports.mapped(), objects);
  return look_at_workload(key.name, objects);
}

Result<void> CheckController::look_at_check(const std::string& check, ObjectAccess& objects) {
  const auto object = objects.get(*checks_, check);
  if (!object) {
    told_.erase(check);
    const auto known = controller_of_.extract(check);
    if (known && plugins_.provides(known.mapped())) plugins_.check_changed(check, {});
    return {};
  }
  const std::string controller = controller_name(*object);
  controller_of_[check] = controller;
  const std::string plugin = plugins_.plugin_of(controller);
  if (!plugin.empty()) {
    if (const auto told = told_.find(check); told != told_.end()) {
      if (!told->second) return {};  // it is named when there is an answer
      const CheckActivity activity = *told_.extract(told).mapped();
      return set_active(*object, activity, plugin, objects);
    }
    if (lines_.has_to_wait(controller, check_key(check))) return {};
    const auto activity = plugins_.check_changed(check, api::to_json(*object));
    if (activity) return set_active(*object, *activity, plugin, objects);
    told_.try_emplace(check);
    return {};
  }
  const std::string_view answered =
      api::find_text(part(part(*object, "metadata"), "annotations"), kAnsweredBy);
  if (answered.empty()) return {};
  return set_active(*object,
                    {false, "PluginNotLoaded",
                     fmt::format("Plugin {}, which answers for controller {}, is not loaded",
                                 answered, controller)},
                    answered, objects);
}

Result<void> CheckController::set_active(const json::object& before, const CheckActivity& activity,
                                         std::string_view plugin, ObjectAccess& objects) const {
  if (api::find_text(part(part(before, "metadata"), "annotations"), kAnsweredBy) != plugin) {
    json::object marked = before;
    object_of(object_of(marked, "metadata"), "annotations")[api::json_view(kAnsweredBy)] =
        api::json_view(plugin);
    if (auto done = plain(objects.update(std::move(marked))); !done) return done;
  }
  const json::object* old = find_condition(part(before, "status"), "Active");
  if (condition_says(old, activity.active, activity.reason, activity.message)) return {};
  json::object condition =
      make_condition("Active", activity.active, activity.reason, activity.message, objects.now());
  if (const auto generation = api::find_int(part(before, "metadata"), "generation"))
    condition["observedGeneration"] = *generation;
  json::object status = part(before, "status");
  put_condition(status, std::move(condition));
  return plain(objects.update_status(*checks_, key_of(before), std::move(status)));
}

/// What should be begun, against what was; when to look again.
Result<Time> CheckController::look_at_workload(const std::string& key, ObjectAccess& objects) {
  std::map<std::string, std::string> wanted;  // check → controller
  api::WorkloadStatus status;
  const auto id = engine_.find(key);
  const WorkloadState state = id ? engine_.state(*id) : WorkloadState::kFinished;
  if (state == WorkloadState::kQuotaReserved || state == WorkloadState::kAdmitted) {
    status = engine_.status(*id);
    for (const api::AdmissionCheckState& check : status.admission_checks) {
      const auto known = controller_of_.find(check.name);
      if (known != controller_of_.end() && plugins_.provides(known->second))
        wanted.emplace(check.name, known->second);
    }
  }
  const std::uint64_t attempt = id ? attempt_of(engine_.model(), *id) : 0;
  end_others(key, id.value_or(0), attempt, wanted);
  Time again = kNever;
  const Begun* failed = nullptr;
  std::string failed_check;
  for (const auto& [check, controller] : wanted) {
    const Standing standing = go_on(key, *id, check, controller, objects);
    if (standing.is == Standing::Is::kUnknown) continue;
    tell_trouble(key, status, check, standing.trouble, objects);
    if (standing.is != Standing::Is::kFailed) continue;
    const Begun* before = find_begun(key, check);
    const bool is_new = !before || before->again_at <= objects.now();
    const Begun& now =
        is_new ? note_failure(key, attempt, check, controller, standing.trouble, objects.now())
               : *before;
    again = std::min(again, now.again_at);
    if (!is_new) continue;
    failed = &now;
    failed_check = check;
  }
  if (!failed) return again;
  return Error{
      fmt::format("check {} could not begin: plugin {} did not answer properly, {} in a row",
                  failed_check, plugins_.plugin_of(failed->controller), failed->failures)};
}

/// Begins an attempt where that is due.
CheckController::Standing CheckController::go_on(const std::string& key, WorkloadId id,
                                                 const std::string& check,
                                                 const std::string& controller,
                                                 const ObjectAccess& objects) {
  const Begun* begun = find_begun(key, check);
  const bool failed = begun && !begun->trouble.empty();
  // Answered late, it is not counted yet.
  if (failed && (begun->again_at == 0 || objects.now() < begun->again_at))
    return {Standing::Is::kFailed, begun->trouble};
  if (!begun || begun->again || failed) {
    if (lines_.has_to_wait(controller, workload_key(key))) return while_away(check, controller);
    const bool begun_now = begin(id, check, controller, objects);
    if (!begun_now && plugins_.away(controller) &&
        lines_.has_to_wait(controller, workload_key(key)))
      return while_away(check, controller);  // the next life begins it
    note_service(check, controller, begun_now);
    if (!begun_now && plugins_.quarantined(controller))
      return {Standing::Is::kFailed, std::string(kPluginOff)};
    if (!begun_now) {
      std::string why = plugins_.trouble(check_naming(check, controller));
      return {Standing::Is::kFailed, why.empty() ? std::string(kPluginFailed) : std::move(why)};
    }
    begun = find_begun(key, check);
  }
  if (away_.contains(controller)) return while_away(check, controller);
  return {begun && begun->sure ? Standing::Is::kBegun : Standing::Is::kUnknown};
}

CheckController::Standing CheckController::while_away(const std::string& check,
                                                      const std::string& controller) const {
  const auto away = away_.find(controller);
  if (away == away_.end() || !away->second.is_told) return {};
  std::string trouble = plugins_.trouble(check_naming(check, controller));
  if (trouble.empty()) return {};  // it is there again
  return {Standing::Is::kAway, std::move(trouble)};
}

/// It did not begin, once more.
CheckController::Begun& CheckController::note_failure(const std::string& key, std::uint64_t attempt,
                                                      const std::string& check,
                                                      const std::string& controller,
                                                      const std::string& trouble, Time now) {
  Begun& begun = note_begun(engine_.object(*engine_.find(key))->meta, check, controller, attempt);
  begun.trouble = trouble;
  begun.again_at = later(now, backoff(kFirstRetry, begun.failures++, kLongestRetry));
  note_service(check, controller, false);
  return begun;
}

CheckController::Begun& CheckController::note_begun(const api::ObjectMeta& workload,
                                                    const std::string& check,
                                                    const std::string& controller,
                                                    std::uint64_t attempt) {
  Begun& begun = begun_[workload.key()][check];
  begun = {
      .ns = workload.ns,
      .name = workload.name,
      .uid = workload.uid,
      .controller = controller,
      .attempt = attempt,
      .failures = begun.attempt == attempt ? begun.failures : 0,
  };
  return begun;
}

CheckController::Begun* CheckController::find_begun(const std::string& key,
                                                    const std::string& check) {
  const auto workload = begun_.find(key);
  if (workload == begun_.end()) return nullptr;
  const auto begun = workload->second.find(check);
  return begun == workload->second.end() ? nullptr : &begun->second;
}

/// The check says of itself that it is not active while its plugin is in quarantine.
void CheckController::note_service(const std::string& check, const std::string& controller,
                                   bool served) {
  const bool changed =
      served ? out_of_service_.erase(check) > 0
             : plugins_.quarantined(controller) && out_of_service_.insert(check).second;
  if (changed) named_.push_back(check_key(check));
}

/// Cancels what was begun and is not wanted any more, or was begun for another attempt.
void CheckController::end_others(const std::string& key, WorkloadId id, std::uint64_t attempt,
                                 const std::map<std::string, std::string>& wanted) {
  const auto found = begun_.find(key);
  if (found == begun_.end()) return;
  BegunChecks& begun = found->second;
  for (auto it = begun.begin(); it != begun.end();) {
    const bool same = wanted.contains(it->first) && it->second.attempt == attempt &&
                      it->second.uid == engine_.object(id)->meta.uid;
    if (same || lines_.has_to_wait(it->second.controller, workload_key(key))) {
      ++it;
      continue;
    }
    if (it->second.trouble.empty()) cancel(it->first, it->second, why_ended(key));
    it = begun.erase(it);
  }
  if (begun.empty()) begun_.erase(found);
}

bool CheckController::begin(WorkloadId id, const std::string& check, const std::string& controller,
                            const ObjectAccess& objects) {
  const auto query = check_query(engine_, objects, id, check);
  if (!query) return true;  // nothing to begin with; a change comes
  if (!plugins_.begin(*query)) return false;
  Begun& begun = note_begun(query->workload->meta, check, controller, query->attempt);
  begun.sure = !plugins_.owes_answer(controller);
  if (begun.sure) begun.failures = 0;  // else it may fail yet
  return true;
}

void CheckController::cancel(const std::string& check, const Begun& begun, std::string_view why) {
  auto workload = std::make_shared<api::Workload>();
  workload->meta.ns = begun.ns;
  workload->meta.name = begun.name;
  workload->meta.uid = begun.uid;
  CheckQuery query;
  query.workload = std::move(workload);
  query.check = check;
  query.check_json = check_naming(check, begun.controller);
  query.attempt = begun.attempt;
  plugins_.cancel(query, why);
}

std::string CheckController::why_ended(const std::string& key) const {
  const auto id = engine_.find(key);
  if (!id) return "Deleted";
  if (engine_.state(*id) == WorkloadState::kFinished) return "Finished";
  const api::WorkloadStatus status = engine_.status(*id);
  const api::Condition* evicted = status.condition("Evicted");
  if (evicted && evicted->is_true()) return evicted->reason;
  return "ReservationEnded";
}

void CheckController::take_in(const std::string& key, const std::vector<CheckReport>& reports,
                              ObjectAccess& objects) {
  for (const CheckReport& report : reports) {
    const auto controller = controller_of(report.check, objects);
    const std::string owner = controller ? plugins_.plugin_of(*controller) : std::string();
    if (controller && (owner.empty() || owner != report.plugin)) {
      refuse_foreign(key, report);
      continue;
    }
    if (controller && take_in_one(key, report, objects)) continue;
    ++late_reports_;
    log(LogLevel::kDebug, "plugin " + report.plugin,
        "a report came for a reservation that has ended",
        {{"workload", key}, {"check", report.check}, {"state", report.state}});
  }
}

/// Whose the check is: the name of a controller; nullopt: there is no such check.
std::optional<std::string> CheckController::controller_of(const std::string& check,
                                                          const ObjectAccess& objects) const {
  const auto known = controller_of_.find(check);
  if (known != controller_of_.end()) return known->second;
  const auto object = objects.get(*checks_, check);  // nobody has looked at it yet
  return object ? std::optional(controller_name(*object)) : std::nullopt;
}

void CheckController::refuse_foreign(const std::string& key, const CheckReport& report) {
  ++foreign_reports_;
  if (!foreign_.insert(report.plugin).second) return;
  log(LogLevel::kWarning, "plugin " + report.plugin,
      "it answers a check that another one answers for; such reports are dropped, and told once",
      {{"workload", key}, {"check", report.check}, {"state", report.state}});
}

/// False: it is about no present reservation.
bool CheckController::take_in_one(const std::string& key, const CheckReport& report,
                                  ObjectAccess& objects) {
  const auto id = engine_.find(key);
  if (!id || attempt_of(engine_.model(), *id) != report.attempt) return false;
  const api::Workload& workload = *engine_.object(*id);
  if (workload.meta.uid != report.uid) return false;
  if (const auto fault = fault_in(report, workload, *pods_)) {
    log(LogLevel::kWarning, "plugin " + report.plugin, fault->what,
        {{"workload", key}, {"check", report.check}, {"value", fault->value}});
    return true;
  }
  api::AdmissionCheckState state;
  state.name = report.check;
  state.state = report.state;
  state.reason = report.reason;
  state.message = report.message;
  state.requeue_after_seconds = report.requeue_after_seconds;
  state.pod_set_updates = report.pod_set_updates_json;
  if (!objects.report_check(key, state)) return false;
  // It failed, and answered all the same: nothing is left to begin.
  if (Begun* begun = find_begun(key, report.check); begun && report.state != "Pending")
    begun->trouble.clear();
  return true;
}

}  // namespace sluice::host
