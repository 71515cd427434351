#include "host/explain/insight.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "core/base/check.hpp"
#include "host/explain/document.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

const api::KindInfo& kind_of(const ObjectAccess& objects, std::string_view name) {
  const api::KindInfo* kind = objects.scheme().find("kueue.x-k8s.io/v1beta2", name);
  SLUICE_CHECK(kind != nullptr, "no kind ", name);
  return *kind;
}

json::object metadata_of(const ObjectAccess& objects, const std::string& key) {
  const auto object = objects.get(kind_of(objects, "Workload"), key);
  if (!object) return {};
  json::object out;
  for (const char* name : {"name", "namespace", "creationTimestamp", "ownerReferences"})
    if (const json::value* value = part(*object, "metadata").if_contains(name)) out[name] = *value;
  return out;
}

}  // namespace

ApiResult<json::value> LiveInsight::pending(const ObjectAccess& objects, const std::string& ns,
                                            const std::string& queue, std::int64_t offset,
                                            std::int64_t limit) const {
  const std::string local = ns.empty() ? "" : ns + "/" + queue;
  const api::KindInfo& kind = kind_of(objects, ns.empty() ? "ClusterQueue" : "LocalQueue");
  if (!objects.exists(kind, ns.empty() ? queue : local)) return not_found(kind, queue);
  const std::string cluster_queue = ns.empty() ? queue : cluster_queue_of(engine_.model(), local);
  json::array items;
  for (const PendingWorkload& each : sluice::pending_workloads(
           engine_.model(), cluster_queue, local, static_cast<std::size_t>(offset),
           static_cast<std::size_t>(limit))) {
    items.push_back(json::object{{"metadata", metadata_of(objects, each.key)},
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
    const auto id = engine_.find(ns + "/" + workload);
    if (!id) return done(not_found(kind_of(objects, "Workload"), workload));
    done(json::value(explanation_document(engine_, *id, objects.now(), may_know)));
  });
}

}  // namespace sluice::host
