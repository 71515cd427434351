#include "queues.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace afs {
namespace {

using sluice::Json;
using sluice::ObjectRef;

/// After so many half-lives nothing is left of what was: time alone changes no order any more.
constexpr double kMemoryInHalfLives = 10;
/// So long it is remembered who left: more than what changed in one commit takes to be looked at.
constexpr std::int64_t kLeftSeconds = 10;

std::string key_in(const Json& object) {
  return object.string_or("metadata.namespace", "") + "/" + object.string_or("metadata.name", "");
}

/// The text of a quantity, which JSON may have as a number, too.
double amount_at(const Json* value, double otherwise) {
  if (value == nullptr || value->is_object() || value->is_array()) return otherwise;
  return quantity_of(value->as_string()).value_or(otherwise);
}

Amounts amounts_at(const Json& object, std::string_view path) {
  Amounts out;
  if (const Json* found = object.find(path))
    for (const auto& [resource, amount] : found->members()) out[resource] = amount_at(&amount, 0);
  return out;
}

/// Does it hold quota?
bool holds(const Json& workload) {
  return workload.find("status.admission") != nullptr &&
         sluice::condition_is_true(workload, "QuotaReserved") &&
         !sluice::condition_is_true(workload, "Finished");
}

/// Some plugin answers for it: then what plugins note on it was not written by its user.
bool claimed(const Json& workload) {
  return !sluice::annotation_of(workload, sluice::mark::kClaimedBy).empty();
}

/// It takes no part: what its status shows is held by another workload.
bool stands_aside(const Json& workload) {
  return claimed(workload) && !sluice::annotation_of(workload, sluice::mark::kTakesNoPart).empty();
}

/// The workload whose place it has in turn with others: that of which it is an option, or the first
/// of its slices. Without either its own.
std::string place_of(const Json& workload) {
  const std::string ns = workload.string_or("metadata.namespace", "") + "/";
  const Json* owner = sluice::controller_of(workload);
  if (owner == nullptr || !claimed(workload)) return key_in(workload);
  if (owner->string_or("kind", "") == "Workload") return ns + owner->string_or("name", "");
  const std::string first = sluice::annotation_of(workload, "kueue.x-k8s.io/workload-slice-name");
  return first.empty() ? key_in(workload) : ns + first;
}

/// The pods of a pod set that are not given back yet, as the engine counts them.
std::int64_t remaining_of(const Json& workload, const std::string& pod_set, std::int64_t assigned) {
  std::int64_t wanted = assigned, over = 0;
  if (const Json* sets = workload.find("spec.podSets"))
    for (const Json& set : sets->items())
      if (set.string_or("name", "") == pod_set) wanted = set.int_or("count", assigned);
  if (const Json* given_back = workload.find("status.reclaimablePods"))
    for (const Json& each : given_back->items())
      if (each.string_or("name", "") == pod_set) over = each.int_or("count", 0);
  return std::clamp<std::int64_t>(wanted - std::max<std::int64_t>(over, 0), 0, assigned);
}

/// What it holds now: for the pods that it was granted and that are not over.
Amounts held_by(const Json& workload) {
  Amounts out;
  const Json* sets = workload.find("status.admission.podSetAssignments");
  if (sets == nullptr) return out;
  for (const Json& set : sets->items()) {
    const std::int64_t assigned = std::max<std::int64_t>(set.int_or("count", 0), 0);
    double part = 1;
    if (assigned > 0)
      part = static_cast<double>(remaining_of(workload, set.string_or("name", ""), assigned)) /
             static_cast<double>(assigned);
    for (const auto& [resource, amount] : amounts_at(set, "resourceUsage"))
      out[resource] += amount * part;
  }
  return out;
}

/// The resources of a ClusterQueue whose LocalQueues are served by use; nullopt: they are not.
std::optional<std::set<std::string, std::less<>>> ordered_by_use(const Json& queue) {
  if (queue.string_or("spec.admissionScope.admissionMode", "") != "UsageBasedAdmissionFairSharing")
    return std::nullopt;
  std::set<std::string, std::less<>> out;
  const Json* groups = queue.find("spec.resourceGroups");
  for (std::size_t i = 0; groups != nullptr && i < groups->size(); ++i) {
    const Json* covered = groups->items()[i].find("coveredResources");
    for (std::size_t j = 0; covered != nullptr && j < covered->size(); ++j)
      out.insert(std::string(covered->items()[j].as_string()));
  }
  return out;
}

/// Seconds since 1970; nullopt: it is no time.
std::optional<std::int64_t> seconds_of(const std::string& text) {
  const auto time = sluice::parse_time(text);
  return time ? std::optional(*time / 1'000'000'000) : std::nullopt;
}

std::int64_t number_of(double share) {
  constexpr double kMost = 9.2e18;
  if (!(share < kMost)) return std::numeric_limits<std::int64_t>::max();
  return std::llround(share);
}

}  // namespace

void Queues::look_at(const ObjectRef& what) {
  if (!learnt_) return learn();
  const auto object = context_.objects().find(what);
  const Json* present = object ? &*object : nullptr;
  const std::string key = what.ns + "/" + what.name;
  if (what.kind == "ClusterQueue") take_cluster_queue(what.name, present);
  if (what.kind == "LocalQueue") take_local_queue(key, present);
  if (what.kind == "Workload") take_workload(key, present);
}

/// Goes on where the statuses end: nothing is settled before all are there that held quota since.
void Queues::learn() {
  for (const Json& each : context_.objects().list(kVersion, "ClusterQueue"))
    take_cluster_queue(each.string_or("metadata.name", ""), &each);
  for (const Json& each : context_.objects().list(kVersion, "LocalQueue"))
    take_local_queue(key_in(each), &each);
  std::multimap<std::int64_t, std::pair<std::string, Holder>> holding;  // since when
  std::vector<std::pair<std::string, std::string>> waiting;
  for (const Json& each : context_.objects().list(kVersion, "Workload")) {
    Standpoint found = standpoint_of(each);
    if (!found.waits_in.empty()) waiting.emplace_back(key_in(each), std::move(found.waits_in));
    if (!found.holds) continue;
    const std::int64_t since = seconds_of(found.holds->since).value_or(0);
    holding.emplace(since, std::pair(key_in(each), std::move(*found.holds)));
  }
  for (auto& [since, each] : holding) resume(each.first, std::move(each.second));
  for (const auto& [key, local_queue] : waiting) wait(key, local_queue);
  last_event_ = now();
  learnt_ = true;
  for (auto& [key, local] : locals_) begin_to_tell(key, local);
}

/// It holds that since its reservation, of which the status counts what was before its lastUpdate.
/// REQUIRES: all that have held quota for longer were resumed.
void Queues::resume(const std::string& key, Holder holder) {
  if (const auto local = locals_.find(holder.local_queue); local != locals_.end()) {
    Usage& usage = local->second.usage;
    settle(usage, std::min(seconds_of(holder.since).value_or(0), now()), rates_);
    afs::hold(usage, holder.amounts);
  }
  note(key, std::move(holder));
}

void Queues::note(const std::string& key, Holder holder) {
  if (holder.place != key) in_place_of_[holder.place].insert(key);
  holders_[key] = std::move(holder);
}

/// What others of its place hold, or held until it got its quota: the LocalQueue was counted as
/// holding that before, so only what is more enters.
Amounts Queues::counted_before(const std::string& key, const Holder& holder) const {
  Amounts out;
  const auto add = [&](const std::string& local_queue, const Amounts& amounts) {
    if (local_queue != holder.local_queue) return;
    for (const auto& [resource, amount] : amounts) out[resource] += amount;
  };
  const auto add_holder = [&](const std::string& other) {
    const auto it = other == key ? holders_.end() : holders_.find(other);
    if (it != holders_.end()) add(it->second.local_queue, it->second.amounts);
  };
  add_holder(holder.place);
  if (const auto others = in_place_of_.find(holder.place); others != in_place_of_.end())
    for (const std::string& other : others->second) add_holder(other);
  // Both change in one commit, and who leaves may be looked at first.
  if (const auto left = left_.find(holder.place);
      left != left_.end() && left->second.key != key &&
      left->second.at >= seconds_of(holder.since).value_or(now()))
    add(left->second.local_queue, left->second.amounts);
  return out;
}

void Queues::take_cluster_queue(const std::string& name, const Json* object) {
  const auto covered = object != nullptr ? ordered_by_use(*object) : std::nullopt;
  const bool was = shared_.contains(name);
  if (!was && !covered) return;
  if (covered)
    shared_[name] = *covered;
  else
    shared_.erase(name);
  for (auto& [key, local] : locals_) {
    if (local.cluster_queue != name) continue;
    if (was != covered.has_value()) context_.order_changed(key);
    begin_to_tell(key, local);
  }
}

const Queues::Resources* Queues::covered_of(const Local& local) const {
  const auto it = shared_.find(local.cluster_queue);
  return it == shared_.end() ? nullptr : &it->second;
}

/// Who has used nothing yet says so: it is served by that already. Not before all is read.
void Queues::begin_to_tell(const std::string& key, Local& local) {
  const Resources* covered = covered_of(local);
  if (!learnt_ || covered == nullptr ||
      std::includes(local.shown.begin(), local.shown.end(), covered->begin(), covered->end()))
    return;
  settle(local.usage, now(), rates_);
  tell(key, local);
}

void Queues::take_local_queue(const std::string& key, const Json* object) {
  if (object == nullptr) {
    locals_.erase(key);
    untold_.erase(key);
    return;
  }
  const auto [it, fresh] = locals_.try_emplace(key);
  Local& local = it->second;
  if (fresh) {
    const char* kStatus = "status.fairSharing.admissionFairSharingStatus";
    local.usage.consumed = amounts_at(*object, std::string(kStatus) + ".consumedResources");
    const auto at = seconds_of(object->string_or(std::string(kStatus) + ".lastUpdate", ""));
    local.usage.at = at.value_or(now());
    for (const auto& [resource, amount] : local.usage.consumed) local.shown.insert(resource);
    for (const auto& [workload, holder] : holders_)
      if (holder.local_queue == key) afs::hold(local.usage, holder.amounts);
    for (const auto& [workload, queue] : waits_in_)
      if (queue == key) local.waiting.insert(workload);
  }
  const std::string queue = object->string_or("spec.clusterQueue", "");
  const double weight = amount_at(object->find("spec.fairSharing.weight"), 1);
  if (queue == local.cluster_queue && weight == local.weight) return;
  local.cluster_queue = queue;
  local.weight = weight;
  context_.order_changed(key);
  begin_to_tell(key, local);
}

Queues::Standpoint Queues::standpoint_of(const Json& workload) {
  Standpoint out;
  if (sluice::condition_is_true(workload, "Finished") || stands_aside(workload)) return out;
  std::string local_queue =
      workload.string_or("metadata.namespace", "") + "/" + workload.string_or("spec.queueName", "");
  if (!holds(workload)) {
    out.waits_in = std::move(local_queue);
    return out;
  }
  out.holds =
      Holder{std::move(local_queue), workload.string_or("metadata.uid", ""),
             sluice::find_condition(workload, "QuotaReserved")->string_or("lastTransitionTime", ""),
             place_of(workload), held_by(workload)};
  return out;
}

/// One that holds quota and did not before has got it just now.
void Queues::take_workload(const std::string& key, const Json* object) {
  Standpoint found = object != nullptr ? standpoint_of(*object) : Standpoint{};
  const bool has_quota = found.holds.has_value();
  wait(key, found.waits_in);
  const auto known = holders_.find(key);
  if (known != holders_.end() && has_quota && known->second == *found.holds) return;
  // Fewer pods in the same reservation are no further entry.
  const bool goes_on = known != holders_.end() && has_quota &&
                       known->second.uid == found.holds->uid &&
                       known->second.since == found.holds->since;
  // Whoever is to be told is told when all is counted.
  std::set<std::string> changed;
  if (known != holders_.end()) {
    changed.insert(known->second.local_queue);
    release(key);
  }
  if (has_quota) {
    changed.insert(found.holds->local_queue);
    hold(key, std::move(*found.holds), !goes_on);
  }
  for (const std::string& each : changed)
    if (const auto local = locals_.find(each); local != locals_.end())
      tell(local->first, local->second);
}

/// `enters`: what it adds is counted as if it had been used for a while already.
void Queues::hold(const std::string& key, Holder holder, bool enters) {
  if (const auto local = locals_.find(holder.local_queue); local != locals_.end()) {
    Usage& usage = local->second.usage;
    settle(usage, now(), rates_);
    if (enters && shared(local->second))
      afs::enter(usage, holder.amounts, counted_before(key, holder), rates_);
    else
      afs::hold(usage, holder.amounts);
  }
  note(key, std::move(holder));
  last_event_ = now();
}

void Queues::release(const std::string& key) {
  const auto known = holders_.find(key);
  if (const auto local = locals_.find(known->second.local_queue); local != locals_.end()) {
    settle(local->second.usage, now(), rates_);
    leave(local->second.usage, known->second.amounts);
  }
  Holder& holder = known->second;
  if (const auto others = in_place_of_.find(holder.place); others != in_place_of_.end()) {
    others->second.erase(key);
    if (others->second.empty()) in_place_of_.erase(others);
  }
  if (now() - forgot_left_at_ > kLeftSeconds) {
    std::erase_if(left_, [&](const auto& each) { return now() - each.second.at > kLeftSeconds; });
    forgot_left_at_ = now();
  }
  left_[holder.place] = {key, std::move(holder.local_queue), std::move(holder.amounts), now()};
  holders_.erase(known);
  last_event_ = now();
}

/// In that LocalQueue from now on; empty: it does not wait.
void Queues::wait(const std::string& key, const std::string& local_queue) {
  const auto known = waits_in_.find(key);
  if (known == waits_in_.end() ? local_queue.empty() : known->second == local_queue) return;
  if (known != waits_in_.end()) {
    if (const auto local = locals_.find(known->second); local != locals_.end())
      local->second.waiting.erase(key);
    waits_in_.erase(known);
  }
  if (local_queue.empty()) return;
  waits_in_[key] = local_queue;
  last_event_ = now();
  const auto local = locals_.find(local_queue);
  if (local == locals_.end()) return;
  const bool first = local->second.waiting.empty();
  local->second.waiting.insert(key);
  if (!first || !shared(local->second)) return;
  for (auto& [name, other] : locals_) {  // they are compared as of one moment
    if (other.cluster_queue != local->second.cluster_queue) continue;
    settle(other.usage, now(), rates_);
    context_.order_changed(name);
  }
}

bool Queues::worth_sampling() const {
  const double remembered = kMemoryInHalfLives * rates_.half_life_seconds;
  if (static_cast<double>(now() - last_event_) > remembered) return false;
  if (!untold_.empty()) return true;
  return std::any_of(locals_.begin(), locals_.end(), [this](const auto& each) {
    return shared(each.second) && !each.second.waiting.empty();
  });
}

void Queues::sample() {
  for (auto& [key, local] : locals_) {
    if (!shared(local)) continue;
    settle(local.usage, now(), rates_);
    tell(key, local);
  }
}

/// Writes what has been used, and lets the host ask for the new place. A status that is refused (a
/// namespace is full) keeps no other LocalQueue waiting: the next sample writes it.
void Queues::tell(const std::string& key, Local& local) {
  if (!shared(local)) return;
  context_.order_changed(key);
  Json status = Json::object();
  Json& fair = status["status"]["fairSharing"];
  fair["weightedShare"] = Json(number_of(share_of(local.usage.consumed, local.weight, rates_)));
  Json& told = fair["admissionFairSharingStatus"];
  told["lastUpdate"] = Json(sluice::time_text(local.usage.at * 1'000'000'000));
  Json& consumed = told["consumedResources"] = Json::object();
  Resources shown = *covered_of(local);  // of these also what was not used
  for (const std::string& resource : shown) consumed[resource] = Json("0");
  for (const auto& [resource, amount] : local.usage.consumed) {
    consumed[resource] = Json(quantity_text(amount));
    shown.insert(resource);
  }
  for (const std::string& resource : local.shown)  // a merge patch forgets what is null
    if (!shown.contains(resource)) consumed[resource] = Json();
  const std::size_t slash = key.find('/');
  const ObjectRef ref{std::string(kVersion), "LocalQueue", key.substr(0, slash),
                      key.substr(slash + 1)};
  const auto written = context_.objects().patch(ref, status, "status");
  if (written || written.code == sluice::ObjectCode::kNotFound) {
    local.shown = std::move(shown);
    untold_.erase(key);
    return;
  }
  if (written.code == sluice::ObjectCode::kNotNow) written.or_throw();
  if (untold_.insert(key).second)
    context_.warn("the status of LocalQueue " + key +
                  " is refused, and written later: " + written.text);
}

std::optional<Queues::Standing> Queues::standing(std::string_view local_queue) const {
  const auto it = locals_.find(local_queue);
  if (it == locals_.end() || !shared(it->second)) return std::nullopt;
  const Local& local = it->second;
  Standing out;
  out.share = share_of(local.usage.consumed, local.weight, rates_);
  out.because = "LocalQueue " + it->first + " has used ";
  std::string parts;
  for (const auto& [resource, amount] : local.usage.consumed) {
    if (amount == 0) continue;
    parts += (parts.empty() ? "" : ", ") + told_amount(resource, amount);
  }
  out.because += parts.empty() ? "nothing lately" : parts + " on average";
  if (local.weight != 1) out.because += ", with weight " + quantity_text(local.weight);
  return out;
}

}  // namespace afs
