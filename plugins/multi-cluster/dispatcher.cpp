#include "dispatcher.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "names.hpp"

namespace clusters {

using sluice::Again;
using sluice::CheckAnswer;
using sluice::Json;
using sluice::ObjectRef;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kNotFound = 404;
// In milliseconds: what a cluster refuses it refuses again, unless somebody does something.
constexpr std::int64_t kRestAfterFailure = 5'000;
// One that answers no questions is asked again after so long: it may have become another.
constexpr std::int64_t kSilent = 600'000 * kMillisecond;

const Json* state_of(const Json& workload, const std::string& check) {
  const Json* states = workload.find("status.admissionChecks");
  for (std::size_t i = 0; states != nullptr && i < states->size(); ++i)
    if (states->items()[i].string_or("name", "") == check) return &states->items()[i];
  return nullptr;
}

std::string text_in(const Json& object, const char* map, std::string_view name) {
  const Json* all = object.find(map);
  const Json* found = all == nullptr ? nullptr : all->member(name);
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

std::string key_of(const WorkloadName& workload) { return workload.ns + "/" + workload.name; }

WorkloadName named(const std::string& key) {
  const std::size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

/// The earlier of the two.
Again sooner(Again one, Again other) {
  return one.after_ms == 0 || (other.after_ms > 0 && other.after_ms < one.after_ms) ? other : one;
}

/// Which of a job's workloads tells how it stands with it: the one with the most.
enum Standing { kSuperseded, kEnded, kWaits, kRuns };
Standing standing_of(const Json& slice) {
  if (has_condition(slice, "Finished")) {
    const std::string why = condition(slice, "Finished")->string_or("reason", "");
    return why == "WorkloadSliceReplaced" || why == "OutOfSync" ? kSuperseded : kEnded;
  }
  return has_condition(slice, "Admitted") ? kRuns : kWaits;
}

CheckAnswer answer_of(const Verdict& verdict) {
  switch (verdict.state) {
    case Verdict::State::kReady:
      return CheckAnswer::ready(verdict.message);
    case Verdict::State::kRetry:
      return CheckAnswer::retry(verdict.message);
    case Verdict::State::kRejected:
      return CheckAnswer::rejected(verdict.message);
    case Verdict::State::kPending:
      break;
  }
  return CheckAnswer::pending(verdict.message);
}

}  // namespace

Dispatcher::Dispatcher(const sluice::Context& context, Settings settings)
    : context_(context),
      settings_(std::move(settings)),
      dispatched_(context.counter_in_full("multikueue_workloads_dispatched_total",
                                          "Workloads that were copied to a cluster",
                                          {"cluster_queue", "cluster"})),
      admitted_(context.counter_in_full("multikueue_workloads_admitted_total",
                                        "Workloads that a cluster was chosen for",
                                        {"cluster_queue", "cluster"})) {}

void Dispatcher::end(const sluice::CheckAttempt& attempt) {
  const auto it = attempts_.find(attempt.uid);
  if (it == attempts_.end() || it->second.attempt != attempt.attempt) return;
  asking_[it->second.check].forget(attempt.workload_namespace + "/" + attempt.workload);
  attempts_.erase(it);
  nominated_since_.erase(attempt.uid);
}

std::vector<WorkloadName> Dispatcher::under_way() const {
  std::vector<WorkloadName> out;
  for (const auto& [uid, attempt] : attempts_)
    out.push_back({attempt.workload_namespace, attempt.workload});
  return out;
}

ObjectRef Dispatcher::workload_ref(const Case& of) const {
  return {std::string(kKueue), "Workload", of.name.ns, of.name.name};
}

/// Of the copy at a place, which may have got another name there.
ObjectRef Dispatcher::copy_ref(const Case& of, const Place& place) const {
  ObjectRef out = workload_ref(of);
  if (!place.workload.name.empty()) out.name = place.workload.name;
  return out;
}

ObjectRef Dispatcher::job_ref(const Case& of) const {
  return {of.kind->api_version, of.kind->kind, of.name.ns, of.job_name};
}

Origin Dispatcher::origin(const Case& of) const {
  return {settings_.origin, of.uid, of.local.attempt};
}

bool Dispatcher::concerns(const WorkloadName& workload) const {
  const auto object =
      context_.objects().find({std::string(kKueue), "Workload", workload.ns, workload.name});
  return !object || std::any_of(checks_.begin(), checks_.end(), [&](const auto& check) {
    return state_of(*object, check.first) != nullptr;
  });
}

Again Dispatcher::settle(const WorkloadName& workload, const std::string& job) {
  const Again again = settle_one(workload, job);
  const auto elastic = elastic_job_of_.find(workload);
  if (elastic == elastic_job_of_.end()) return again;
  // What one of a job's workloads becomes concerns the others.
  Again out = again;
  for (const Json& each : kin_of(workload.ns, elastic->second.second)) {
    const WorkloadName other{workload.ns, each.string_or("metadata.name", "")};
    if (other == workload || has_condition(each, "Finished")) continue;
    out = sooner(out, settle_one(other, {}));
  }
  return out;
}

Again Dispatcher::settle_one(const WorkloadName& workload, const std::string& job) {
  Case of;
  of.name = workload;
  of.job_name = job;
  read_local(of);
  const bool holds = of.local.there && !of.local.finished && of.workload &&
                     has_condition(*of.workload, "QuotaReserved") && !of.check.empty();
  // The host tells of an attempt after a start: until then nothing is known of it.
  if (holds && !of.attempt) return {};
  if (of.local.wants) {
    if (const std::string why = refusal(of); !why.empty()) {
      tell(of, {Verdict::State::kRejected, why});
      return {};
    }
  }
  const std::vector<Place> places = read_places(of);
  const Plan plan = plan_of(of.local, places, settings_.policy);
  carry_out(of, places, plan);
  if (settings_.policy.asks_first && !of.check.empty()) return ask_first(of, places, plan);
  return Again{plan.again_ms};
}

std::vector<std::string> Dispatcher::explain(const WorkloadName& workload) {
  Case of;
  of.name = workload;
  read_local(of);
  if (!of.workload || !of.local.wants) return {};
  std::vector<std::string> asked;
  if (!of.local.chosen.empty())
    asked = {of.local.chosen};
  else if (!of.local.runs_at.empty())
    asked = {of.local.runs_at};
  else if (const Json* names = of.workload->find("status.nominatedClusterNames"))
    for (const Json& name : names->items()) asked.push_back(name.as_string());
  const bool chosen = !of.local.chosen.empty() || of.local.growth;
  std::vector<std::string> out;
  for (const std::string& cluster : asked)
    for (std::string& line : told_by(telling(of, cluster, chosen))) out.push_back(std::move(line));
  const auto check = checks_.find(of.check);
  if (chosen || asked.empty() || check == checks_.end()) return out;
  const auto left =
      std::count_if(check->second.begin(), check->second.end(), [&](const std::string& cluster) {
        return std::find(asked.begin(), asked.end(), cluster) == asked.end();
      });
  if (left > 0) out.push_back(not_asked(static_cast<std::size_t>(left)));
  return out;
}

Telling Dispatcher::telling(const Case& of, const std::string& cluster, bool chosen) {
  Telling out;
  out.cluster = cluster;
  out.chosen = chosen;
  const auto state = context_.remotes().state(cluster);
  out.reachable = state && state->connected && state->synced;
  if (state && !out.reachable) {
    out.lost_since = state->since;
    out.given_up_at = state->since + settings_.policy.lost_timeout_ms * kMillisecond;
  }
  if (of.kind != nullptr && !of.job_name.empty()) {
    out.job = context_.remotes().find(cluster, job_ref(of));
    out.job_write = writing(cluster, job_ref(of));
  }
  out.workload = copy_there(of, out);
  out.workload_write = writing(cluster, workload_ref(of));
  return out;
}

/// Of a job that may change its size it is the one of the same size.
std::optional<Json> Dispatcher::copy_there(const Case& of, const Telling& told) const {
  if (of.local.elastic && told.job)
    for (Json& slice : context_.remotes().list(
             told.cluster, kKueue, "Workload", of.name.ns,
             std::string(kJobUid) + "=" + told.job->string_or("metadata.uid", "")))
      if (size_of(slice) == of.local.own_size && !has_condition(slice, "Finished"))
        return std::move(slice);
  return context_.remotes().find(told.cluster, workload_ref(of));
}

/// What the plan says of asking, and what has arrived.
Again Dispatcher::ask_first(const Case& of, const std::vector<Place>& places, const Plan& plan) {
  Asking& asking = asking_[of.check];
  const std::string key = key_of(of.name);
  const bool arrived = std::any_of(places.begin(), places.end(), [&](const Place& place) {
    return (place.workload.there && place.workload.attempt == of.local.attempt) ||
           place.workload_write.failed;
  });
  if (arrived || !of.local.wants) asking.arrived(key);
  if (!of.local.wants) asking.forget(key);
  if (plan.ask) asking.want(key);
  return sooner(Again{plan.again_ms}, go_on_asking(of.check));
}

/// The clusters of a check that can be asked now.
std::vector<std::string> Dispatcher::who_tells(const std::string& check) {
  std::vector<std::string> out;
  for (const std::string& cluster : checks_[check]) {
    const auto state = context_.remotes().state(cluster);
    if (state && state->connected && state->synced) out.push_back(cluster);
  }
  return out;
}

/// Asks the next question of a check, if it is time for one; when to look again.
Again Dispatcher::go_on_asking(const std::string& check) {
  Asking& asking = asking_[check];
  for (;;) {
    const std::int64_t now = context_.now() / kMillisecond;
    for (const std::string& key : asking.conclude(now)) settle(named(key));
    const std::vector<std::string> clusters = who_tells(check);
    const Asking::Question question = asking.next(clusters, now);
    if (question.workloads.empty()) return Again{asking.again_ms(now)};
    std::vector<Json> copies;
    for (const std::string& key : question.workloads) {
      const auto [ns, name] = named(key);
      if (const auto workload =
              context_.objects().find({std::string(kKueue), "Workload", ns, name}))
        copies.push_back(workload_copy(*workload, {settings_.origin, {}, 0}));
    }
    const Json asked = question_about(copies, question.estimate);
    for (const std::string& cluster : clusters)
      if (!put(cluster, check, asked)) asking.hear({cluster, {}, {}, {}});
  }
}

/// Whether the cluster is asked: others are known not to answer.
bool Dispatcher::put(const std::string& cluster, const std::string& check, const Json& question) {
  const auto silent = silent_until_.find(cluster);
  if (silent != silent_until_.end() && silent->second > context_.now()) return false;
  const ObjectRef ref{std::string(kWhatIfVersion), std::string(kWhatIfKind), "", check};
  return static_cast<bool>(context_.remotes().ask(cluster, ref, question));
}

Again Dispatcher::hear(const ObjectRef& question) {
  const auto told = context_.remotes().answer(question.remote, question);
  if (told && !told->waiting) {
    if (told->code == kNotFound) silent_until_[question.remote] = context_.now() + kSilent;
    asking_[question.name].hear(told->answer ? read_outlook(question.remote, *told->answer)
                                             : Outlook{question.remote, {}, {}, {}});
  }
  return go_on_asking(question.name);
}

void Dispatcher::read_local(Case& of) {
  if (!settings_.kinds.empty()) of.kind = &settings_.kinds.front();
  of.workload = context_.objects().find(workload_ref(of));
  if (!of.workload) return read_kin(of);
  const Json& workload = *of.workload;
  of.local.there = workload.string_or("metadata.deletionTimestamp", "").empty();
  of.uid = workload.string_or("metadata.uid", "");
  of.local.finished = has_condition(workload, "Finished");
  of.local.chosen = workload.string_or("status.clusterName", "");
  of.local.priority = workload.int_or("spec.priority", 0);
  if (const Json* names = workload.find("status.nominatedClusterNames"))
    for (const Json& name : names->items()) of.local.nominated.push_back(name.as_string());
  if (const Json* owner = controller_of(workload)) {
    of.kind = nullptr;
    for (const JobKind& kind : settings_.kinds)
      if (kind.kind == owner->string_or("kind", "") &&
          kind.api_version == owner->string_or("apiVersion", ""))
        of.kind = &kind;
    of.job_name = owner->string_or("name", "");
    of.job_uid = owner->string_or("uid", "");
    if (of.kind != nullptr) of.job = context_.objects().find(job_ref(of));
  }
  if (of.job) {
    of.local.job_suspended = of.job->bool_or("spec.suspend", false);
    of.local.job_active =
        of.job->int_or("status.active", 0) > 0 || of.job->int_or("status.terminating", 0) > 0;
  }
  read_check(of);
  read_kin(of);
  if (const auto asking = asking_.find(of.check); asking != asking_.end())
    if (const auto* places = asking->second.place_of(key_of(of.name))) of.local.suggested = *places;
}

void Dispatcher::read_check(Case& of) const {
  for (const auto& [check, clusters] : checks_) {
    const Json* state = state_of(*of.workload, check);
    if (state == nullptr) continue;
    of.check = check;
    const std::string shown = state->string_or("state", "Pending");
    of.local.ready = shown == "Ready";
    const auto begun = attempts_.find(of.uid);
    if (begun != attempts_.end() && begun->second.check == check) {
      of.attempt = begun->second;
      of.local.attempt = begun->second.attempt;
    }
    of.local.wants = of.local.there && !of.local.finished && of.attempt &&
                     has_condition(*of.workload, "QuotaReserved") &&
                     (shown == "Pending" || of.local.ready);
    break;
  }
  const auto since = nominated_since_.find(of.uid);
  if (since != nominated_since_.end())
    of.local.nominated_for_ms = (context_.now() - since->second) / kMillisecond;
  else
    of.local.nominated.clear();  // their turn begins anew, after a restart too
}

/// The workloads of a job here.
std::vector<Json> Dispatcher::kin_of(const std::string& ns, const std::string& job_uid) const {
  return context_.objects().list(kKueue, "Workload", ns, std::string(kJobUid) + "=" + job_uid);
}

/// Of a job that may change its size: what its workloads are to each other.
void Dispatcher::read_kin(Case& of) {
  if (!of.workload) {
    const auto known = elastic_job_of_.find(of.name);
    if (known == elastic_job_of_.end()) return;
    std::tie(of.job_name, of.job_uid) = known->second;
  } else if (text_in(*of.workload, "metadata.annotations", kElastic) != "true" ||
             of.job_uid.empty()) {
    return;
  }
  of.local.elastic = true;
  elastic_job_of_[of.name] = {of.job_name, of.job_uid};
  if (of.workload) of.local.size = of.local.own_size = size_of(*of.workload);
  const std::string replaced =
      of.workload ? text_in(*of.workload, "metadata.annotations", kReplacementFor) : "";
  for (const Json& other : kin_of(of.name.ns, of.job_uid)) {
    const std::string name = other.string_or("metadata.name", "");
    if (name == of.name.name || has_condition(other, "Finished") ||
        !has_condition(other, "QuotaReserved"))
      continue;
    of.local.goes_on = true;
    if (replaced == of.name.ns + "/" + name) {
      const Json* state = state_of(other, of.check);
      of.local.growth = true;
      if (state != nullptr && state->string_or("state", "") == "Ready")
        of.local.runs_at = other.string_or("status.clusterName", "");
    } else if (text_in(other, "metadata.annotations", kReplacementFor) == key_of(of.name)) {
      of.local.size = std::max(of.local.size, size_of(other));
    }
  }
}

/// The job there is that of all workloads of the job here: which of those there is this one's.
void Dispatcher::read_kin_there(const Case& of, Place& place, const Json& job) {
  if (text_in(job, "metadata.annotations", kOriginJob) != of.job_uid) return;
  if (!place.job.there) place.job = read_job(job, of.uid);
  const bool runs_here = of.local.growth ? of.local.runs_at == place.name
                                         : of.local.ready && of.local.chosen == place.name;
  if (!runs_here) return;
  place.job.attempt = of.local.attempt;
  const auto slices = context_.remotes().list(place.name, kKueue, "Workload", of.name.ns,
                                              std::string(kJobUid) + "=" + place.job.uid);
  const Json* present = nullptr;
  for (const Json& slice : slices) {
    place.grown |= standing_of(slice) == kRuns && size_of(slice) == of.local.size;
    if (present == nullptr || standing_of(slice) > standing_of(*present)) present = &slice;
  }
  if (present == nullptr) return;
  place.workload = read_workload(*present, of.uid);
  place.workload.attempt = of.local.attempt;
}

/// Why the workload cannot go to another cluster, ever; empty: it can.
std::string Dispatcher::refusal(const Case& of) const {
  const Json* owner = controller_of(*of.workload);
  if (owner == nullptr) return "No multikueue adapter found";
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
  return {};
}

std::vector<Place> Dispatcher::read_places(Case& of) {
  std::vector<Place> out;
  std::vector<std::string> nominal;
  if (const auto check = checks_.find(of.check); check != checks_.end()) nominal = check->second;
  for (const std::string& name : nominal) out.push_back(read_place(of, name));
  for (const std::string& name : clusters_) {
    if (std::find(nominal.begin(), nominal.end(), name) != nominal.end()) continue;
    out.push_back(read_place(of, name));
    out.back().nominal = false;
  }
  return out;
}

Place Dispatcher::read_place(Case& of, const std::string& name) {
  Place out;
  out.name = name;
  const sluice::Remotes remotes = context_.remotes();
  const auto state = remotes.state(name);
  if (!state) {
    out.lost_for_ms = unknown_for(name);
    return out;
  }
  unknown_since_.erase(name);
  out.reachable = state->connected && state->synced;
  if (!out.reachable) out.lost_for_ms = (context_.now() - state->since) / kMillisecond;
  if (const auto there = remotes.find(name, workload_ref(of))) {
    out.workload = read_workload(*there, of.uid);
    if (of.job_name.empty()) of.job_name = out.workload.owner;
  }
  out.workload_write = writing(name, workload_ref(of));
  if (of.kind == nullptr || of.job_name.empty()) return out;
  if (const auto there = remotes.find(name, job_ref(of))) {
    if (text_in(*there, "metadata.labels", kPrebuilt) == of.name.name)
      out.job = read_job(*there, of.uid);
    if (of.local.elastic) read_kin_there(of, out, *there);
  }
  out.job_write = writing(name, job_ref(of));
  return out;
}

/// A cluster that is not connected to: its credentials cannot be used, or the host has only just
/// begun. Of one that is not named any more nobody comes back.
std::int64_t Dispatcher::unknown_for(const std::string& name) {
  const auto cluster =
      context_.objects().get({std::string(kKueue), std::string(kClusterKind), "", name});
  if (!cluster) return settings_.policy.lost_timeout_ms;
  const auto since = unknown_since_.try_emplace(name, context_.now()).first->second;
  return (context_.now() - since) / kMillisecond;
}

Writing Dispatcher::writing(const std::string& remote, const ObjectRef& ref) {
  const auto last = context_.remotes().writing(remote, ref);
  const std::string key = remote + " " + ref.kind + " " + ref.ns + "/" + ref.name;
  if (!last || !last->failed) {
    failed_since_.erase(key);
    return {last.has_value(), false, 0, 0, {}};
  }
  const std::int64_t since = failed_since_.try_emplace(key, context_.now()).first->second;
  const std::int64_t rests = kRestAfterFailure - (context_.now() - since) / kMillisecond;
  return {false, true, std::max<std::int64_t>(0, rests), last->code, last->message};
}

/// Of an object of a job that may change its size: a workload that its job has here, if there is
/// any.
std::optional<WorkloadName> Dispatcher::kin_of_copy(const ObjectRef& what, const Json& there) {
  std::optional<Json> job;
  if (what.kind != "Workload") {
    job = there;
  } else if (text_in(there, "metadata.annotations", kElastic) == "true") {
    if (const Json* owner = controller_of(there))
      job = context_.remotes().find(
          what.remote, {owner->string_or("apiVersion", ""), owner->string_or("kind", ""), what.ns,
                        owner->string_or("name", "")});
  }
  const std::string uid = job ? text_in(*job, "metadata.annotations", kOriginJob) : "";
  if (uid.empty()) return std::nullopt;
  for (const Json& each : kin_of(what.ns, uid))
    if (!has_condition(each, "Finished"))
      return WorkloadName{what.ns, each.string_or("metadata.name", "")};
  if (what.kind != "Workload") return std::nullopt;
  // Nobody's here: it goes with its job.
  return WorkloadName{what.ns, text_in(*job, "metadata.labels", kPrebuilt)};
}

std::optional<WorkloadName> Dispatcher::workload_of(const ObjectRef& what) {
  const auto there =
      context_.remotes().find(what.remote, {what.api_version, what.kind, what.ns, what.name});
  const std::pair job(what.ns, what.name);
  if (there)
    if (auto kin = kin_of_copy(what, *there)) {
      if (what.kind != "Workload") workload_by_job_[job] = kin->name;
      return kin;
    }
  if (what.kind == "Workload") return WorkloadName{what.ns, what.name};
  if (there) {
    const std::string name = text_in(*there, "metadata.labels", kPrebuilt);
    if (name.empty()) return std::nullopt;
    workload_by_job_[job] = name;
    return WorkloadName{what.ns, name};
  }
  const auto known = workload_by_job_.find(job);
  if (known == workload_by_job_.end()) return std::nullopt;
  WorkloadName out{what.ns, known->second};
  // What becomes of a write about a job that went is told by the job's name, too.
  const bool of_use =
      std::any_of(clusters_.begin(), clusters_.end(), [&](const std::string& cluster) {
        const ObjectRef ref{what.api_version, what.kind, what.ns, what.name};
        return context_.remotes().find(cluster, ref).has_value() || writing(cluster, ref).waiting;
      });
  if (!of_use) workload_by_job_.erase(known);
  return out;
}

void Dispatcher::carry_out(const Case& of, const std::vector<Place>& places, const Plan& plan) {
  const auto find = [&](const std::string& name) {
    return std::find_if(places.begin(), places.end(),
                        [&](const Place& place) { return place.name == name; });
  };
  note_places(of, plan);
  for (const Step& step : plan.steps) take(of, *find(step.place), step);
  if (!plan.show_status_of.empty()) show_status(of, plan.show_status_of);
  if (plan.finish) finish(of, *find(plan.show_status_of));
  if (plan.job_is_gone) clear_status(of);
  if (plan.verdict) tell(of, *plan.verdict);
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
    if (plan.nominate->empty())
      nominated_since_.erase(of.uid);
    else
      nominated_since_[of.uid] = context_.now();
  }
  if (merge.size() > 0) context_.objects().patch(workload_ref(of), merge, "status").or_throw();
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
      done = remotes.create(place.name, job);
      // What becomes of it is told by the job's name: where it is refused, nobody saw that job.
      workload_by_job_[{of.name.ns, of.job_name}] = of.name.name;
      break;
    }
    case Step::What::kRemoveWorkload:
      done = remotes.erase(place.name, copy_ref(of, place), place.workload.uid);
      break;
    case Step::What::kRemoveJob:
      done = remotes.erase(place.name, job_ref(of), place.job.uid);
      break;
    case Step::What::kLetGo: {
      Json merge = Json::object();
      merge["metadata"]["finalizers"] = Json();
      done = remotes.patch(place.name, copy_ref(of, place), merge);
      break;
    }
    case Step::What::kPriority: {
      Json merge = Json::object();
      const Json* reference = of.workload->find("spec.priorityClassRef");
      merge["spec"]["priority"] = of.local.priority;
      merge["spec"]["priorityClassRef"] = reference == nullptr ? Json() : *reference;
      done = remotes.patch(place.name, copy_ref(of, place), merge);
      break;
    }
    case Step::What::kResize: {
      Json merge = Json::object();
      merge["spec"]["parallelism"] = of.local.size;
      const Json* completions = of.job ? of.job->find("spec.completions") : nullptr;
      if (completions != nullptr) merge["spec"]["completions"] = *completions;
      done = remotes.patch(place.name, job_ref(of), merge);
      break;
    }
  }
  // Too many are under way: tried again when this call is repeated.
  done.or_throw();
}

void Dispatcher::show_status(const Case& of, const std::string& place) {
  if (!of.job) return;
  const auto there = context_.remotes().find(place, job_ref(of));
  if (!there) return;
  const Json* now = of.job->find("status");
  const Json* wanted = there->find("status");
  const auto merge = status_patch(now == nullptr ? Json::object() : *now,
                                  wanted == nullptr ? Json::object() : *wanted);
  if (!merge) return;
  Json patch = Json::object();
  patch["status"] = *merge;
  patch_status(job_ref(of), patch, "the status of its job");
}

void Dispatcher::finish(const Case& of, const Place& place) {
  const auto there = context_.remotes().find(place.name, copy_ref(of, place));
  const Json* finished = there ? condition(*there, "Finished") : nullptr;
  if (finished == nullptr) return;
  Json merge = Json::object();
  merge["status"]["conditions"] = with_condition(*of.workload, *finished);
  patch_status(workload_ref(of), merge, "the end of the workload");
}

/// Nothing of it runs any more.
void Dispatcher::clear_status(const Case& of) {
  Json merge = Json::object();
  for (const char* field : {"active", "ready", "terminating"}) merge["status"][field] = Json();
  patch_status(job_ref(of), merge, "the status of its job");
}

bool Dispatcher::patch_status(const ObjectRef& ref, const Json& merge, const char* what) {
  const auto done = context_.objects().patch(ref, merge, "status");
  if (!done)
    context_.warn(std::string(what) + " cannot be written, " + ref.ns + "/" + ref.name + ": " +
                  done.text);
  return static_cast<bool>(done);
}

/// Unless the workload shows it already.
void Dispatcher::tell(const Case& of, const Verdict& verdict) {
  const CheckAnswer answer = answer_of(verdict);
  const Json* shown = state_of(*of.workload, of.check);
  const std::string before = shown == nullptr ? "" : shown->string_or("state", "Pending");
  if (shown != nullptr && before == answer.state_name() &&
      (shown->string_or("message", "") == answer.message || before == "Ready"))
    return;
  context_.report(*of.attempt, answer);
  if (verdict.state != Verdict::State::kPending)
    context_.event(verdict.state != Verdict::State::kReady, of.name.ns, of.name.name, kEvent,
                   verdict.message);
}

}  // namespace clusters
