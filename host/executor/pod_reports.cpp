#include "host/executor/pod_reports.hpp"

#include <utility>
#include <vector>

#include "host/base/log.hpp"
#include "host/executor/pod_status.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/pods.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

const api::KindInfo& pod_kind(const ObjectAccess& objects) {
  return *objects.scheme().find("v1", "Pod");
}

/// The pod that is meant, if it is there and has not ended.
std::optional<json::object> open_pod(const ObjectAccess& objects, const std::string& uid,
                                     const std::string& key) {
  auto pod = objects.get(pod_kind(objects), key);
  if (!pod || api::find_text(part(*pod, "metadata"), "uid") != uid ||
      has_ended(part(*pod, "status")))
    return std::nullopt;
  return pod;
}

/// An Event of a pod that may be gone.
void emit(ObjectAccess& objects, const std::string& key, bool warning, const char* reason,
          const std::string& message) {
  const api::KindInfo& kind = pod_kind(objects);
  if (objects.exists(kind, key)) objects.emit({{&kind, key}, warning, reason, message});
}

/// Containers that run now and did not in the status so far.
std::vector<std::string> newly_started(const json::object& status, const RunState& state) {
  std::vector<std::string> out;
  for (const ContainerState& container : state.containers) {
    if (container.now.state != ContainerRun::State::kRunning) continue;
    const std::string id = "process://" + std::to_string(container.now.pid);
    bool known = false;
    for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
      for_each_object(status, list, [&](const json::object& entry) {
        known = known || api::find_text(entry, "containerID") == id;
      });
    }
    if (!known) out.push_back(container.name);
  }
  return out;
}

void write_state(ObjectAccess& objects, const std::string& uid, const std::string& key,
                 const RunState& state) {
  const auto pod = open_pod(objects, uid, key);
  if (!pod) return;
  for (const std::string& name : newly_started(part(*pod, "status"), state))
    emit(objects, key, false, "Started", "Started container " + name);
  for (const ContainerState& container : state.containers) {
    const ContainerRun& last = container.last ? *container.last : container.now;
    if (last.reason == "StartError") emit(objects, key, true, "Failed", "Error: " + last.message);
  }
  const ApiResult<void> written =
      objects.update_status(pod_kind(objects), key, pod_status(*pod, state, objects.now()));
  if (!written)
    log(LogLevel::kError, "executor", "cannot write the status of a pod",
        {{"pod", key}, {"reason", written.error().text}});
}

void write_problem(ObjectAccess& objects, const std::string& uid, const std::string& key,
                   const PodProblem& problem) {
  const auto pod = open_pod(objects, uid, key);
  if (!pod) return;
  RunState state;
  state.phase = problem.may_pass ? RunPhase::kStarting : RunPhase::kFailed;
  state.reason = problem.may_pass ? "" : problem.reason;
  state.message = problem.may_pass ? "" : problem.text;
  for_each_object(part(*pod, "spec"), "containers", [&](const json::object& container) {
    ContainerState& added = state.containers.emplace_back();
    added.name = api::find_text(container, "name");
    added.now.reason = problem.reason;
    added.now.message = problem.text;
  });
  emit(objects, key, true, "Failed", "Error: " + problem.text);
  static_cast<void>(
      objects.update_status(pod_kind(objects), key, pod_status(*pod, state, objects.now())));
}

}  // namespace

void PodReports::state(const std::string& uid, const std::string& key, RunState state) const {
  kernel_.post([uid, key, state = std::move(state)](ObjectAccess& objects) {
    write_state(objects, uid, key, state);
  });
}

void PodReports::problem(const std::string& uid, const std::string& key,
                         const PodProblem& problem) const {
  kernel_.post(
      [uid, key, problem](ObjectAccess& objects) { write_problem(objects, uid, key, problem); });
}

void PodReports::never_started(const std::string& uid, const std::string& key) const {
  RunState state;
  state.phase = RunPhase::kFailed;
  state.reason = "Terminated";
  state.message = "the pod was deleted before it was started";
  this->state(uid, key, std::move(state));
}

void PodReports::not_supported(const std::string& key, const std::string& text) const {
  kernel_.post(
      [key, text](ObjectAccess& objects) { emit(objects, key, true, "NotSupported", text); });
}

void PodReports::stopping(const std::string& key) const {
  kernel_.post([key](ObjectAccess& objects) {
    emit(objects, key, false, "Killing", "Stopping the containers");
  });
}

}  // namespace sluice::host
