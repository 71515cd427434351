#include "host/controllers/jobs/pod_gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <map>

#include "api/json/json.hpp"
#include "host/controllers/jobs/mapping.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/pods.hpp"
#include "host/plugins/bridge_jobs.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

struct Pod {
  std::string key;
  std::string created;
  json::object object;
  bool gated = false;
};

std::string gate_name(const json::value& gate) {
  return gate.is_object() ? std::string(api::find_text(gate.get_object(), "name")) : std::string();
}

/// The gate is one that plugins put there, not the user.
bool may_lift(const std::string& gate, const std::vector<std::string>& ours) {
  return gate.starts_with(kFaultGate) || std::find(ours.begin(), ours.end(), gate) != ours.end();
}

bool has_our_gate(const json::object& pod, const std::vector<std::string>& ours) {
  const auto* gates = api::find_array(part(pod, "spec"), "schedulingGates");
  return gates && std::any_of(gates->begin(), gates->end(), [&](const json::value& gate) {
           return may_lift(gate_name(gate), ours);
         });
}

/// Lets a pod go that may have been made before the workload that the job follows was there.
Result<void> lift(Pod& pod, std::string_view set, const PodGates::Granted& granted,
                  ObjectAccess& objects) {
  const std::vector<std::string>& ours = granted.gates;
  if (!granted.followed.empty())
    if (auto done = update_pod(pod.object, granted.followed, set); !done) return done;
  json::object& spec = object_of(pod.object, "spec");
  json::array kept;
  for (const auto& gate : array_of(spec, "schedulingGates"))
    if (!may_lift(gate_name(gate), ours)) kept.push_back(gate);
  if (kept.empty())
    spec.erase("schedulingGates");
  else
    spec["schedulingGates"] = std::move(kept);
  if (auto done = objects.update(std::move(pod.object)); !done) return Error{done.error().text};
  return {};
}

bool ends(const json::object& pod) { return has_ended(part(pod, "status")) || is_terminating(pod); }

}  // namespace

std::vector<std::string> PodGates::gates_of_new_pod(const ObjectRef& job,
                                                    const ObjectAccess& objects) {
  std::vector<std::string> gates;
  const auto view = reader_.read(job, objects);
  if (!view) return gates;
  for (const WorkloadOfJob& workload : view->workloads) {
    if (!workload.admitted || workload.match == hooks::JobMatch::kSame) continue;
    if (const std::string absent = absent_plugin(workload, loaded_); !absent.empty())
      return {gate_of_faulty_plugin(absent)};
  }
  if (!hook_) return gates;
  hooks::Fault fault;  // a plugin that fails leaves a gate of its name
  hook_->gates(reader_.query(*view, objects), gates, fault);
  return gates;
}

PodGates::Granted PodGates::granted(const ObjectRef& job, const ObjectAccess& objects) {
  Granted out;
  const auto view = hook_ ? reader_.read(job, objects) : std::nullopt;
  if (!view) return out;
  const std::string followed = view->started.workload_uid;
  for (const WorkloadOfJob& workload : view->workloads)
    if (workload.admitted && api::find_text(part(workload.object, "metadata"), "uid") == followed)
      out.followed = workload.object;
  const hooks::JobQuery query = reader_.query(*view, objects);
  out.pod_sets = view->pod_sets;
  hooks::Fault fault;
  hook_->gates(query, out.gates, fault);
  hooks::PodGrants grants;
  grants.pods.resize(view->pod_sets.size());
  if (!fault && !out.gates.empty()) hook_->granted(query, grants, fault);
  out.pods = std::move(grants.pods);
  if (fault) out.waits_because = fault.sentence();
  return out;
}

std::vector<std::string> PodGateController::watches() const {
  std::vector<std::string> out;
  if (!gates_.any()) return out;
  out = {"/Pod", "kueue.x-k8s.io/Workload"};
  for (const api::KindInfo* kind : kinds_) out.push_back(kind->group_kind());
  return out;
}

void PodGateController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind->job) {
    keys.push_back({change.kind, change.key});
    if (!change.stored) after_faults_.erase(keys.back());
  } else if (change.stored) {
    const std::size_t before = keys.size();
    name_owners(kinds_, *change.stored, keys);
    if (change.stored->body->find(kFaultGate) != std::string::npos)
      after_faults_.insert(keys.begin() + static_cast<std::ptrdiff_t>(before), keys.end());
  } else if (change.before) {
    name_owners(kinds_, *change.before, keys);
  }
}

Result<Time> PodGateController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  const auto job = objects.get(*key.kind, key.name);
  if (!job) return kNever;
  std::map<std::string, std::vector<Pod>> by_set;  // live pods
  const PodGates::Granted granted = gates_.granted(key.object(), objects);
  // Most jobs are nobody's: their pods need not be read.
  if (granted.gates.empty() && granted.waits_because.empty() && !after_faults_.contains(key))
    return kNever;
  for (const ObjectRef& ref :
       objects.owned_by(api::find_text(part(*job, "metadata"), "uid"), namespace_of(key.name))) {
    if (!is_pod(*ref.kind)) continue;
    auto pod = objects.get(*ref.kind, ref.key);
    if (!pod || ends(*pod)) continue;
    std::string set(label_of(*pod, kPodSetLabel));
    if (set.empty() && !granted.pod_sets.empty()) set = granted.pod_sets[0].name;
    std::string created(api::find_text(part(*pod, "metadata"), "creationTimestamp"));
    const bool gated = has_our_gate(*pod, granted.gates);
    by_set[set].push_back({ref.key, std::move(created), std::move(*pod), gated});
  }
  if (!granted.waits_because.empty()) return Error{granted.waits_because};
  for (std::size_t i = 0; i < granted.pod_sets.size(); ++i) {
    auto& pods = by_set[granted.pod_sets[i].name];
    std::sort(pods.begin(), pods.end(), [](const Pod& a, const Pod& b) {
      return std::tie(a.created, a.key) < std::tie(b.created, b.key);
    });
    auto left =
        static_cast<std::int64_t>(granted.pods[i].value_or(std::numeric_limits<int>::max()));
    for (const Pod& pod : pods) left -= pod.gated ? 0 : 1;
    for (Pod& pod : pods) {
      if (!pod.gated || left <= 0) continue;
      if (auto lifted = lift(pod, granted.pod_sets[i].name, granted, objects); lifted) {
        --left;
        continue;
      } else {
        objects.emit({key.object(), true, "FailedToStartPod",
                      fmt::format("Pod {} keeps its gate: {}", pod.key, lifted.error().text)});
      }
    }
  }
  return kNever;
}

}  // namespace sluice::host
