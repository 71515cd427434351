#include "keeper.hpp"

#include <algorithm>
#include <utility>

#include "compose.hpp"
#include "names.hpp"
#include "parents.hpp"
#include "shape.hpp"
#include "start.hpp"
#include "status.hpp"
#include "writes.hpp"

namespace pods {
namespace {

using sluice::Json;
using sluice::ObjectRef;

ObjectRef ref_of(const Json& workload) {
  return workload_ref(workload.string_or("metadata.namespace", ""),
                      workload.string_or("metadata.name", ""));
}

/// Whoever makes the pods of a replica anew begins when the last one is gone.
constexpr std::int64_t kUntilPodsCome = 10'000'000'000;  // ns

/// What it asks for cannot be taken back.
bool ends_something(const Plan& plan) {
  return !plan.stop.empty() || !plan.excess.empty() || plan.finish || plan.remove_workload;
}

std::string absent_of(std::int32_t absent, std::int32_t total) {
  return "Waits for " + std::to_string(absent) + " of its " + std::to_string(total) +
         " pods to be made anew";
}

/// No pod of it is there.
std::string all_absent(const Held& workload) {
  if (!workload.of_group) return "Waits for its pods to be made anew";
  std::int32_t total = 0;
  for (const PodSetCount& set : workload.pod_sets) total += set.count;
  return absent_of(total, total);
}

}  // namespace

bool Keeper::look_at(const ObjectRef& what) {
  if (!learnt_) learn();
  read_written();
  if (what.kind == "Pod")
    look_at_pod(what);
  else if (what.kind == "Workload")
    look_at_workload(what);
  else if (what.kind == kSetKind)
    look_at_set(what);
  else
    return settle_those_without_class();
  return true;
}

/// They are of many namespaces: one in which nothing can be written keeps no other waiting.
bool Keeper::settle_those_without_class() {
  bool done = true;
  for (const GroupKey& group : std::exchange(waits_for_class_, {})) {
    try {
      settle(group);
    } catch (const sluice::ObjectError&) {  // its pods were told
      waits_for_class_.insert(group);
      done = false;
    }
  }
  return done;
}

void Keeper::look_at_workload(const ObjectRef& what) {
  if (const GroupKey* group = roll_.of_workload(what.ns, what.name))
    return settle(GroupKey(*group));
  // No pod of it is there, and it goes with them, sooner or later.
  const auto workload = context_.objects().find(what);
  if (!workload) return forget(what.ns + "/" + what.name);
  const Sets::GetsPods gets_pods = sets_.gets_pods(*workload);
  if (gets_pods == Sets::GetsPods::kNever ||
      (gets_pods == Sets::GetsPods::kSoon && waited_for_pods(what)))
    return unless_gone(context_.objects().remove(what));
  const Held held = workload_of(*workload);
  if (held.ending) return end(*workload, all_absent(held));
  if (!held.finished && !held.reserved) note_absent(what, all_absent(held));
}

/// Whether its pods, which were to come soon, did not.
bool Keeper::waited_for_pods(const ObjectRef& workload) {
  const std::int64_t now = context_.now();
  const auto [since, first] = without_pods_.try_emplace(workload.ns + "/" + workload.name, now);
  const std::int64_t until = since->second + kUntilPodsCome;
  if (until <= now) {
    without_pods_.erase(since);
    return true;
  }
  if (first && without_pods_.size() == 1) context_.set_timer(kPodsTimer, until);
  return false;
}

/// Those of which a write is refused are looked at with the next timer.
void Keeper::look_at_those_without_pods() {
  read_written();
  if (!without_pods_.empty()) context_.set_timer(kPodsTimer, context_.now() + kUntilPodsCome);
  for (const auto& [key, since] : std::map(without_pods_)) {
    const std::size_t slash = key.find('/');
    try {
      look_at_workload(workload_ref(key.substr(0, slash), key.substr(slash + 1)));
    } catch (const sluice::ObjectError&) {
      without_pods_.emplace(key, since);
    }
  }
}

void Keeper::learn() {
  const std::string ours = std::string(kManaged) + "=true";
  for (const Json& pod : context_.objects().list("v1", "Pod", "", ours))
    if (!waits_for_parent(pod)) roll_.take(pod.string_or("metadata.namespace", ""), pod_of(pod));
  learnt_ = true;
}

void Keeper::look_at_pod(const ObjectRef& what) {
  const auto object = context_.objects().find(what);
  const bool ours = object && is_managed(*object);
  std::optional<GroupKey> before;
  std::string workload;
  if (const GroupKey* group = roll_.group_of(what.ns, what.name)) {
    before = *group;
    workload = workload_of_group(*group, roll_.first_of(*group));
  }
  sets_.forget(what.ns, what.name);
  if (!ours || waits_for_parent(*object))
    roll_.drop(what.ns, what.name);
  else
    roll_.take(what.ns, pod_of(*object));
  if (ours && waits_for_parent(*object)) sets_.tell(*object);
  const GroupKey* now = roll_.group_of(what.ns, what.name);
  const std::optional<GroupKey> present = now ? std::optional(*now) : std::nullopt;
  if (present) settle(*present);
  if (before && before != present) look_at_workload(workload_ref(before->ns, workload));
}

/// Its pods are told what it says now; where none is left its workload may go.
void Keeper::look_at_set(const ObjectRef& what) {
  for (const std::string& pod : sets_.waiting_for(what.ns, what.name))
    look_at_pod(pod_ref(what.ns, pod));
  const auto set = context_.objects().find(what);
  if (!set) return;
  const std::string group = group_of_set(what.name, set->string_or("metadata.uid", ""));
  const std::vector<Pod> pods = roll_.pods_of({what.ns, group});
  if (pods.empty()) return look_at_workload(workload_ref(what.ns, group));
  sets_.tell_again(*set, pods);
}

void Keeper::settle(const GroupKey& group) {
  std::vector<Pod> pods = roll_.pods_of(group);
  if (pods.empty()) return;  // its workload goes with them
  const std::string name = workload_of_group(group, pods.front());
  without_pods_.erase(group.ns + "/" + name);
  const auto workload = context_.objects().find(workload_ref(group.ns, name));
  std::optional<Held> held;
  if (workload)
    held = workload_of(*workload);
  else
    forget(group.ns + "/" + name);
  if (workload && name_pod_sets(group, pods, *workload)) return;  // reconcile() is called for that
  if (held && held->of_group && !held->terminating && is_of_other_pods(group, pods, *workload))
    return unless_gone(context_.objects().remove(ref_of(*workload)));
  Plan wanted = plan(pods, held ? &*held : nullptr);
  if (ends_something(wanted) && look_again(group)) {
    pods = roll_.pods_of(group);
    if (pods.empty()) return;
    wanted = plan(pods, held ? &*held : nullptr);
  }
  carry_out(wanted, group, pods, workload);
}

/// In a workload that Kueue made the pod sets have names of Kueue's: a pod of the same shape that
/// comes later is told which one is its own. Whether any was.
bool Keeper::name_pod_sets(const GroupKey& group, const std::vector<Pod>& pods,
                           const Json& workload) {
  const Json* sets = workload.find("spec.podSets");
  if (sets == nullptr || group.alone) return false;
  const auto is_named = [sets](const std::string& role) {
    return std::any_of(sets->items().begin(), sets->items().end(),
                       [&](const Json& set) { return set.string_or("name", kMain) == role; });
  };
  bool told = false;
  for (const Pod& pod : pods) {
    if (!pod.gated || is_named(pod.role)) continue;
    for (const Json& set : sets->items()) {
      const Json* model = set.find("template.spec");
      if (model == nullptr || role_of(*model) != pod.role) continue;
      Json patch = Json::object();
      patch["metadata"]["annotations"][kRole] = set.string_or("name", kMain);
      take_written(group.ns, context_.objects().patch(pod_ref(group.ns, pod.name), patch));
      told = true;
      break;
    }
  }
  return told;
}

/// Of pods that serve the template may be another since the workload was made: where none was
/// started and all of them ask for something else, they get one of their own.
bool Keeper::is_of_other_pods(const GroupKey& group, const std::vector<Pod>& pods,
                              const Json& workload) const {
  const auto started = [](const Pod& pod) { return pod.started(); };
  if (!pods.front().serving || std::any_of(pods.begin(), pods.end(), started)) return false;
  bool any = false;
  for (const Pod& each : pods) {
    const auto pod = each.gated && !each.terminating ? find_pod(group.ns, each.name) : std::nullopt;
    if (pod && asks_as_counted(*pod, workload, each.role)) return false;
    any |= pod.has_value();
  }
  return any;
}

/// Reads the group's pods anew; whether any is another than it was known to be. Where Sluice
/// decides for a cluster, what was written of them may have been taken back together with the
/// workload, and reconcile() is called for one of these first.
bool Keeper::look_again(const GroupKey& group) {
  const std::vector<Pod> before = roll_.pods_of(group);
  for (const Pod& pod : before) {
    const auto object = find_pod(group.ns, pod.name);
    if (object && is_managed(*object))
      roll_.take(group.ns, pod_of(*object));
    else
      roll_.drop(group.ns, pod.name);
  }
  return roll_.pods_of(group) != before;
}

void Keeper::carry_out(const Plan& plan, const GroupKey& group, const std::vector<Pod>& pods,
                       const std::optional<Json>& workload) {
  const bool goes_on = workload && !plan.foreign && !plan.remove_workload && !plan.finish;
  // Before a pod is let go that was made anew: with its last owner the workload would go, too.
  if (goes_on) follow(group, pods, *workload);
  for (const std::string& pod : plan.track) set_tracked(group.ns, pod, true);
  for (const std::string& pod : plan.release) set_tracked(group.ns, pod, false);
  for (const std::string& pod : plan.excess)
    drop(group.ns, pod, workload_of_group(group, pods.front()));
  for (const std::string& pod : plan.stop) stop(group.ns, pod, plan.stop_because);
  for (const std::string& pod : {plan.told, plan.told_too})
    if (!pod.empty())
      tell(true, group.ns, pod, plan.foreign ? "WorkloadNameConflict" : "ErrWorkloadCompose",
           plan.problem);
  if (!plan.create.empty()) create(plan, group, pods);
  if (!workload || plan.foreign) return;
  if (plan.remove_workload) return unless_gone(context_.objects().remove(ref_of(*workload)));
  if (plan.finish) return finish(*workload, *plan.finish);
  report(plan, *workload);
  start(plan, group, *workload);
  const std::string waits =
      plan.absent > 0 ? absent_of(plan.absent, pods.front().total) : std::string();
  if (plan.ended) return end(*workload, waits);
  note_absent(ref_of(*workload), waits);
}

/// As it is now, with what this call has written.
std::optional<Json> Keeper::find_pod(const std::string& ns, const std::string& name) const {
  return context_.objects().find(pod_ref(ns, name));
}

/// A pod of the roll was written: it is known as it is now before reconcile() is called for that.
/// The others of its group may be looked at first, and would write it again, each of them.
void Keeper::take_written(const std::string& ns, const sluice::ObjectReply& reply) {
  unless_gone(reply);
  if (!reply) return;
  Pod pod = pod_of(reply.json());
  written_.emplace_back(ns, pod.name);
  roll_.take(ns, std::move(pod));
}

/// What the last call wrote was not kept if that failed, also where it did not hear of it.
void Keeper::read_written() {
  for (const auto& [ns, name] : std::exchange(written_, {}))
    if (const auto pod = find_pod(ns, name); pod && roll_.group_of(ns, name) != nullptr)
      roll_.take(ns, pod_of(*pod));
}

void Keeper::create(const Plan& plan, const GroupKey& group, const std::vector<Pod>& pods) {
  const auto shown = std::find_if(plan.create.begin(), plan.create.end(),
                                  [](const NewPodSet& set) { return !set.model.empty(); });
  if (shown == plan.create.end()) return;  // its pods say that they are of other pod sets
  const std::string told = shown->model;
  const auto first = find_pod(group.ns, told);
  const auto models = first ? models_of(plan, group, *first) : std::nullopt;
  if (!models) return;  // reconcile() is called for that
  const Wishes wishes = wishes_of(*first, context_.objects());
  if (!wishes.missing.empty()) {
    waits_for_class_.insert(group);
    return tell(true, group.ns, told, "WorkloadPriorityClassNotFound", wishes.missing);
  }
  const std::string name = workload_of_group(group, pods.front());
  const auto made =
      context_.objects().create(compose(name, plan.create, *models, pods, wishes, label_keys_));
  if (!made) tell(true, group.ns, told, "ErrWorkloadCompose", made.text);
  if (made.code == sluice::ObjectCode::kInvalid) return;
  made.or_throw();
  tell(false, group.ns, told, "CreatedWorkload", "Created Workload: " + group.ns + "/" + name);
}

/// A pod of each pod set, or what `said_by` tells of those that are not there yet; nullopt: one of
/// them is gone.
std::optional<std::vector<Json>> Keeper::models_of(const Plan& plan, const GroupKey& group,
                                                   const Json& said_by) const {
  std::vector<Json> out;
  for (const NewPodSet& set : plan.create) {
    std::optional<Json> model =
        set.model.empty() ? said_model(said_by, set.name) : find_pod(group.ns, set.model);
    if (!model) return std::nullopt;
    (*model)["metadata"]["namespace"] = group.ns;
    out.push_back(std::move(*model));
  }
  return out;
}

void Keeper::start(const Plan& plan, const GroupKey& group, const Json& workload) {
  const auto flavor = [this](const std::string& name) {
    return context_.objects().find({std::string(kKueue), "ResourceFlavor", "", name});
  };
  const std::string queue = workload.string_or("status.admission.clusterQueue", "");
  for (const std::string& name : plan.start) {
    auto pod = find_pod(group.ns, name);
    if (!pod || !pod_of(*pod).gated) continue;
    const std::string role = pod_of(*pod).role;
    if (std::string wrong = let_start(*pod, workload, role, flavor); !wrong.empty()) {
      tell(true, group.ns, name, "FailedToStart", wrong);
      // One that serves would only be made again.
      if (pod_of(*pod).serving) continue;
      return finish(workload, {"FailedToStart", "Pod " + name + ": " + wrong});
    }
    const auto started = context_.objects().update(*pod);
    if (started)
      tell(false, group.ns, name, "Started", "Admitted by clusterQueue " + queue);
    else if (started.code != sluice::ObjectCode::kNotFound)
      tell(true, group.ns, name, "StartRefused", started.text);
    take_written(group.ns, started);
  }
}

void Keeper::stop(const std::string& ns, const std::string& name, const Ending& why) {
  const auto pod = find_pod(ns, name);
  if (!pod || pod_of(*pod).terminating) return;
  Json patch = Json::object();
  patch["status"] =
      with_condition(*pod, {std::string(kStopped), true, why.reason, why.message}, context_.now());
  unless_gone(context_.objects().patch(pod_ref(ns, name), patch, "status"));
  unless_gone(context_.objects().remove(pod_ref(ns, name)));
  tell(false, ns, name, "Stopped", why.message);
}

/// The pod is gone at once, so its workload tells of it, too.
void Keeper::drop(const std::string& ns, const std::string& name, const std::string& workload) {
  const auto pod = find_pod(ns, name);
  if (!pod || pod_of(*pod).terminating) return;
  tell(false, ns, name, "ExcessPodDeleted", "Its group has all of its pods without it");
  unless_gone(context_.objects().remove(pod_ref(ns, name)));
  context_.event(false, ns, workload, "ExcessPodDeleted", "Excess pod deleted: " + name);
}

void Keeper::set_tracked(const std::string& ns, const std::string& name, bool tracked) {
  const auto pod = find_pod(ns, name);
  if (!pod || pod_of(*pod).tracked == tracked) return;
  Json left = Json::array();
  if (const Json* present = pod->find("metadata.finalizers"))
    for (const Json& each : present->items())
      if (each.as_string() != kManaged) left.push_back(each);
  if (tracked) left.push_back(kManaged);
  Json patch = Json::object();
  patch["metadata"]["finalizers"] = left.size() > 0 ? std::move(left) : Json();
  take_written(ns, context_.objects().patch(pod_ref(ns, name), patch));
}

/// Keeps what a waiting workload wishes, and who owns it, in line with its pods. Of owners an
/// object has so many at most: pods that are gone are not among them when others come.
void Keeper::follow(const GroupKey& group, const std::vector<Pod>& pods, const Json& workload) {
  Json patch = Json::object();
  Json owners = Json::array();
  std::set<std::string> there, known;
  for (const Pod& pod : pods) there.insert(pod.uid);
  if (const Json* present = workload.find("metadata.ownerReferences"))
    for (const Json& each : present->items()) {
      const std::string uid = each.string_or("uid", "");
      if (each.string_or("kind", "") == "Pod" && !there.contains(uid)) continue;
      known.insert(uid);
      owners.push_back(each);
    }
  const std::size_t before = owners.size();
  for (Json& ours : owners_of(pods))
    if (!known.contains(ours.string_or("uid", ""))) owners.push_back(std::move(ours));
  if (owners.size() > before) patch["metadata"]["ownerReferences"] = std::move(owners);
  if (!workload_of(workload).reserved) {
    const auto pod = find_pod(group.ns, pods.front().name);
    const Wishes wishes = pod ? wishes_of(*pod, context_.objects()) : Wishes();
    if (wishes.missing.empty())
      for (const auto& [field, value] : wishes.spec.members()) {
        const Json* has = workload.find("spec." + field);
        if (has == nullptr || *has != value) patch["spec"][field] = value;
      }
  }
  if (patch.size() > 0) unless_gone(context_.objects().patch(ref_of(workload), patch));
}

void Keeper::report(const Plan& plan, const Json& workload) {
  // In a simulation no pod runs: it says itself how workloads fare.
  const std::optional<bool> ready = context_.simulated() ? std::nullopt : plan.ready;
  const Json status = status_of(workload, plan, ready, context_.now());
  if (status.size() == 0) return;
  Json patch = Json::object();
  patch["status"] = status;
  unless_gone(context_.objects().patch(ref_of(workload), patch, "status"));
}

void Keeper::finish(const Json& workload, const Ending& how) {
  Json patch = Json::object();
  patch["status"] =
      with_condition(workload, {"Finished", true, how.reason, how.message}, context_.now());
  unless_gone(context_.objects().patch(ref_of(workload), patch, "status"));
}

void Keeper::note_absent(const ObjectRef& workload, std::string why) {
  const std::string key = workload.ns + "/" + workload.name;
  std::string& lacks = looked_at_[key];
  const bool assumed = assumed_.erase(key) > 0;
  if (!assumed && lacks == why) return;
  lacks = std::move(why);
  context_.traits_changed(key);
}

void Keeper::forget(const std::string& workload) {
  looked_at_.erase(workload);
  assumed_.erase(workload);
  without_pods_.erase(workload);
}

/// As the pods are now: where Sluice decides for a cluster, one that was let go of may have been
/// taken back, and reconcile() is called for its workload first.
bool Keeper::anything_runs(const Json& workload) const {
  const ObjectRef ref = ref_of(workload);
  if (workload_of(workload).of_group) {
    const std::string ours = std::string(kGroup) + "=" + ref.name;
    const auto runs = [](const Json& pod) { return is_managed(pod) && pod_of(pod).started(); };
    const std::vector<Json> labelled = context_.objects().list("v1", "Pod", ref.ns, ours);
    if (!labelled.empty()) return std::any_of(labelled.begin(), labelled.end(), runs);
    // They name it by an annotation, which no list can be asked for.
    for (const Pod& known : roll_.pods_of({ref.ns, ref.name}))
      if (const auto pod = find_pod(ref.ns, known.name); pod && runs(*pod)) return true;
    return false;
  }
  if (const Json* owners = workload.find("metadata.ownerReferences"))
    for (const Json& owner : owners->items()) {
      const auto pod = find_pod(ref.ns, owner.string_or("name", ""));
      if (!pod || pod->string_or("metadata.uid", "") != owner.string_or("uid", "")) continue;
      if (pod_of(*pod).started()) return true;
    }
  return false;
}

/// Its eviction. It is not queued again before its traits were asked for: they say that its pods
/// are not there.
void Keeper::end(const Json& workload, std::string why_it_waits) {
  if (anything_runs(workload)) return;  // reconcile() is called for that
  const ObjectRef ref = ref_of(workload);
  const std::string key = ref.ns + "/" + ref.name;
  context_.ended(key);
  looked_at_[key] = std::move(why_it_waits);
  assumed_.erase(key);
  context_.traits_changed(key);
}

std::optional<std::string> Keeper::lacks_pods(const sluice::Workload& workload) {
  const std::string key = workload.key();
  if (const auto found = looked_at_.find(key); found != looked_at_.end())
    return found->second.empty() ? std::nullopt : std::optional(found->second);
  if (workload.condition("Evicted") != "True") return std::nullopt;
  assumed_.insert(key);
  const auto told = workload.condition_details("QuotaReserved");
  return told && told->reason == "OnHold" ? std::string(told->message)
                                          : "Waits for its pods to be looked at";
}

void Keeper::tell(bool warning, const std::string& ns, const std::string& pod,
                  std::string_view reason, std::string_view message) const {
  context_.event(warning, pod_ref(ns, pod), reason, message);
}

}  // namespace pods
