// The Metrics API (metrics.k8s.io/v1beta1): what pods and nodes use now, for `kubectl top` and
// others that know metrics-server. Of a node: what the pods on it use.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <map>
#include <utility>

#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "host/apiserver/call.hpp"
#include "host/base/wall_clock.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kApiVersion = "metrics.k8s.io/v1beta1";

json::object amounts(std::int64_t cpu_nano, std::int64_t memory_bytes) {
  return {{"cpu", fmt::format("{}n", cpu_nano)},
          {"memory", fmt::format("{}Ki", memory_bytes / 1'024)}};
}

/// What NodeMetrics and PodMetrics have in common.
json::object frame(const char* kind, const json::object& of, Time at, Duration window) {
  const json::object& from = part(of, "metadata");
  json::object metadata{{"name", text_in(from, "name")}, {"creationTimestamp", format_time(at)}};
  if (const std::string ns = text_in(from, "namespace"); !ns.empty()) metadata["namespace"] = ns;
  if (const json::object* labels = api::find_object(from, "labels")) metadata["labels"] = *labels;
  return {{"kind", kind},
          {"apiVersion", kApiVersion},
          {"metadata", std::move(metadata)},
          {"timestamp", format_time(at / kSecond * kSecond)},
          {"window", fmt::format("{}s", std::max<Duration>(1, window / kSecond))}};
}

json::object pod_metrics(const json::object& pod, const PodUsage& usage) {
  json::object out = frame("PodMetrics", pod, usage.at, usage.window);
  json::array containers;
  for (const ContainerUsage& each : usage.containers)
    containers.push_back(
        json::object{{"name", each.name}, {"usage", amounts(each.cpu_nano, each.memory_bytes)}});
  out["containers"] = std::move(containers);
  return out;
}

struct NodeUse {
  std::int64_t cpu_nano = 0, memory_bytes = 0;
  Duration window = 0;
};

/// One look at what is asked about.
class UsageAnswer {
 public:
  explicit UsageAnswer(const Call& call)
      : call_(call),
        pods_(*call.at->backend.scheme->find("v1", "Pod")),
        nodes_(*call.at->backend.scheme->find("v1", "Node")) {}

  ApiResult<json::value> make() {
    const bool pods = call_.route.resource == "pods";
    const api::KindInfo& kind = pods ? pods_ : nodes_;
    const auto text = [&](const char* name) {
      const std::string* found = call_.request().parameter(name);
      return found ? *found : std::string();
    };
    auto selector = parse_selector(text("labelSelector"), text("fieldSelector"), kind, "v1");
    if (!selector) return selector.error();
    if (!pods) add_up_nodes();
    const Route& route = call_.route;
    if (!route.name.empty()) {
      const RecordPtr record = call_.store().get(kind, join_key(route.ns, route.name));
      auto one = record ? of(*record) : std::nullopt;
      if (!one) return no_metrics();
      return json::value(std::move(*one));
    }
    auto listing = call_.store().read(kind, route.ns);
    if (!listing) return unavailable(listing.error().text, 1);
    json::array items;
    for (const RecordPtr& record : listing->objects) {
      if (!selector->matches(*record)) continue;
      if (auto one = of(*record)) items.push_back(std::move(*one));
    }
    return json::value(json::object{{"kind", pods ? "PodMetricsList" : "NodeMetricsList"},
                                    {"apiVersion", kApiVersion},
                                    {"metadata", json::object()},
                                    {"items", std::move(items)}});
  }

 private:
  std::optional<PodUsage> usage_of(const json::object& pod) const {
    UsageMeter* meter = call_.at->backend.usage;
    return meter ? meter->of(pod, now_) : std::nullopt;
  }

  static bool runs(const StoredObject& pod) {
    bool out = false;
    for (const std::string_view list : {"containerStatuses", "initContainerStatuses"})
      api::each_element(api::member_text(pod.status, list), [&out](std::string_view container) {
        out |= !api::member_at(container, "state.running").empty();
      });
    return out;
  }

  void add_up_nodes() {
    const auto pods = call_.store().read(pods_, "");
    if (!pods) return;
    for (const RecordPtr& record : pods->objects) {
      if (!runs(*record)) continue;
      const json::object pod = to_object(*record);
      const auto usage = usage_of(pod);
      if (!usage) continue;
      NodeUse& node = by_node_[text_in(part(pod, "spec"), "nodeName")];
      node.window = std::max(node.window, usage->window);
      for (const ContainerUsage& each : usage->containers) {
        node.cpu_nano += each.cpu_nano;
        node.memory_bytes += each.memory_bytes;
      }
    }
  }

  std::optional<json::object> of(const StoredObject& record) const {
    if (record.kind == &pods_ && !runs(record)) return std::nullopt;
    const json::object object = to_object(record);
    if (record.kind == &nodes_) {
      const auto found = by_node_.find(record.key);
      const NodeUse use = found == by_node_.end() ? NodeUse() : found->second;
      json::object out = frame("NodeMetrics", object, now_, use.window);
      out["usage"] = amounts(use.cpu_nano, use.memory_bytes);
      return out;
    }
    const auto usage = usage_of(object);
    if (!usage) return std::nullopt;
    return pod_metrics(object, *usage);
  }

  ApiError no_metrics() const {
    ApiError out = not_found(call_.route.resource == "pods" ? pods_ : nodes_, call_.route.name);
    out.group = call_.route.group;
    return out;
  }

  const Call& call_;
  const api::KindInfo& pods_;
  const api::KindInfo& nodes_;
  const Time now_ = wall_clock();
  std::map<std::string, NodeUse, std::less<>> by_node_;
};

}  // namespace

void serve_usage(const CallPtr& call) {
  auto answer = UsageAnswer(*call).make();
  if (!answer) return call->fail(answer.error());
  std::string out;
  api::append_json(*answer, out);
  call->reply(200, out + "\n");
}

}  // namespace sluice::host
