#include "host/explain/insight.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "core/engine/queue_views.hpp"
#include "core/reasons/eviction_reason.hpp"
#include "host/controllers/checks/check_query.hpp"
#include "host/explain/advice.hpp"
#include "host/explain/document.hpp"
#include "host/explain/obstacles.hpp"
#include "host/explain/pod_troubles.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// As in Kueue: whose it is. How the garbage collector takes that is in the object itself.
json::object reference_to(const api::OwnerReference& owner) {
  return {{"apiVersion", owner.api_version},
          {"kind", owner.kind},
          {"name", owner.name},
          {"uid", owner.uid}};
}

/// From what the engine has: to read the stored object of each of a thousand takes ten times as
/// long, and writers wait for it.
json::object metadata_of(const api::ObjectMeta& meta) {
  json::object out{{"name", meta.name}, {"namespace", meta.ns}};
  if (meta.creation_time) out["creationTimestamp"] = format_time(*meta.creation_time);
  json::array owners;
  for (const api::OwnerReference& owner : meta.owners) owners.push_back(reference_to(owner));
  if (!owners.empty()) out["ownerReferences"] = std::move(owners);
  return out;
}

/// Before what is there: it has to happen first.
void put_first(json::array help, json::object& document) {
  if (help.empty()) return;
  json::array& others = array_of(document, "wouldHelp");
  help.insert(help.end(), others.begin(), others.end());
  others = std::move(help);
}

/// Its pods were not ready in time, or it is off: what they failed of comes first.
void add_pod_trouble(const ObjectAccess& objects, const std::string& key, json::object& document) {
  const std::string_view state = api::find_text(document, "state");
  const bool late =
      api::find_text(part(document, "evicted"), "reason") == eviction_reason::kPodsReadyTimeout;
  if (!late && state != "Inactive" && state != "Admitted") return;
  const std::string trouble = trouble_of_pods(objects, key);
  if (!trouble.empty()) put_first({json::value(trouble)}, document);
}

/// That a job failed, and at what limit, says little of why.
void add_pod_failure(const ObjectAccess& objects, const std::string& key, json::object& document) {
  if (api::find_text(document, "state") != "Finished" ||
      api::find_text(document, "reason") != "Failed")
    return;
  if (std::string failure = failure_of_pods(objects, key); !failure.empty())
    document["pods"] = std::move(failure);
}

/// Whose pods have to be ready first, of those that the asker may know; the others are counted.
std::string awaited_text(const Engine& engine, const MayKnow& may_know) {
  constexpr std::size_t kNamed = 3;
  std::string names;
  std::size_t named = 0, more = 0;
  for (const WorkloadId id : holders_not_ready(engine.model())) {
    const std::string& key = engine.key(id);
    if (named == kNamed || (may_know && !may_know(namespace_of(key)))) {
      ++more;
      continue;
    }
    names += (named++ == 0 ? "" : ", ") + key;
  }
  std::string out = "the pods of all that are admitted have to be ready first";
  if (!names.empty()) out += ": " + names;
  if (more > 0) out += fmt::format("{}{} more", names.empty() ? ": " : " and ", more);
  return out;
}

/// Before other advice: while its queue admits nothing, no other step helps. Else what keeps it
/// from being looked at, where that is not quota.
void add_obstacles(const Engine& engine, const ObjectAccess& objects, const std::string& key,
                   const MayKnow& may_know, json::object& document) {
  const std::string_view state = api::find_text(document, "state");
  if (state != "Pending" && state != "Inactive") return;
  const std::string queue(api::find_text(part(document, "queue"), "localQueue"));
  json::array help;
  const std::string ns(namespace_of(key));
  for (const std::string& text : obstacles_of(objects, ns, queue)) help.emplace_back(text);
  put_first(std::move(help), document);
  json::array& others = array_of(document, "wouldHelp");
  const std::string reason = text_in(document, "reason");
  if (!others.empty() || state != "Pending" || is_short_of_quota(reason)) return;
  others.emplace_back(reason == "WaitingForPodsReady"
                          ? awaited_text(engine, may_know)
                          : "this has to change: " + text_in(document, "message"));
}

/// Beside what keeps it now: what is more than there ever is does not fit when that is gone,
/// either. Of a queue that cannot serve, what it has says nothing.
void add_lasting_help(const Engine& engine, WorkloadId id, json::object& document) {
  const std::string reason = text_in(document, "reason");
  if (api::find_text(document, "state") != "Pending" || is_short_of_quota(reason) ||
      reason == "Misconfigured")
    return;
  const MayKnow nobody = [](std::string_view) { return false; };  // it names none
  for (const std::string& text : lasting_advice_of(engine.explain(id, nobody)))
    array_of(document, "wouldHelp").emplace_back(text);
}

/// Who holds quota waits for those who answer for its checks: whether they do comes before that
/// they have to.
void add_obstacles_of_checks(const ObjectAccess& objects, json::object& document) {
  if (api::find_text(document, "state") != "QuotaReserved" || !document.contains("checks")) return;
  json::array help;
  for (const json::value& check : document["checks"].as_array()) {
    if (api::find_text(check.as_object(), "state") == "Ready") continue;
    const std::string name(api::find_text(check.as_object(), "name"));
    if (const std::string text = obstacle_of_check(objects, name); !text.empty())
      help.emplace_back(text);
  }
  put_first(std::move(help), document);
}

void tell(const CheckTelling& told, json::object& check) {
  for (const std::string& line : told.lines) array_of(check, "details").emplace_back(line);
  if (told.more_soon) check["awaited"] = true;
}

/// What those who answer for its checks have to say beside the states. `awaited`: of those checks
/// alone of which more was awaited.
void add_details(const Engine& engine, const ObjectAccess& objects, WorkloadId id,
                 CheckControllers& plugins, json::object& document, bool awaited) {
  if (!document.contains("checks")) return;
  for (json::value& each : document["checks"].as_array()) {
    json::object& check = each.as_object();
    if (awaited && !check.contains("awaited")) continue;
    check.erase("awaited");
    const auto query = check_query(engine, objects, id, text_in(check, "name"));
    if (!query) continue;
    if (awaited) check.erase("details");
    tell(plugins.explain(*query), check);
    const std::string trouble = plugins.trouble(query->check_json, engine.key(id));
    if (!trouble.empty() && trouble != text_in(check, "message"))  // which says it already
      array_of(check, "details").emplace_back(trouble);
  }
}

}  // namespace

json::object explain_workload(const Engine& engine, const ObjectAccess& objects, WorkloadId id,
                              const MayKnow& may_know) {
  json::object document = explanation_document(engine, id, objects.now(), may_know);
  const std::string& key = engine.key(id);
  add_obstacles(engine, objects, key, may_know, document);
  add_lasting_help(engine, id, document);
  add_obstacles_of_checks(objects, document);
  add_pod_trouble(objects, key, document);
  add_pod_failure(objects, key, document);
  return document;
}

ApiResult<json::value> LiveInsight::pending(const ObjectAccess& objects, const std::string& ns,
                                            const std::string& queue, std::int64_t offset,
                                            std::int64_t limit) const {
  const std::string local = ns.empty() ? "" : join_key(ns, queue);
  const api::KindInfo& kind =
      api::kueue_kind(objects.scheme(), ns.empty() ? "ClusterQueue" : "LocalQueue");
  if (!objects.exists(kind, ns.empty() ? queue : local)) return not_found(kind, queue);
  const std::string cluster_queue = ns.empty() ? queue : cluster_queue_of(engine_.model(), local);
  json::array items;
  for (const PendingWorkload& each : sluice::pending_workloads(
           engine_.model(), cluster_queue, local, static_cast<std::size_t>(offset),
           static_cast<std::size_t>(limit))) {
    items.push_back(json::object{{"metadata", metadata_of(engine_.object(each.id)->meta)},
                                 {"priority", each.priority},
                                 {"localQueueName", each.local_queue},
                                 {"positionInClusterQueue", each.position_in_cluster_queue},
                                 {"positionInLocalQueue", each.position_in_local_queue}});
  }
  return json::value(json::object{{"kind", "PendingWorkloadsSummary"},
                                  {"apiVersion", "visibility.kueue.x-k8s.io/v1beta2"},
                                  {"metadata", json::object()},
                                  {"items", std::move(items)}});
}

void LiveInsight::pending_workloads(std::string ns, std::string queue, std::int64_t offset,
                                    std::int64_t limit, Done done) {
  kernel_.post([this, ns = std::move(ns), queue = std::move(queue), offset, limit,
                done = std::move(done)](ObjectAccess& objects) {
    done(pending(objects, ns, queue, offset, limit));
  });
}

void LiveInsight::explain(std::string ns, std::string workload, MayKnow may_know, Done done) {
  kernel_.post([this, ns = std::move(ns), workload = std::move(workload),
                may_know = std::move(may_know), done = std::move(done)](ObjectAccess& objects) {
    const auto id = engine_.find(join_key(ns, workload));
    if (!id) return done(not_found(api::kueue_kind(objects.scheme(), "Workload"), workload));
    json::object document = explain_workload(engine_, objects, *id, may_know);
    if (checks_ != nullptr) add_details(engine_, objects, *id, *checks_, document, false);
    done(json::value(std::move(document)));
  });
}

void LiveInsight::await(std::string ns, std::string workload, json::object document, Done done) {
  kernel_.post([this, ns = std::move(ns), workload = std::move(workload),
                document = std::move(document),
                done = std::move(done)](ObjectAccess& objects) mutable {
    const auto id = engine_.find(join_key(ns, workload));
    if (!id) return done(not_found(api::kueue_kind(objects.scheme(), "Workload"), workload));
    if (checks_ != nullptr) add_details(engine_, objects, *id, *checks_, document, true);
    done(json::value(std::move(document)));
  });
}

}  // namespace sluice::host
