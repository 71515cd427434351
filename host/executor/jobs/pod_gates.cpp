#include "host/executor/jobs/pod_gates.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "host/executor/jobs/views.hpp"
#include "host/executor/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

bool is_one_of(const std::vector<std::string>& gates, const json::value& entry) {
  const json::object* gate = entry.if_object();
  return gate &&
         std::find(gates.begin(), gates.end(), api::find_text(*gate, "name")) != gates.end();
}

/// Whether one of these gates holds the pod.
bool held(const json::object& pod, const std::vector<std::string>& gates) {
  const json::array* found = api::find_array(part(pod, "spec"), "schedulingGates");
  return found && std::any_of(found->begin(), found->end(),
                              [&](const json::value& entry) { return is_one_of(gates, entry); });
}

void lift(json::object& pod, const std::vector<std::string>& gates) {
  json::object& spec = object_of(pod, "spec");
  json::array& present = array_of(spec, "schedulingGates");
  json::array left;
  for (const json::value& entry : present) {
    if (!is_one_of(gates, entry)) left.push_back(entry);
  }
  if (left.empty()) {
    spec.erase("schedulingGates");
  } else {
    present = std::move(left);
  }
}

}  // namespace

void add_gates(json::object& pod, const std::vector<std::string>& gates) {
  if (gates.empty()) return;
  json::array& present = array_of(object_of(pod, "spec"), "schedulingGates");
  for (const std::string& gate : gates) {
    const bool there = std::any_of(present.begin(), present.end(), [&](const json::value& entry) {
      return is_one_of({gate}, entry);
    });
    if (!there) present.push_back(json::object{{"name", gate}});
  }
}

ApiResult<void> lift_gates(const std::vector<std::string>& pods,
                           const std::vector<std::string>& gates,
                           std::optional<std::int64_t> granted, ObjectAccess& objects) {
  const api::KindInfo* kind = objects.scheme().find("v1", "Pod");
  if (!kind || gates.empty()) return {};
  std::int64_t free = 0;
  std::vector<std::tuple<Time, std::string, std::string>> waiting;  // created, uid, key
  for (const std::string& key : pods) {
    const auto pod = objects.get(*kind, key);
    if (!pod) continue;
    const PodView view = read_pod(*pod);
    if (!view.active()) continue;
    if (held(*pod, gates)) {
      waiting.emplace_back(view.created, view.uid, key);
    } else {
      ++free;
    }
  }
  std::sort(waiting.begin(), waiting.end());
  for (const auto& [created, uid, key] : waiting) {
    if (granted && free >= *granted) break;
    json::object pod = *objects.get(*kind, key);
    lift(pod, gates);
    const ApiResult<void> updated = objects.update(std::move(pod));
    if (!updated) return updated;
    ++free;
  }
  return {};
}

}  // namespace sluice::host
