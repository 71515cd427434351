#include "host/controllers/checks/check_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/json/json_text.hpp"
#include "host/controllers/checks/check_query.hpp"

namespace sluice::host {
namespace {

/// The sort of a key that names a controller, whose line needs a timer; checks and workloads have
/// the sort 0.
constexpr std::uint32_t kLine = 1;
/// The same of one whose plugin is gone.
constexpr std::uint32_t kAway = 2;
/// Who is back sooner was not missed: nothing is written.
constexpr Duration kMissedAfter = kSecond;

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
      lines_(plugins, kLine),
      checks_(api::kueue_kind(scheme, "AdmissionCheck"), plugins, lines_),
      reports_(engine, plugins, *scheme.find("v1", "Pod"), checks_, begun_) {
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
  if (change.kind == &checks_.kind()) {
    const bool status_alone =
        change.stored && change.before && same_but_status(*change.stored, *change.before);
    if (!status_alone) checks_.name(change.key, keys);
    return;
  }
  if (change.kind != workloads_) {  // it may be what checks name as their parameters
    checks_.name_all(std::nullopt, keys);
    return;
  }
  const bool checked =
      change.stored && !api::member_text(change.stored->status, "admissionChecks").empty();
  if (checked || begun_.has(change.key)) keys.push_back(workload_key(change.key));
}

void CheckController::take_late(LateAnswer late, std::vector<WorkKey>& keys) {
  if (late.activity) return checks_.take_late(std::move(late), keys);
  BegunAttempt* begun = begun_.find(late.workload, late.check);
  if (!begun || begun->attempt != late.attempt) return;
  begun->sure = late.began;
  if (!late.began)
    begun->trouble = plugins_.quarantined(late.controller)
                         ? std::string(kPluginOff)
                         : fmt::format("{}: {}", kPluginFailed, late.fault);
  keys.push_back(workload_key(late.workload));
}

void CheckController::poll(std::vector<WorkKey>& keys) {
  for (const std::string& workload : reports_.take()) keys.push_back(workload_key(workload));
  for (WorkKey& key : std::exchange(named_, {})) keys.push_back(std::move(key));
  for (LateAnswer& late : plugins_.take_late()) take_late(std::move(late), keys);
  for (const std::string& controller : plugins_.take_restarted()) begin_again(controller, keys);
  note_away(keys);
  lines_.serve(keys);
}

void CheckController::begin_again(const std::string& controller, std::vector<WorkKey>& keys) {
  checks_.name_all(controller, keys);
  begun_.begin_again(controller);
  for (const std::string& each : begun_.workloads_of(controller))
    keys.push_back(workload_key(each));
}

void CheckController::note_away(std::vector<WorkKey>& keys) {
  for (const auto& [check, controller] : checks_.controllers()) {
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
  for (const std::string& each : begun_.workloads_of(controller))
    named_.push_back(workload_key(each));
  for (WorkKey& key : lines_.waiting_for(controller))
    if (key.kind == workloads_) named_.push_back(std::move(key));
  return kNever;
}

Result<Time> CheckController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  if (key.sort == kLine) return lines_.due(key.name, objects.now());
  if (key.sort == kAway) return look_at_away(key.name, objects.now());
  if (key.kind == &checks_.kind()) {
    if (auto done = checks_.look_at(key.name, objects); !done) return done.error();
    return kNever;
  }
  reports_.hand_in(key.name, objects);
  return look_at_workload(key.name, objects);
}

/// What should be begun, against what was; when to look again.
Result<Time> CheckController::look_at_workload(const std::string& key, ObjectAccess& objects) {
  std::map<std::string, std::string> wanted;  // check → controller
  api::WorkloadStatus status;
  const auto id = engine_.find(key);
  const WorkloadState state = id ? engine_.state(*id) : WorkloadState::kFinished;
  if (state == WorkloadState::kQuotaReserved || state == WorkloadState::kAdmitted) {
    status = engine_.status(*id);
    for (const api::AdmissionCheckState& check : status.admission_checks)
      if (const std::string* controller = checks_.answered_by_plugin(check.name))
        wanted.emplace(check.name, *controller);
  }
  const std::uint64_t attempt = id ? attempt_of(engine_.model(), *id) : 0;
  end_others(key, id.value_or(0), attempt, wanted);
  Time again = kNever;
  const BegunAttempt* failed = nullptr;
  std::string failed_check;
  for (const auto& [check, controller] : wanted) {
    const Standing standing = go_on(key, *id, check, controller, objects);
    if (standing.is == Standing::Is::kUnknown) continue;
    tell_trouble(key, status, check, standing.trouble, objects);
    if (standing.is != Standing::Is::kFailed) continue;
    const BegunAttempt* before = begun_.find(key, check);
    const bool is_new = !before || before->again_at <= objects.now();
    const BegunAttempt& now =
        is_new ? note_failure(*id, attempt, check, controller, standing.trouble, objects.now())
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
  const BegunAttempt* begun = begun_.find(key, check);
  const bool failed = begun && !begun->trouble.empty();
  // Answered late, it is not counted yet.
  if (failed && (begun->again_at == 0 || objects.now() < begun->again_at))
    return {Standing::Is::kFailed, begun->trouble};
  if (!begun || begun->again || failed) {
    if (lines_.has_to_wait(controller, workload_key(key)))
      return while_away(key, check, controller);
    const bool begun_now = begin(id, check, controller, objects);
    if (!begun_now && plugins_.away(controller) &&
        lines_.has_to_wait(controller, workload_key(key)))
      return while_away(key, check, controller);  // the next life begins it
    note_service(check, controller, begun_now);
    if (!begun_now && plugins_.quarantined(controller))
      return {Standing::Is::kFailed, std::string(kPluginOff)};
    if (!begun_now) {
      std::string why = plugins_.trouble(check_naming(check, controller), key);
      return {Standing::Is::kFailed, why.empty() ? std::string(kPluginFailed) : std::move(why)};
    }
    begun = begun_.find(key, check);
  }
  if (away_.contains(controller)) return while_away(key, check, controller);
  return {begun && begun->sure ? Standing::Is::kBegun : Standing::Is::kUnknown};
}

CheckController::Standing CheckController::while_away(const std::string& key,
                                                      const std::string& check,
                                                      const std::string& controller) const {
  const auto away = away_.find(controller);
  if (away == away_.end() || !away->second.is_told) return {};
  std::string trouble = plugins_.trouble(check_naming(check, controller), key);
  if (trouble.empty()) return {};  // it is there again
  return {Standing::Is::kAway, std::move(trouble)};
}

/// It did not begin, once more.
BegunAttempt& CheckController::note_failure(WorkloadId id, std::uint64_t attempt,
                                            const std::string& check, const std::string& controller,
                                            const std::string& trouble, Time now) {
  note_service(check, controller, false);
  return begun_.note_failure(engine_.object(id)->meta, check, controller, attempt, trouble, now);
}

/// The check says of itself that it is not active while its plugin is in quarantine.
void CheckController::note_service(const std::string& check, const std::string& controller,
                                   bool served) {
  const bool changed =
      served ? out_of_service_.erase(check) > 0
             : plugins_.quarantined(controller) && out_of_service_.insert(check).second;
  if (changed) named_.push_back(checks_.key_of(check));
}

/// Cancels what was begun and is not wanted any more, or was begun for another attempt.
void CheckController::end_others(const std::string& key, WorkloadId id, std::uint64_t attempt,
                                 const std::map<std::string, std::string>& wanted) {
  begun_.end_if(key, [&](const std::string& check, const BegunAttempt& begun) {
    const bool same = wanted.contains(check) && begun.attempt == attempt &&
                      begun.uid == engine_.object(id)->meta.uid;
    if (same || lines_.has_to_wait(begun.controller, workload_key(key))) return false;
    if (begun.trouble.empty()) cancel(check, begun, why_ended(key));
    return true;
  });
}

bool CheckController::begin(WorkloadId id, const std::string& check, const std::string& controller,
                            const ObjectAccess& objects) {
  const auto query = check_query(engine_, objects, id, check);
  if (!query) return true;  // nothing to begin with; a change comes
  if (!plugins_.begin(*query)) return false;
  BegunAttempt& begun = begun_.note(query->workload->meta, check, controller, query->attempt);
  begun.sure = !plugins_.owes_answer(controller);
  if (begun.sure) begun.failures = 0;  // else it may fail yet
  return true;
}

void CheckController::cancel(const std::string& check, const BegunAttempt& begun,
                             std::string_view why) {
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

}  // namespace sluice::host
