#include "host/executor/binder.hpp"

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <deque>
#include <functional>
#include <utility>

#include "api/builtin/builtin.hpp"
#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "host/controllers/jobs/workload_spec.hpp"
#include "host/executor/pod_status.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/pods.hpp"
#include "host/store/use.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

// No object has more labels than 1,000: a selector that is cut here matches none, as the whole.
constexpr std::size_t kMostSelectors = 1'001;

/// `{key: value}`, the first label of the node selector that is not among these; empty: all are.
std::string missing_label(const api::PodTemplate& needs, const api::LabelMap& labels) {
  for (const auto& [key, value] : needs.node_selector) {
    const std::string* found = labels.find(key);
    if (!found || *found != value) return "{" + key + ": " + value + "}";
  }
  return {};
}

bool matches_affinity(const api::PodTemplate& needs, const api::LabelMap& labels) {
  if (!needs.required_affinity) return true;
  return std::any_of(needs.required_affinity->begin(), needs.required_affinity->end(),
                     [&](const api::NodeSelectorTerm& term) {
                       return !term.expressions.empty() &&
                              std::all_of(term.expressions.begin(), term.expressions.end(),
                                          [&](const auto& e) { return e.matches(labels); });
                     });
}

bool tolerated(const api::PodTemplate& needs, const api::Taint& taint) {
  return std::any_of(needs.tolerations.begin(), needs.tolerations.end(),
                     [&](const api::Toleration& t) { return t.tolerates(taint); });
}

std::int64_t amount_of(const std::map<std::string, std::int64_t, std::less<>>& amounts,
                       std::string_view name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

/// What of a pod decides about its node.
std::shared_ptr<const api::PodTemplate> needs_of(const json::object& pod) {
  auto needs = std::make_shared<api::PodTemplate>(api::decode_pod_template(pod));
  needs->annotations = {};
  needs->shape = std::string();
  if (needs->node_selector.size() > kMostSelectors) {
    const auto first = needs->node_selector.begin();
    needs->node_selector =
        api::LabelMap(std::vector<api::LabelMap::Entry>(first, first + kMostSelectors));
  }
  return needs;
}

/// `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable.`
std::string summary(std::size_t nodes, const std::map<std::string, int>& reasons) {
  std::string out = "0/" + std::to_string(nodes) + " nodes are available";
  std::string separator = ": ";
  for (const auto& [reason, count] : reasons) {
    out += separator + std::to_string(count) + " " + reason;
    separator = ", ";
  }
  return out + ".";
}

}  // namespace

void Binder::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (is_node(*change.kind)) {
    node_changed(change);
    keys.emplace_back();
  } else if (pod_changed(change)) {
    keys.emplace_back();
  }
}

void Binder::node_changed(const ObjectChange& change) {
  if (change.deleted()) {
    nodes_.erase(change.key);
    return;
  }
  const json::object object = to_object(*change.stored);
  Node& node = nodes_[change.key];
  const bool fresh = node.capacity.empty();
  node.labels = api::find_labels(part(object, "metadata"), "labels");
  node.closed = api::find_bool(part(object, "spec"), "unschedulable", false);
  node.taints.clear();
  for_each_object(part(object, "spec"), "taints", [&](const json::object& source) {
    api::Taint taint;
    taint.key = api::find_text(source, "key");
    taint.value = api::find_text(source, "value");
    const std::string_view effect = api::find_text(source, "effect");
    if (effect == "PreferNoSchedule") taint.effect = api::TaintEffect::kPreferNoSchedule;
    if (effect == "NoExecute") taint.effect = api::TaintEffect::kNoExecute;
    node.taints.push_back(std::move(taint));
  });
  node.capacity.clear();
  for (const auto& member : part(part(object, "status"), "allocatable")) {
    const std::string name(member.key());
    node.capacity[name] = api::engine_amount(name, api::quantity_or_zero(member.value()));
  }
  if (!fresh) return;
  node.used.clear();  // pods may have been announced before their node
  for (const auto& [key, pod] : pods_) {
    if (pod.node == change.key) use(pod, 1);
  }
}

/// Of a known pod, of which nothing but the status changed; whether room was left.
bool Binder::status_changed(const ObjectChange& change) {
  boost::system::error_code code;
  const json::value status = api::parse_deep(change.stored->status, code);
  if (!status.is_object()) return false;
  Pod& pod = pods_.find(change.key)->second;
  const json::object* scheduled = find_condition(status.get_object(), "PodScheduled");
  if (!scheduled || api::find_text(*scheduled, "message") != pod.told_reason)
    pod.told_reason.clear();
  if (!has_ended(status.get_object())) return false;
  const bool freed = !pod.node.empty();
  forget(change.key);
  return freed;
}

bool Binder::pod_changed(const ObjectChange& change) {
  const auto known = pods_.find(change.key);
  const bool freed = known != pods_.end() && !known->second.node.empty();
  if (change.deleted()) {
    forget(change.key);
    return freed;
  }
  if (known != pods_.end() && change.before && change.before->body == change.stored->body &&
      change.before->metadata == change.stored->metadata)
    return status_changed(change);
  json::monotonic_resource memory(4 * stored_bytes(*change.stored) + 1024);
  const json::object object = to_object(*change.stored, &memory);
  const json::object& spec = part(object, "spec");
  const bool ended = has_ended(part(object, "status"));
  const bool deleting = !api::find_text(part(object, "metadata"), "deletionTimestamp").empty();
  const std::string named(api::find_text(spec, "nodeName"));
  // Of what this object just did itself a first half may be told now.
  const bool bound =
      is_scheduled(part(object, "status")) || (known != pods_.end() && known->second.node == named);
  const std::string node = bound ? named : "";
  if (ended || (deleting && node.empty())) {
    forget(change.key);
    return freed;
  }
  const bool gated = api::has_scheduling_gates(spec);
  // One that is bound is counted as it was bound; who waits may have got another toleration.
  const bool same_spec = change.before && change.before->body == change.stored->body;
  if (known != pods_.end() && known->second.node == node && known->second.gated == gated &&
      (!node.empty() || same_spec))
    return false;
  forget(change.key);
  put(change.key, {node,
                   named,
                   std::string(api::find_text(spec, "priorityClassName")),
                   needs_of(object),
                   gated,
                   {}});
  if (!node.empty()) return false;
  const json::object& metadata = part(object, "metadata");
  const Place place{api::find_time(metadata, "creationTimestamp").value_or(0),
                    std::string(api::find_text(metadata, "uid")), change.key};
  places_[change.key] = place;
  waiting_.insert(place);
  return true;
}

void Binder::forget(const std::string& key) {
  const auto known = pods_.find(key);
  if (known == pods_.end()) return;
  if (!known->second.node.empty()) {
    use(known->second, -1);
    const auto bound = bound_.find(namespace_of(key));
    if (--bound->second == 0) bound_.erase(bound);
  }
  pods_.erase(known);
  const auto place = places_.find(key);
  if (place == places_.end()) return;
  waiting_.erase(place->second);
  places_.erase(place);
}

void Binder::put(const std::string& key, Pod pod) {
  if (!pod.node.empty()) {
    use(pod, 1);
    ++bound_[std::string(namespace_of(key))];
  }
  pods_[key] = std::move(pod);
}

void Binder::use(const Pod& pod, std::int64_t sign) {
  const auto node = nodes_.find(pod.node);
  if (node == nodes_.end()) return;
  for (const api::ResourceRequest& request : pod.needs->requests) {
    node->second.used[request.resource] += sign * request.amount;
  }
  node->second.used["pods"] += sign;
}

std::string Binder::unfit(const Node& node, const api::PodTemplate& needs) {
  if (node.closed) return "node(s) were unschedulable";
  constexpr const char* kNoMatch = "node(s) didn't match Pod's node affinity/selector";
  if (const std::string missing = missing_label(needs, node.labels); !missing.empty()) {
    return std::string(kNoMatch) + " " + missing;  // mostly one that a flavor asks for
  }
  if (!matches_affinity(needs, node.labels)) return kNoMatch;
  for (const api::Taint& taint : node.taints) {
    if (taint.effect == api::TaintEffect::kPreferNoSchedule || tolerated(needs, taint)) continue;
    return "node(s) had untolerated taint {" + taint.key + ": " + taint.value + "}";
  }
  for (const api::ResourceRequest& request : needs.requests) {
    const std::int64_t free =
        amount_of(node.capacity, request.resource) - amount_of(node.used, request.resource);
    if (request.amount > 0 && request.amount > free) return "Insufficient " + request.resource;
  }
  const std::int64_t most = amount_of(node.capacity, "pods");
  if (most > 0 && amount_of(node.used, "pods") >= most) return "Too many pods";
  return {};
}

double Binder::load_with(const Node& node, const api::PodTemplate& needs) const {
  double load = 0;
  for (const api::Taint& taint : node.taints) {
    // A taint that only asks to stay away weighs more than any load.
    if (taint.effect == api::TaintEffect::kPreferNoSchedule && !tolerated(needs, taint)) load += 9;
  }
  for (const char* name : {"cpu", "memory"}) {
    const std::int64_t capacity = amount_of(node.capacity, name);
    std::int64_t used = amount_of(node.used, name);
    for (const api::ResourceRequest& request : needs.requests) {
      if (request.resource == name) used += request.amount;
    }
    if (capacity > 0) load += static_cast<double>(used) / static_cast<double>(capacity);
  }
  return load;
}

Result<Time> Binder::reconcile(const WorkKey&, ObjectAccess& objects) {
  std::map<std::int64_t, std::vector<Place>, std::greater<>> waiting;  // binding changes waiting_
  std::map<std::string_view, std::int64_t> priorities;  // of the classes that they name
  for (const Place& each : waiting_) {
    const std::string_view named = pods_.at(std::get<2>(each)).priority_class;
    const auto [known, fresh] = priorities.try_emplace(named, 0);
    if (fresh) known->second = pod_priority(objects, named);
    waiting[known->second].push_back(each);
  }
  std::optional<Error> refused;  // nobody waits behind one whose write is refused
  for (const auto& [priority, equals] : waiting) {
    auto problem = serve_equals(equals, objects);
    if (!refused) refused = std::move(problem);
  }
  if (refused) return *refused;
  return kNever;
}

/// Those of one priority, in order of age: namespaces take turns, that with the fewest pods first.
std::optional<Error> Binder::serve_equals(std::span<const Place> waiting, ObjectAccess& objects) {
  std::map<std::string_view, std::deque<const Place*>> by_namespace;
  for (const Place& each : waiting) by_namespace[namespace_of(std::get<2>(each))].push_back(&each);
  std::set<std::tuple<std::int64_t, std::size_t, std::string_view>> turns;
  const auto line_up = [&](std::string_view ns) {
    const auto& line = by_namespace[ns];
    if (line.empty()) return;
    const auto bound = bound_.find(ns);
    turns.emplace(bound == bound_.end() ? 0 : bound->second, line.front() - waiting.data(), ns);
  };
  for (const auto& each : by_namespace) line_up(each.first);
  std::optional<Error> refused;
  while (!turns.empty()) {
    const std::string_view ns = std::get<2>(turns.extract(turns.begin()).value());
    const std::string& key = std::get<2>(*by_namespace[ns].front());
    by_namespace[ns].pop_front();
    if (const ApiResult<void> done = serve(key, objects); !done && !refused)
      refused = Error{"pod " + key + ": " + done.error().text};
    line_up(ns);
  }
  return refused;
}

ApiResult<void> Binder::serve(const std::string& key, ObjectAccess& objects) {
  const auto pod = pods_.find(key);
  if (pod == pods_.end() || !pod->second.node.empty()) return {};
  if (pod->second.gated)
    return say_why(key, "SchedulingGated",
                   "Scheduling is blocked due to non-empty scheduling gates", objects);
  return place(key, Pod(pod->second), objects);
}

ApiResult<void> Binder::place(const std::string& key, const Pod& pod, ObjectAccess& objects) {
  const std::string* best = nullptr;
  double least = 0;
  std::map<std::string, int> reasons;
  for (const auto& [name, node] : nodes_) {
    const std::string why = pod.wish.empty() || pod.wish == name
                                ? unfit(node, *pod.needs)
                                : "node(s) didn't match the requested node name";
    if (!why.empty()) {
      ++reasons[why];
      continue;
    }
    const double load = load_with(node, *pod.needs);
    if (best && load >= least) continue;
    best = &name;
    least = load;
  }
  if (best) return bind(key, std::string(*best), objects);
  return say_why(key, "Unschedulable", summary(nodes_.size(), reasons), objects);
}

ApiResult<void> Binder::bind(const std::string& key, const std::string& node,
                             ObjectAccess& objects) {
  const api::KindInfo& kind = *objects.scheme().find("v1", "Pod");
  auto object = objects.get(kind, key);
  if (!object) return {};
  object_of(*object, "spec")["nodeName"] = node;
  json::object status = part(*object, "status");
  ApiResult<void> bound = objects.update(std::move(*object));
  if (!bound) return bound;
  // changed() may be called for this change only after this pass.
  if (const auto pod = pods_.find(key); pod != pods_.end() && pod->second.node.empty()) {
    Pod copy = pod->second;
    forget(key);
    copy.node = node;
    put(key, std::move(copy));
  }
  set_pod_condition(status, "PodScheduled", true, "", "", objects.now());
  ApiResult<void> told = objects.update_status(kind, key, std::move(status));
  if (!told) return told;
  objects.emit({{&kind, key}, false, "Scheduled", "Successfully assigned " + key + " to " + node});
  return {};
}

ApiResult<void> Binder::say_why(const std::string& key, std::string_view reason,
                                const std::string& message, ObjectAccess& objects) {
  const auto pod = pods_.find(key);
  if (pod == pods_.end() || pod->second.told_reason == message) return {};
  const api::KindInfo& kind = *objects.scheme().find("v1", "Pod");
  const auto object = objects.get(kind, key);
  if (!object) return {};
  json::object status = part(*object, "status");
  if (set_pod_condition(status, "PodScheduled", false, reason, message, objects.now())) {
    if (auto done = objects.update_status(kind, key, std::move(status)); !done) return done;
    if (reason == "Unschedulable") objects.emit({{&kind, key}, true, "FailedScheduling", message});
  }
  // The write may have been told of already.
  if (const auto now = pods_.find(key); now != pods_.end()) now->second.told_reason = message;
  return {};
}

}  // namespace sluice::host
