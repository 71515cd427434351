#include "cases.hpp"

#include <algorithm>

#include "names.hpp"

namespace clusters {

using sluice::Json;
using sluice::ObjectRef;

namespace {

// In milliseconds: what a cluster refuses it refuses again, unless somebody does something.
constexpr std::int64_t kRestAfterFailure = 5'000;
// Then it may have got somebody else who decides.
constexpr std::int64_t kStiffFor = 3'600'000;

std::string key_of(const std::string& remote, const ObjectRef& ref) {
  return remote + " " + ref.kind + " " + ref.ns + "/" + ref.name;
}

/// Which of a job's workloads tells how it stands with it: the one with the most.
enum Standing { kSuperseded, kEnded, kWaits, kRuns };
Standing standing_of(const Json& slice) {
  if (sluice::condition_is_true(slice, "Finished")) {
    const std::string why = sluice::find_condition(slice, "Finished")->string_or("reason", "");
    return why == "WorkloadSliceReplaced" || why == kOutOfSync ? kSuperseded : kEnded;
  }
  return sluice::condition_is_true(slice, "Admitted") ? kRuns : kWaits;
}

/// The names of the other checks of the workload that are not Ready.
std::string other_checks_of(const Json& workload, const std::string& check) {
  std::string out;
  if (const Json* states = workload.find("status.admissionChecks"))
    for (const Json& each : states->items()) {
      const std::string name = each.string_or("name", "");
      if (name != check && each.string_or("state", "Pending") != "Ready")
        out += (out.empty() ? "" : ", ") + name;
    }
  return out;
}

}  // namespace

std::string key_of(const WorkloadName& workload) { return workload.ns + "/" + workload.name; }

WorkloadName named(const std::string& key) {
  const std::size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

std::vector<std::string> Cases::clusters_of(const std::string& check) const {
  const auto it = checks_.find(check);
  return it == checks_.end() ? std::vector<std::string>() : it->second;
}

void Cases::begin(const sluice::CheckAttempt& attempt) {
  attempts_[attempt.uid] = attempt;
  const auto workload = context_.objects().find(
      {std::string(kKueue), "Workload", attempt.workload_namespace, attempt.workload});
  if (workload && sluice::condition_is_true(*workload, kRefused))
    refusals_.restore(attempt.uid,
                      sluice::find_condition(*workload, kRefused)->string_or("message", ""));
}

std::optional<Json> Cases::refusals_shown(const Case& of) const {
  const std::string message = refusals_.told(of.uid, now_ms());
  const bool refused = !message.empty();
  if (!refused && !sluice::condition_is_true(*of.workload, kRefused)) return std::nullopt;
  Json changed = *of.workload;
  const bool news = sluice::set_condition(changed, kRefused, refused ? "True" : "False",
                                          refused ? "Refused" : "Taken", message, context_.now(),
                                          of.workload->int_or("metadata.generation", 1));
  if (!news) return std::nullopt;
  return *changed.find("status.conditions");
}

std::string Cases::end(const sluice::CheckAttempt& attempt) {
  const auto it = attempts_.find(attempt.uid);
  if (it == attempts_.end() || it->second.attempt != attempt.attempt) return {};
  std::string check = it->second.check;
  attempts_.erase(it);
  nominated_since_.erase(attempt.uid);
  refusals_.end(attempt.uid, now_ms());
  return check;
}

void Cases::nominated(const std::string& uid, bool any) {
  if (any)
    nominated_since_[uid] = context_.now();
  else
    nominated_since_.erase(uid);
}

std::vector<WorkloadName> Cases::under_way() const {
  std::vector<WorkloadName> out;
  for (const auto& [uid, attempt] : attempts_)
    out.push_back({attempt.workload_namespace, attempt.workload});
  return out;
}

ObjectRef Cases::workload_ref(const Case& of) const {
  return {std::string(kKueue), "Workload", of.name.ns, of.name.name};
}

/// Of the copy at a place, which may have got another name there.
ObjectRef Cases::copy_ref(const Case& of, const Place& place) const {
  ObjectRef out = workload_ref(of);
  if (!place.workload.name.empty()) out.name = place.workload.name;
  return out;
}

ObjectRef Cases::job_ref(const Case& of) const {
  return {of.kind->api_version, of.kind->kind, of.name.ns, of.job_name};
}

bool Cases::concerns(const WorkloadName& workload) const {
  const auto object =
      context_.objects().find({std::string(kKueue), "Workload", workload.ns, workload.name});
  return !object || std::any_of(checks_.begin(), checks_.end(), [&](const auto& check) {
    return sluice::find_check_state(*object, check.first) != nullptr;
  });
}

std::vector<WorkloadName> Cases::kin(const WorkloadName& workload) {
  std::vector<WorkloadName> out;
  const KnownJob* elastic = elastic_job_of_.find(workload);
  if (elastic == nullptr) return out;
  for (const Json& each : kin_of(workload.ns, elastic->uid)) {
    WorkloadName other{workload.ns, each.string_or("metadata.name", "")};
    if (other != workload && !sluice::condition_is_true(each, "Finished"))
      out.push_back(std::move(other));
  }
  return out;
}

Case Cases::read(const WorkloadName& name, const std::string& job) {
  Case of;
  of.name = name;
  of.job_name = job;
  if (!settings_.kinds.empty()) of.kind = &settings_.kinds.front();
  of.workload = context_.objects().find(workload_ref(of));
  if (!of.workload) {
    read_kin(of);
    return of;
  }
  const Json& workload = *of.workload;
  of.local.there = workload.string_or("metadata.deletionTimestamp", "").empty();
  of.uid = workload.string_or("metadata.uid", "");
  of.local.finished = sluice::condition_is_true(workload, "Finished");
  of.local.chosen = workload.string_or("status.clusterName", "");
  of.local.priority = workload.int_or("spec.priority", 0);
  if (const Json* names = workload.find("status.nominatedClusterNames"))
    for (const Json& each : names->items()) of.local.nominated.push_back(each.as_string());
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
  return of;
}

void Cases::read_check(Case& of) const {
  for (const auto& [check, clusters] : checks_) {
    const Json* state = sluice::find_check_state(*of.workload, check);
    if (state == nullptr) continue;
    of.check = check;
    const std::string shown = state->string_or("state", "Pending");
    of.local.ready = shown == "Ready";
    of.local.other_checks = other_checks_of(*of.workload, check);
    const auto begun = attempts_.find(of.uid);
    if (begun != attempts_.end() && begun->second.check == check) {
      of.attempt = begun->second;
      of.local.attempt = begun->second.attempt;
    }
    of.local.wants = of.local.there && !of.local.finished && of.attempt &&
                     sluice::condition_is_true(*of.workload, "QuotaReserved") &&
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
std::vector<Json> Cases::kin_of(const std::string& ns, const std::string& job_uid) {
  if (const auto* names = elastic_job_of_.workloads_of(ns, job_uid)) {
    std::vector<Json> out;
    for (const std::string& name : *names) {
      auto found = context_.objects().find({std::string(kKueue), "Workload", ns, name});
      if (found && sluice::label_of(*found, kJobUid) == job_uid) out.push_back(*std::move(found));
    }
    return out;
  }
  std::vector<Json> out =
      context_.objects().list(kKueue, "Workload", ns, std::string(kJobUid) + "=" + job_uid);
  std::set<std::string> names;
  for (const Json& each : out) names.insert(each.string_or("metadata.name", ""));
  elastic_job_of_.looked_up(ns, job_uid, std::move(names));
  return out;
}

/// It is there, or may have something at other places that is to be withdrawn.
bool Cases::is_needed(const WorkloadName& workload, const KnownJob& job) {
  const ObjectRef here{std::string(kKueue), "Workload", workload.ns, workload.name};
  if (context_.objects().get(here)) return true;
  return std::any_of(clusters_.begin(), clusters_.end(), [&](const std::string& cluster) {
    return std::any_of(settings_.kinds.begin(), settings_.kinds.end(), [&](const JobKind& kind) {
      const ObjectRef ref{kind.api_version, kind.kind, workload.ns, job.name};
      const auto there = context_.remotes().find(cluster, ref);
      return (there && sluice::annotation_of(*there, kOriginJob) == job.uid) ||
             writing(cluster, ref).waiting;
    });
  });
}

/// Of a job that may change its size: what its workloads are to each other.
void Cases::read_kin(Case& of) {
  if (!of.workload) {
    const KnownJob* known = elastic_job_of_.find(of.name);
    if (known == nullptr) return;
    of.job_name = known->name;
    of.job_uid = known->uid;
  } else if (sluice::annotation_of(*of.workload, kElastic) != "true" || of.job_uid.empty()) {
    return;
  }
  of.local.elastic = true;
  if (of.workload)
    elastic_job_of_.remember(
        of.name, {of.job_name, of.job_uid},
        [&](const auto& each, const auto& job) { return each == of.name || is_needed(each, job); });
  if (of.workload) of.local.size = of.local.own_size = size_of(*of.workload);
  const std::string replaced =
      of.workload ? sluice::annotation_of(*of.workload, kReplacementFor) : "";
  for (const Json& other : kin_of(of.name.ns, of.job_uid)) {
    const std::string name = other.string_or("metadata.name", "");
    if (name == of.name.name || sluice::condition_is_true(other, "Finished") ||
        !sluice::condition_is_true(other, "QuotaReserved"))
      continue;
    of.local.goes_on = true;
    if (replaced == of.name.ns + "/" + name) {
      const Json* state = sluice::find_check_state(other, of.check);
      of.local.growth = true;
      if (state != nullptr && state->string_or("state", "") == "Ready")
        of.local.runs_at = other.string_or("status.clusterName", "");
    } else if (sluice::annotation_of(other, kReplacementFor) == key_of(of.name) &&
               other_checks_of(other, of.check).empty()) {
      of.local.size = std::max(of.local.size, size_of(other));
    }
  }
}

/// The job there is that of all workloads of the job here: which of those there is this one's.
void Cases::read_kin_there(const Case& of, Place& place, const Json& job) {
  if (sluice::annotation_of(job, kOriginJob) != of.job_uid) return;
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

/// First those of its check, then the others that are known, where something may be left of it.
std::vector<Place> Cases::read_places(Case& of) {
  std::vector<Place> out;
  const std::vector<std::string> nominal = clusters_of(of.check);
  for (const std::string& name : nominal) out.push_back(read_place(of, name));
  for (const std::string& name : clusters_) {
    if (std::find(nominal.begin(), nominal.end(), name) != nominal.end()) continue;
    out.push_back(read_place(of, name));
    out.back().nominal = false;
  }
  const auto is_left_alone = [&](const Place& place) {
    return refusals_.is_left_alone(of.uid, place.name, now_ms());
  };
  const auto begin = out.begin(), end = begin + static_cast<std::ptrdiff_t>(nominal.size());
  // Where there is no other it is asked all the same.
  if (!std::all_of(begin, end, is_left_alone))
    for (auto place = begin; place != end; ++place) place->nominal = !is_left_alone(*place);
  return out;
}

/// Since when the cluster refuses the job, over all that was tried.
void Cases::read_refusal(const Case& of, Place& place) {
  if (place.job.there)
    refusals_.taken(of.uid, place.name);
  else if (place.job_write.failed && place.job_write.code != 0 && of.local.chosen == place.name &&
           !refusals_.is_left_alone(of.uid, place.name, now_ms()))  // then it is the last attempt's
    refusals_.refused(of.uid, place.name, now_ms());
  place.refused_for_ms = refusals_.refused_for(of.uid, place.name, now_ms());
}

/// A cluster that ended a job for its new size would do so again.
void Cases::read_stiffness(const Case& of, Place& place) {
  const WorkloadCopy& copy = place.workload;
  if (copy.finished && copy.reason == kOutOfSync && copy.attempt == of.local.attempt)
    stiff_since_[place.name] = now_ms();
  const auto since = stiff_since_.find(place.name);
  place.stiff = since != stiff_since_.end() && now_ms() - since->second < kStiffFor;
}

Place Cases::read_place(Case& of, const std::string& name) {
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
    if (sluice::identifier_of(*there, kPrebuilt) == of.name.name)
      out.job = read_job(*there, of.uid);
    if (of.local.elastic) read_kin_there(of, out, *there);
  }
  out.job_write = writing(name, job_ref(of));
  read_refusal(of, out);
  if (of.local.elastic) read_stiffness(of, out);
  return out;
}

/// A cluster that is not connected to: its credentials cannot be used, or the host has only just
/// begun. Of one that is not named any more nobody comes back.
std::int64_t Cases::unknown_for(const std::string& name) {
  const auto cluster =
      context_.objects().get({std::string(kKueue), std::string(kClusterKind), "", name});
  if (!cluster) return settings_.policy.lost_timeout_ms;
  const auto since = unknown_since_.try_emplace(name, context_.now()).first->second;
  return (context_.now() - since) / kMillisecond;
}

void Cases::tries(const std::string& remote, const ObjectRef& ref) {
  failed_since_.erase(key_of(remote, ref));
}

Writing Cases::writing(const std::string& remote, const ObjectRef& ref) {
  const auto last = context_.remotes().writing(remote, ref);
  const std::string key = key_of(remote, ref);
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
std::optional<WorkloadName> Cases::kin_of_copy(const ObjectRef& what, const Json& there) {
  std::optional<Json> job;
  if (what.kind != "Workload") {
    job = there;
  } else if (sluice::annotation_of(there, kElastic) == "true") {
    if (const Json* owner = controller_of(there))
      job = context_.remotes().find(
          what.remote, {owner->string_or("apiVersion", ""), owner->string_or("kind", ""), what.ns,
                        owner->string_or("name", "")});
  }
  const std::string uid = job ? sluice::annotation_of(*job, kOriginJob) : "";
  if (uid.empty()) return std::nullopt;
  for (const Json& each : kin_of(what.ns, uid))
    if (!sluice::condition_is_true(each, "Finished"))
      return WorkloadName{what.ns, each.string_or("metadata.name", "")};
  if (what.kind != "Workload") return std::nullopt;
  // Nobody's here: it goes with its job.
  return WorkloadName{what.ns, sluice::identifier_of(*job, kPrebuilt)};
}

std::optional<WorkloadName> Cases::workload_of(const ObjectRef& what) {
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
    const std::string name = sluice::identifier_of(*there, kPrebuilt);
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

}  // namespace clusters
