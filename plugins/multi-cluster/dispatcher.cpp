#include "dispatcher.hpp"

#include <algorithm>

#include "names.hpp"

namespace clusters {

using sluice::Again;
using sluice::CheckAnswer;
using sluice::Json;
using sluice::ObjectRef;

namespace {

CheckAnswer answer_of(const Verdict& verdict) {
  switch (verdict.state) {
    case Verdict::State::kReady:
      return CheckAnswer::ready(verdict.message);
    case Verdict::State::kRetry:
      if (verdict.after_ms > 0)
        return CheckAnswer::retry(verdict.message,
                                  static_cast<std::int32_t>(verdict.after_ms / 1000));
      return CheckAnswer::retry(verdict.message);
    case Verdict::State::kRejected:
      return CheckAnswer::rejected(verdict.message);
    case Verdict::State::kPending:
      break;
  }
  return CheckAnswer::pending(verdict.message);
}

}  // namespace

Dispatcher::Dispatcher(const sluice::Context& context, Cases& cases)
    : context_(context),
      cases_(cases),
      estimates_(context, cases, [this](const WorkloadName& workload) { settle(workload); }),
      dispatched_(context.counter_in_full("multikueue_workloads_dispatched_total",
                                          "Workloads that were copied to a cluster",
                                          {"cluster_queue", "cluster"})),
      admitted_(context.counter_in_full("multikueue_workloads_admitted_total",
                                        "Workloads that a cluster was chosen for",
                                        {"cluster_queue", "cluster"})) {}

void Dispatcher::end(const sluice::CheckAttempt& attempt) {
  const std::string check = cases_.end(attempt);
  if (check.empty()) return;
  const WorkloadName workload{attempt.workload_namespace, attempt.workload};
  estimates_.forget(check, workload);
  const Case of = cases_.read(workload);
  if (of.workload && of.uid == attempt.uid) note_refusals(of);
}

Again Dispatcher::settle(const WorkloadName& workload, const std::string& job) {
  Again out = settle_one(workload, job);
  // What one of a job's workloads becomes concerns the others.
  for (const WorkloadName& other : cases_.kin(workload)) out = sooner(out, settle_one(other, {}));
  return out;
}

namespace {

/// Of those that were suggested, the ones to which it may go now; all that are, if it is none.
void leave_out_others(const std::vector<Place>& places, std::vector<std::string>& suggested) {
  std::vector<std::string> nominal;
  for (const Place& place : places)
    if (place.nominal) nominal.push_back(place.name);
  std::erase_if(suggested, [&](const std::string& name) {
    return std::find(nominal.begin(), nominal.end(), name) == nominal.end();
  });
  if (suggested.empty()) suggested = std::move(nominal);
}

}  // namespace

Again Dispatcher::settle_one(const WorkloadName& workload, const std::string& job) {
  Case of = cases_.read(workload, job);
  of.local.suggested = estimates_.place_of(of);
  const bool holds = of.local.there && !of.local.finished && of.workload &&
                     sluice::condition_is_true(*of.workload, "QuotaReserved") && !of.check.empty();
  // The host tells of an attempt after a start: until then nothing is known of it.
  if (holds && !of.attempt) return {};
  if (of.local.wants) {
    if (const std::string why = refusal(of); !why.empty()) {
      tell(of, {Verdict::State::kRejected, why});
      return {};
    }
  }
  const std::vector<Place> places = cases_.read_places(of);
  note_refusals(of);
  if (of.local.suggested) leave_out_others(places, *of.local.suggested);
  const Plan plan = plan_of(of.local, places, cases_.settings().policy);
  carry_out(of, places, plan);
  if (cases_.settings().policy.asks_first && !of.check.empty())
    return estimates_.follow(of, places, plan);
  return Again{plan.again_ms};
}

Origin Dispatcher::origin(const Case& of) const {
  return {cases_.settings().origin, of.uid, of.local.attempt};
}

/// Why the workload cannot go to another cluster, ever; empty: it can.
std::string Dispatcher::refusal(const Case& of) const {
  const Json* owner = controller_of(*of.workload);
  if (owner == nullptr) return "No multikueue adapter found";
  if (owner->string_or("apiVersion", "") == kKueue && owner->string_or("kind", "") == "Workload")
    return "Options of concurrent admission are not sent to other clusters: use a queue without "
           "concurrentAdmission, or one without this check";
  if (of.kind == nullptr)
    return "No multikueue adapter found for owner kind \"" + owner->string_or("apiVersion", "") +
           ", Kind=" + owner->string_or("kind", "") + "\"";
  if (!of.job) return {};
  const std::string managed_by = of.job->string_or("spec.managedBy", "");
  if (managed_by != kControllerName)
    return "The owner is not managed by Kueue: Expecting spec.managedBy to be \"" +
           std::string(kControllerName) + "\" not \"" + managed_by + "\"";
  if (of.local.elastic && of.kind->kind != "Job")
    return "Of elastic jobs (annotation " + std::string(kElastic) + ") a batch/v1 Job may go to " +
           "another cluster, not a " + of.kind->kind +
           ": take the annotation away, or use a queue " + "without this check";
  if ((of.kind->api_version != "batch/v1" || of.kind->kind != "Job") &&
      is_granted_less(*of.workload))
    return "Only some of its pods were admitted (minCount), which a batch/v1 Job may take to " +
           std::string("another cluster, not a ") + of.kind->kind +
           ": take the minimum away, or use a queue without this check";
  return {};
}

void Dispatcher::carry_out(const Case& of, const std::vector<Place>& places, const Plan& plan) {
  const auto find = [&](const std::string& name) {
    return std::find_if(places.begin(), places.end(),
                        [&](const Place& place) { return place.name == name; });
  };
  note_places(of, plan);
  for (const Step& step : plan.steps) take(of, *find(step.place), step);
  if (!plan.show_status_of.empty()) show_status(of, *find(plan.show_status_of));
  if (plan.finish) finish(of, *find(plan.show_status_of));
  if (plan.job_is_gone) clear_status(of);
  if (plan.verdict) tell(of, *plan.verdict);
}

/// A manager that starts anew goes on from there.
void Dispatcher::note_refusals(const Case& of) {
  if (!of.local.there || of.local.finished) return;
  const auto shown = cases_.refusals_shown(of);
  if (!shown) return;
  Json merge = Json::object();
  merge["status"]["conditions"] = *shown;
  context_.objects().patch(cases_.workload_ref(of), merge, "status").or_throw();
}

void Dispatcher::note_places(const Case& of, const Plan& plan) {
  Json merge = Json::object();
  if (plan.choose) {
    const std::string queue = of.workload->string_or("status.admission.clusterQueue", "");
    merge["status"]["clusterName"] = plan.choose->empty() ? Json() : Json(*plan.choose);
    if (!plan.choose->empty()) {
      merge["status"]["nominatedClusterNames"] = Json();
      const std::string_view labels[] = {queue, *plan.choose};
      context_.add(admitted_, 1, labels);
    }
  }
  if (plan.nominate && (!plan.choose || plan.choose->empty())) {
    Json names = Json::array();
    for (const std::string& name : *plan.nominate) names.push_back(name);
    merge["status"]["nominatedClusterNames"] = plan.nominate->empty() ? Json() : names;
    cases_.nominated(of.uid, !plan.nominate->empty());
  }
  if (merge.size() > 0)
    context_.objects().patch(cases_.workload_ref(of), merge, "status").or_throw();
}

void Dispatcher::take(const Case& of, const Place& place, const Step& step) {
  const sluice::Remotes remotes = context_.remotes();
  sluice::ObjectReply done;
  switch (step.what) {
    case Step::What::kMakeWorkload: {
      done = remotes.create(place.name, workload_copy(*of.workload, origin(of)));
      const std::string queue = of.workload->string_or("status.admission.clusterQueue", "");
      const std::string_view labels[] = {queue, place.name};
      context_.add(dispatched_, 1, labels);
      break;
    }
    case Step::What::kMakeJob: {
      if (!of.job) break;
      Json job = job_copy(*of.job, of.name.name, origin(of));
      if (of.local.elastic) job["spec"]["parallelism"] = place.workload.size;
      // A copy that an earlier version made has the pod sets that the job as it is has.
      if (!place.workload.may_get_less) take_granted(job, *of.workload);
      done = remotes.create(place.name, job);
      cases_.made_job(of);
      break;
    }
    case Step::What::kRemoveWorkload:
      done = remotes.erase(place.name, cases_.copy_ref(of, place), place.workload.uid);
      break;
    case Step::What::kRemoveJob:
      done = remotes.erase(place.name, cases_.job_ref(of), place.job.uid);
      break;
    case Step::What::kLetGo: {
      Json merge = Json::object();
      merge["metadata"]["finalizers"] = Json();
      done = remotes.patch(place.name, cases_.copy_ref(of, place), merge);
      break;
    }
    case Step::What::kPriority: {
      Json merge = Json::object();
      const Json* reference = of.workload->find("spec.priorityClassRef");
      merge["spec"]["priority"] = of.local.priority;
      merge["spec"]["priorityClassRef"] = reference == nullptr ? Json() : *reference;
      done = remotes.patch(place.name, cases_.copy_ref(of, place), merge);
      break;
    }
    case Step::What::kResize: {
      Json merge = Json::object();
      merge["spec"]["parallelism"] = place.stiff ? of.local.own_size : of.local.size;
      const Json* completions = of.job ? of.job->find("spec.completions") : nullptr;
      if (completions != nullptr) merge["spec"]["completions"] = *completions;
      done = remotes.patch(place.name, cases_.job_ref(of), merge);
      break;
    }
  }
  const bool of_job = step.what == Step::What::kMakeJob || step.what == Step::What::kRemoveJob ||
                      step.what == Step::What::kResize;
  cases_.tries(place.name, of_job ? cases_.job_ref(of) : cases_.workload_ref(of));
  // Too many are under way: tried again when this call is repeated.
  done.or_throw();
}

void Dispatcher::show_status(const Case& of, const Place& place) {
  if (!of.job || !place.job.there) return;
  const Json* now = of.job->find("status");
  const auto merge = status_patch(now == nullptr ? Json::object() : *now, place.job.status);
  if (!merge) return;
  Json patch = Json::object();
  patch["status"] = *merge;
  patch_status(cases_.job_ref(of), patch, "the status of its job");
}

void Dispatcher::finish(const Case& of, const Place& place) {
  const auto there = context_.remotes().find(place.name, cases_.copy_ref(of, place));
  const Json* finished = there ? sluice::find_condition(*there, "Finished") : nullptr;
  if (finished == nullptr) return;
  Json merge = Json::object();
  merge["status"]["conditions"] = with_condition(*of.workload, *finished);
  patch_status(cases_.workload_ref(of), merge, "the end of the workload");
}

/// Nothing of it runs any more.
void Dispatcher::clear_status(const Case& of) {
  Json merge = Json::object();
  for (const char* field : {"active", "ready", "terminating"}) merge["status"][field] = Json();
  patch_status(cases_.job_ref(of), merge, "the status of its job");
}

bool Dispatcher::patch_status(const ObjectRef& ref, const Json& merge, const char* what) {
  const auto done = context_.objects().patch(ref, merge, "status");
  if (!done)
    context_.warn(std::string(what) + " cannot be written, " + ref.ns + "/" + ref.name + ": " +
                  done.text);
  return static_cast<bool>(done);
}

/// Unless the workload shows it already; while it is Ready it keeps what was said when it became
/// so.
void Dispatcher::tell(const Case& of, const Verdict& verdict) {
  const CheckAnswer answer = answer_of(verdict);
  const bool stays_ready = of.local.ready && answer.state == CheckAnswer::State::kReady;
  if (stays_ready || sluice::shows_answer(*of.workload, of.check, answer)) return;
  context_.report(*of.attempt, answer);
  if (verdict.state != Verdict::State::kPending)
    context_.event(verdict.state != Verdict::State::kReady, of.name.ns, of.name.name, kEvent,
                   verdict.message);
}

}  // namespace clusters
