#include "host/executor/jobs/ray_pods_controller.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "core/base/text.hpp"
#include "host/executor/jobs/job_pods_controller.hpp"
#include "host/executor/jobs/pod_making.hpp"
#include "host/executor/jobs/views.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kCluster = "ray.io/cluster";
constexpr const char* kNodeType = "ray.io/node-type";
constexpr const char* kGroup = "ray.io/group";
constexpr const char* kHeadGroup = "headgroup";

/// The head, or one group of workers.
struct Group {
  std::string name, type;  ///< type: head, worker
  const json::object* pod_template = nullptr;
  std::int64_t pods = 1;
  std::set<std::string, std::less<>> to_delete;  ///< names of pods, when there are too many
};

std::int64_t replicas_of(const json::object& group) {
  if (api::find_bool(group, "suspend", false)) return 0;
  const std::int64_t least = api::find_int(group, "minReplicas").value_or(0);
  const std::int64_t most = api::find_int(group, "maxReplicas").value_or(2147483647);
  const std::int64_t wanted = api::find_int(group, "replicas").value_or(least);
  return std::clamp(wanted, std::min(least, most), most);
}

std::vector<Group> groups_of(const json::object& cluster) {
  const json::object& spec = part(cluster, "spec");
  std::vector<Group> out;
  out.push_back({kHeadGroup, "head", &part(part(spec, "headGroupSpec"), "template"), 1, {}});
  for_each_object(spec, "workerGroupSpecs", [&](const json::object& group) {
    const std::int64_t hosts =
        std::max<std::int64_t>(1, api::find_int(group, "numOfHosts").value_or(1));
    out.push_back({std::string(api::find_text(group, "groupName")),
                   "worker",
                   &part(group, "template"),
                   replicas_of(group) * hosts,
                   {}});
    const json::array* names = api::find_array(part(group, "scaleStrategy"), "workersToDelete");
    for (std::size_t i = 0; names && i < names->size(); ++i)
      if (const auto* name = (*names)[i].if_string())
        out.back().to_delete.emplace(api::view(*name));
  });
  return out;
}

/// What the cluster asks for as a whole, for its columns.
void write_desired(const std::vector<Group>& groups, json::object& status) {
  std::map<std::string, std::int64_t> sums{{"cpu", 0}, {"memory", 0}, {"nvidia.com/gpu", 0}};
  for (const Group& group : groups) {
    for (const api::ResourceRequest& request :
         api::decode_pod_template(*group.pod_template).requests) {
      const auto sum = sums.find(request.resource);
      if (sum != sums.end()) sum->second += request.amount * group.pods;
    }
  }
  status["desiredCPU"] = api::engine_quantity("cpu", sums["cpu"]).text();
  status["desiredMemory"] = api::engine_quantity("memory", sums["memory"]).text();
  status["desiredGPU"] = std::to_string(sums["nvidia.com/gpu"]);
}

class RaySync {
 public:
  RaySync(json::object cluster, ObjectAccess& objects, const api::KindInfo& clusters,
          const api::KindInfo& pods, const GatesOfNewPods& gates, PodPace& pace)
      : cluster_(std::move(cluster)),
        objects_(objects),
        clusters_(clusters),
        pods_(pods),
        gates_(gates),
        pace_(pace),
        key_(key_of(cluster_)),
        name_(api::find_text(part(cluster_, "metadata"), "name")),
        uid_(api::find_text(part(cluster_, "metadata"), "uid")),
        suspend_(api::find_bool(part(cluster_, "spec"), "suspend", false)) {}

  Result<Time> run() {
    if (!api::find_text(part(cluster_, "metadata"), "deletionTimestamp").empty()) return kNever;
    read_pods();
    const std::vector<Group> groups = groups_of(cluster_);
    for (const Group& group : groups) {
      const ApiResult<void> done = serve(group);
      if (!done) return Error{done.error().text};
    }
    for (const auto& [group, left] : by_group_) {
      for (const JobPod& pod : left) {
        const ApiResult<void> done = objects_.remove(pods_, pod.key);
        if (!done) return Error{done.error().text};
      }
    }
    const ApiResult<void> written = write_status(groups);
    if (!written) return Error{written.error().text};
    if (!refused_.empty()) return Error{refused_};
    return again_;
  }

 private:
  void read_pods() {
    for (const ObjectRef& ref : objects_.owned_by(uid_, namespace_of(key_))) {
      if (ref.kind != &pods_) continue;
      const auto pod = objects_.get(pods_, ref.key);
      if (!pod || !is_controlled_by(*pod, objects_.scheme(), {&clusters_, key_}, uid_)) continue;
      const json::object& labels = part(part(*pod, "metadata"), "labels");
      JobPod view = read_pod(*pod);
      if (!view.ended()) ++alive_;
      if (view.gated && view.active()) ++gated_;
      if (view.active() && view.ready) {
        ++(api::find_text(labels, kNodeType) == "head" ? heads_ready_ : workers_ready_);
      }
      by_group_[std::string(api::find_text(labels, kGroup))].push_back(std::move(view));
    }
  }

  /// Brings one group to its number of pods, and takes it out of `by_group_`.
  ApiResult<void> serve(const Group& group) {
    std::vector<JobPod> pods = std::move(by_group_[group.name]);
    by_group_.erase(group.name);
    // The first ones stay: what the autoscaler chose goes first, then what may not start yet.
    const auto chosen = [&group](const JobPod& pod) {
      return group.to_delete.contains(split_key(pod.key).name);
    };
    std::sort(pods.begin(), pods.end(), [&chosen](const JobPod& a, const JobPod& b) {
      return std::make_tuple(chosen(a), a.gated, a.created, std::cref(a.uid)) <
             std::make_tuple(chosen(b), b.gated, b.created, std::cref(b.uid));
    });
    const std::int64_t wanted = suspend_ ? 0 : group.pods;
    std::int64_t there = 0, ending = 0;
    for (const JobPod& pod : pods) {
      if (pod.terminating()) {
        ++ending;  // its processes run on, in the place that its successor is to have
        continue;
      }
      if (!pod.ended() && there < wanted) {
        ++there;
        continue;
      }
      if (pod.ended() && !pod.deleting && !suspend_) {
        // What ended is replaced, but not at once: it may end again the same way.
        const Time due = pod.finished.value_or(pod.created) + kReplaceAfter;
        if (due > objects_.now() && there < wanted) {
          again_ = std::min(again_, due);
          ++there;
          continue;
        }
      }
      if (auto done = objects_.remove(pods_, pod.key); !done) return done;
    }
    create(group, wanted - there - ending, pods.size());
    return {};
  }

  /// Up to the first that is refused: other groups, and the status, do not wait for that.
  void create(const Group& group, std::int64_t count, std::size_t known) {
    std::vector<std::string> gates;
    if (count <= 0) return;
    if (gates_) gates = gates_({&clusters_, key_}, objects_);
    const PodPace::Allowed allowed =
        pace_.allow({.pods = static_cast<std::size_t>(count),
                     .gets_gate = !gates.empty(),
                     .gated = gated_,
                     .there = known,
                     .bytes = api::to_json(*group.pod_template).size()},
                    objects_.now());
    count = static_cast<std::int64_t>(allowed.pods);
    if (!gates.empty()) gated_ += allowed.pods;
    if (allowed.more_soon) again_ = std::min(again_, objects_.now() + PodPace::kPause);
    const std::string ns(namespace_of(key_));
    // The name of a group may have capital letters, that of a pod may not.
    const std::string prefix =
        group.type == "head" ? name_ + "-head" : name_ + "-" + lower_ascii(group.name) + "-worker";
    auto number = static_cast<std::uint64_t>(known);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string name = free_pod_name(objects_, ns, prefix, uid_ + group.name, number);
      json::object pod = pod_from_template(cluster_, *group.pod_template, name);
      json::object& labels = object_of(object_of(pod, "metadata"), "labels");
      labels[kCluster] = name_;
      labels[kNodeType] = group.type;
      labels[kGroup] = group.name;
      labels["ray.io/is-ray-node"] = "yes";
      add_gates(pod, gates);
      const ApiResult<void> done = objects_.create(std::move(pod));
      if (!done) {
        objects_.emit({{&clusters_, key_}, true, "FailedToCreatePod", done.error().text});
        refused_ = done.error().text;
        return;
      }
      objects_.emit({{&clusters_, key_},
                     false,
                     group.type == "head" ? "CreatedHeadPod" : "CreatedWorkerPod",
                     "Created " + group.type + " Pod " + join_key(ns, name)});
    }
  }

  void set_condition(json::object& status, std::string_view type, bool on, std::string_view reason,
                     std::string_view message) {
    put_condition(status,
                  make_condition(type, on, reason, message, objects_.now() / kSecond * kSecond));
  }

  ApiResult<void> write_status(const std::vector<Group>& groups) {
    json::object status = part(cluster_, "status");
    std::int64_t desired = 0, least = 0, most = 0;
    for (const Group& group : groups) desired += group.type == "worker" ? group.pods : 0;
    for_each_object(part(cluster_, "spec"), "workerGroupSpecs", [&](const json::object& group) {
      least += api::find_int(group, "minReplicas").value_or(0);
      most += api::find_int(group, "maxReplicas").value_or(replicas_of(group));
    });
    status["desiredWorkerReplicas"] = suspend_ ? 0 : desired;
    status["readyWorkerReplicas"] = workers_ready_;
    status["availableWorkerReplicas"] = workers_ready_;
    status["minWorkerReplicas"] = least;
    status["maxWorkerReplicas"] = most;
    write_desired(groups, status);
    const bool head = heads_ready_ > 0;
    const bool all = head && workers_ready_ >= desired;
    set_condition(status, "HeadPodReady", head, head ? "HeadPodRunningAndReady" : "HeadPodNotFound",
                  head ? "" : "the head pod is not ready");
    const bool suspended = suspend_ && alive_ == 0;
    set_condition(status, "RayClusterSuspending", suspend_ && alive_ > 0, "UserRequested", "");
    set_condition(status, "RayClusterSuspended", suspended, "UserRequested", "");
    const bool was_provisioned = has_condition(status, "RayClusterProvisioned") && !suspend_;
    set_condition(
        status, "RayClusterProvisioned", all || was_provisioned,
        all || was_provisioned ? "AllPodRunningAndReadyFirstTime" : "RayClusterPodsProvisioning",
        all || was_provisioned ? "all pods are ready for the first time"
                               : "the cluster's pods are being made ready");
    if (suspended) {
      status["state"] = "suspended";
    } else if (all) {
      status["state"] = "ready";
    } else {
      status.erase("state");
    }
    status["observedGeneration"] =
        api::find_int(part(cluster_, "metadata"), "generation").value_or(0);
    return objects_.update_status(clusters_, key_, std::move(status));
  }

  const json::object cluster_;
  ObjectAccess& objects_;
  const api::KindInfo& clusters_;
  const api::KindInfo& pods_;
  const GatesOfNewPods& gates_;
  PodPace& pace_;
  const std::string key_, name_, uid_;
  const bool suspend_;
  std::map<std::string, std::vector<JobPod>> by_group_;
  std::int64_t alive_ = 0, heads_ready_ = 0, workers_ready_ = 0;
  std::size_t gated_ = 0;  // pods that wait behind a gate
  std::string refused_;    // why a pod could not be made
  Time again_ = kNever;
};

}  // namespace

void RayPodsController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind->kind == "RayCluster") {
    if (!change.deleted()) keys.push_back({nullptr, change.key});
    return;
  }
  const StoredObject* stored = change.stored ? change.stored : change.before;
  if (!stored) return;
  std::string key = key_of_controller(*stored, "ray.io", "RayCluster");
  if (!key.empty()) keys.push_back({nullptr, std::move(key)});
}

Result<Time> RayPodsController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  const api::KindInfo* clusters = objects.scheme().find("ray.io/v1", "RayCluster");
  const api::KindInfo* pods = objects.scheme().find("v1", "Pod");
  if (!clusters || !pods) return Error{"the kinds RayCluster and Pod are not known"};
  auto cluster = objects.get(*clusters, key.name);
  if (!cluster) return kNever;
  return RaySync(std::move(*cluster), objects, *clusters, *pods, gates_, pace_).run();
}

}  // namespace sluice::host
