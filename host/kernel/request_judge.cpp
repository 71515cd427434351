#include "host/kernel/request_judge.hpp"

#include "api/json/json_text.hpp"
#include "core/model/model.hpp"
#include "core/reasons/eviction_reason.hpp"
#include "host/base/log.hpp"

namespace sluice::host {

namespace {

/// Of those that did, one may have done so in an earlier attempt: then its plugin has a say, too,
/// and the pause ends by itself.
bool said_retry(const api::AdmissionCheckState& check) {
  return check.state == "Retry" || check.retry_count > 0;
}

}  // namespace

bool RequestJudge::may_end(const EngineRequest& request) {
  const auto id = engine_.find(request.workload);
  if (!id) return false;
  const Model& model = engine_.model();
  if (!model.in_eviction(*id)) return false;  // nobody waits for its end
  const hooks::Traits* traits = model.workloads[*id].traits();
  if (traits && traits->ends_later && traits->ends_later_by == request.plugin) return true;
  return refuse(request, told_ends_,
                "it tells of the end of a workload of which it did not say that it ends later; "
                "such requests are dropped, and told once");
}

bool RequestJudge::may_take_back_retry(const EngineRequest& request) {
  const auto id = engine_.find(request.workload);
  if (!id) return false;
  const WorkloadRecord& w = engine_.model().workloads[*id];
  const ConditionRecord* evicted = w.if_true(ConditionRecord::Type::kEvicted);
  const bool waits = w.extras && w.extras->backing_off && evicted &&
                     evicted->reason == eviction_reason::kAdmissionCheck;
  if (!waits) return false;  // there is nothing to take back
  bool any = false, all = true;
  for (const api::AdmissionCheckState& check : w.checks()) {
    if (!said_retry(check)) continue;
    any = true;
    all &= answers_for(request.plugin, check.name);
  }
  if (any && all) return true;
  return refuse(request, told_retries_,
                "it puts back a workload that waits after a Retry of a check that it does not "
                "answer for: that one waits on; told once");
}

/// False; said once of each plugin.
bool RequestJudge::refuse(const EngineRequest& request, std::set<std::string>& told,
                          std::string_view why) {
  if (told.insert(request.plugin).second)
    log(LogLevel::kWarning, "plugin " + request.plugin, std::string(why),
        {{"workload", request.workload}});
  return false;
}

bool RequestJudge::answers_for(const std::string& plugin, const std::string& check) const {
  const StoredObject* stored = store_.find(check_kind_, check);
  if (!stored) return false;
  const std::string controller =
      api::text_at(api::member_text(*stored->body, "spec"), "controllerName");
  return !plugin.empty() && plugins_.plugin_of_checks(controller) == plugin;
}

}  // namespace sluice::host
