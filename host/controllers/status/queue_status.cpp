#include "host/controllers/status/queue_status.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <functional>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "core/model/model.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr Duration kShortestPause = 100 * kMillisecond;
constexpr Duration kAfterTheEngine = kMillisecond;
/// All queues together are written so often at most: where 1,000 are busy, each every two seconds.
constexpr Duration kPausePerBusyQueue = 2 * kMillisecond;

/// The condition Active; its time stays while its value does.
json::array active_condition(const json::object& object, bool active, std::string_view reason,
                             std::string_view message, Time now) {
  json::object condition = make_condition("Active", active, reason, message, now);
  if (const auto generation = api::find_int(part(object, "metadata"), "generation"))
    condition["observedGeneration"] = *generation;
  keep_transition(condition, find_condition(part(object, "status"), "Active"));
  return {std::move(condition)};
}

std::string amount_text(const std::string& resource, std::int64_t amount) {
  return api::engine_quantity(resource, amount).text();
}

using Amount = std::function<std::int64_t(const FlavorUse&)>;

/// `[{name: flavor, resources: [{name, total, borrowed}]}]`
json::array by_flavor(const std::vector<FlavorUse>& use, const Amount& total,
                      const Amount& borrowed) {
  json::array out;
  for (const FlavorUse& each : use) {
    auto it = std::find_if(out.begin(), out.end(), [&](const json::value& flavor) {
      return api::find_text(flavor.get_object(), "name") == each.flavor;
    });
    if (it == out.end()) {
      out.push_back(json::object{{"name", each.flavor}, {"resources", json::array()}});
      it = out.end() - 1;
    }
    json::object resource{{"name", each.resource},
                          {"total", amount_text(each.resource, total(each))}};
    if (borrowed) resource["borrowed"] = amount_text(each.resource, borrowed(each));
    array_of(it->get_object(), "resources").push_back(std::move(resource));
  }
  return out;
}

void set_counts(json::object& status, const QueueCounts& counts) {
  status["pendingWorkloads"] = counts.pending;
  status["reservingWorkloads"] = counts.reserving;
  status["admittedWorkloads"] = counts.admitted;
}

/// What a LocalQueue uses of each flavor of its ClusterQueue, and nothing of it included.
void describe_use(const QueueView& queue, const LocalQueueView* own, json::object& status) {
  const auto own_use = [&](const FlavorUse& of) -> FlavorUse {
    if (own)
      for (const FlavorUse& use : own->use)
        if (use.flavor == of.flavor && use.resource == of.resource) return use;
    return {};
  };
  status["flavorsReservation"] =
      by_flavor(queue.use, [&](const FlavorUse& use) { return own_use(use).reserved; }, {});
  status["flavorsUsage"] =
      by_flavor(queue.use, [&](const FlavorUse& use) { return own_use(use).used; }, {});
}

/// The ClusterQueue whose quota the workload held before the change, whatever became of the
/// LocalQueue that led there; empty: it held none.
std::string held_before(const ObjectChange& workload) {
  if (!workload.before) return {};
  return api::text_at(api::member_text(workload.before->status, "admission"), "clusterQueue");
}

/// The key of the LocalQueue that a workload names.
std::string local_queue_of(const StoredObject& workload) {
  if (!workload.body) return {};
  return join_key(workload.ns(),
                  api::text_at(api::member_text(*workload.body, "spec"), "queueName"));
}

Result<void> write(ObjectAccess& objects, const api::KindInfo& kind, const std::string& key,
                   json::object status) {
  if (auto done = objects.update_status(kind, key, std::move(status)); !done)
    return Error{done.error().text};
  return {};
}

}  // namespace

QueueStatusController::QueueStatusController(const api::Scheme& scheme, const Engine& engine,
                                             bool fair_sharing)
    : engine_(engine),
      fair_sharing_(fair_sharing),
      workloads_(&api::kueue_kind(scheme, "Workload")),
      cluster_queues_(&api::kueue_kind(scheme, "ClusterQueue")),
      local_queues_(&api::kueue_kind(scheme, "LocalQueue")),
      cohorts_(&api::kueue_kind(scheme, "Cohort")),
      checks_(&api::kueue_kind(scheme, "AdmissionCheck")) {}

std::vector<std::string> QueueStatusController::watches() const {
  return {"kueue.x-k8s.io/Workload",       "kueue.x-k8s.io/ClusterQueue",
          "kueue.x-k8s.io/LocalQueue",     "kueue.x-k8s.io/Cohort",
          "kueue.x-k8s.io/ResourceFlavor", "kueue.x-k8s.io/AdmissionCheck"};
}

void QueueStatusController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  const bool own_write = change.kind != workloads_ && change.kind != checks_ && change.stored &&
                         change.before && same_but_status(*change.stored, *change.before);
  if (own_write) return;  // a status alone, ours as a rule
  if (change.kind == workloads_) {
    for (std::string& queue : queues_of(change))
      keys.push_back({cluster_queues_, std::move(queue)});
  } else if (change.kind == cluster_queues_) {
    keys.push_back({cluster_queues_, change.key});
  } else if (change.kind == local_queues_) {
    place_local_queue(change, keys);
  } else {  // a flavor, a cohort or a check may make any queue active or inactive
    for (std::string& queue : cluster_queues(engine_.model()))
      keys.push_back({cluster_queues_, std::move(queue)});
  }
  if (fair_sharing_) keys.push_back(all_cohorts());
}

// Queues name themselves, so what is in them or makes them active need not.
void QueueStatusController::loaded(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind == cluster_queues_ || change.kind == local_queues_) changed(change, keys);
  const bool told = change.stored && !change.stored->status.empty();  // of another configuration
  if (change.kind == cohorts_ && (fair_sharing_ || told)) keys.push_back(all_cohorts());
}

/// The ClusterQueues that count the workload, or did before the change: the one whose quota it held
/// and those that its LocalQueue leads to, before and now.
std::vector<std::string> QueueStatusController::queues_of(const ObjectChange& workload) const {
  const Model& model = engine_.model();
  std::set<std::string> out = {held_before(workload)};
  const auto id = engine_.find(workload.key);
  if (id && workload.stored && workload.before &&
      same_but_status(*workload.stored, *workload.before)) {
    out.insert(cluster_queue_of(model, join_key(workload.ns(), engine_.object(*id)->queue_name)));
  } else {
    for (const StoredObject* version : {workload.stored, workload.before})
      if (version) out.insert(cluster_queue_of(model, local_queue_of(*version)));
  }
  out.erase("");
  return {out.begin(), out.end()};
}

void QueueStatusController::place_local_queue(const ObjectChange& change,
                                              std::vector<WorkKey>& keys) {
  if (const auto old = queue_of_local_.find(change.key); old != queue_of_local_.end()) {
    keys.push_back({cluster_queues_, old->second});
    locals_of_[old->second].erase(change.key);
    queue_of_local_.erase(old);
  }
  if (!change.stored || !change.stored->body) return;
  const json::object body = parse_stored(*change.stored->body);
  const std::string queue(api::find_text(part(body, "spec"), "clusterQueue"));
  queue_of_local_[change.key] = queue;
  locals_of_[queue].insert(change.key);
  keys.push_back({cluster_queues_, queue});
}

Result<Time> QueueStatusController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  // Named just now: the engine takes the change in after the controllers have run.
  const auto [due, fresh] = due_.try_emplace(key, objects.now() + kAfterTheEngine);
  if (fresh) {
    const auto busy = static_cast<Duration>(due_.size());
    const Duration pause = std::max(kShortestPause, busy * kPausePerBusyQueue);
    if (const auto last = written_.find(key); last != written_.end())
      due->second = std::max(due->second, last->second + pause);
  }
  if (objects.now() < due->second) return due->second;
  // Nor has it taken anything in while plugins look at what was loaded, before its first cycle.
  if (engine_.model().tree_stale) return due->second = objects.now() + kShortestPause;
  due_.erase(due);
  written_[key] = objects.now();
  if (auto done = key.kind == cohorts_ ? write_cohorts(objects) : write_queue(key.name, objects);
      !done)
    return done.error();
  return kNever;
}

Result<void> QueueStatusController::write_queue(const std::string& name, ObjectAccess& objects) {
  const auto view = queue_view(engine_.model(), name);
  if (view) {
    if (const auto object = objects.get(*cluster_queues_, name)) {
      json::object status = part(*object, "status");
      status["conditions"] =
          active_condition(*object, view->active, view->reason, view->message, objects.now());
      set_counts(status, view->counts);
      status["flavorsReservation"] = by_flavor(
          view->use, [](const FlavorUse& use) { return use.reserved; },
          [](const FlavorUse& use) { return use.borrowed_by_reserved(); });
      status["flavorsUsage"] = by_flavor(
          view->use, [](const FlavorUse& use) { return use.used; },
          [](const FlavorUse& use) { return use.borrowed_by_used(); });
      if (fair_sharing_)
        status["fairSharing"] = json::object{{"weightedShare", view->weighted_share}};
      else
        status.erase("fairSharing");  // of an earlier configuration
      auto done = write(objects, *cluster_queues_, name, std::move(status));
      if (!done) return done;
    }
  }
  const auto locals = locals_of_.find(name);
  if (locals == locals_of_.end()) return {};
  const std::set<std::string> keys = locals->second;  // writing may place them anew
  for (const std::string& local : keys)
    if (auto done = write_local_queue(local, view ? &*view : nullptr, objects); !done) return done;
  return {};
}

Result<void> QueueStatusController::write_local_queue(const std::string& key,
                                                      const QueueView* queue,
                                                      ObjectAccess& objects) {
  const auto object = objects.get(*local_queues_, key);
  if (!object) return {};
  const LocalQueueView* own = nullptr;
  if (queue)
    for (const LocalQueueView& each : queue->local_queues)
      if (each.key == key) own = &each;
  json::object status = part(*object, "status");
  const std::string_view stop = api::find_text(part(*object, "spec"), "stopPolicy");
  if (!stop.empty() && stop != "None")
    status["conditions"] =
        active_condition(*object, false, "Stopped", "LocalQueue is stopped", objects.now());
  else if (!queue || !queue->active)
    status["conditions"] = active_condition(
        *object, false, queue ? "ClusterQueueIsInactive" : "ClusterQueueDoesNotExist",
        "Can't submit new workloads to clusterQueue", objects.now());
  else
    status["conditions"] = active_condition(
        *object, true, "Ready", "Can submit new workloads to localQueue", objects.now());
  set_counts(status, own ? own->counts : QueueCounts());
  for (const char* use : {"flavorsReservation", "flavorsUsage"}) status.erase(use);
  if (queue) describe_use(*queue, own, status);
  return write(objects, *local_queues_, key, std::move(status));
}

Result<void> QueueStatusController::write_cohorts(ObjectAccess& objects) {
  const auto shares = cohort_shares(engine_.model());
  for (const std::string& name : objects.keys(*cohorts_)) {
    const auto object = objects.get(*cohorts_, name);
    const auto share = shares.find(name);
    if (!object || (fair_sharing_ && share == shares.end())) continue;
    json::object status = part(*object, "status");
    if (fair_sharing_)
      status["fairSharing"] = json::object{{"weightedShare", share->second}};
    else if (status.erase("fairSharing") == 0)
      continue;
    if (auto done = write(objects, *cohorts_, name, std::move(status)); !done) return done;
  }
  return {};
}

}  // namespace sluice::host
