#include "host/executor/pod_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/executor/pod_use.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::string text_of(Time time) { return format_time(time / kSecond * kSecond); }

/// What a run used, which may explain why it ended.
std::string use_text(const GroupUse& use) {
  std::string out;
  if (use.cpu_us > 0)
    out = fmt::format("used {:.1f} s of processor time", static_cast<double>(use.cpu_us) / 1e6);
  if (use.memory_peak_bytes > 0)
    out += fmt::format("{}at most {} Mi of memory", out.empty() ? "used " : " and ",
                       (use.memory_peak_bytes + (1 << 20) - 1) >> 20);
  return out;
}

json::object run_json(const ContainerRun& run) {
  json::object out;
  switch (run.state) {
    case ContainerRun::State::kWaiting:
      out["reason"] = run.reason.empty() ? "ContainerCreating" : run.reason;
      break;
    case ContainerRun::State::kRunning:
      out["startedAt"] = text_of(run.started);
      return {{"running", std::move(out)}};
    case ContainerRun::State::kTerminated:
      out["exitCode"] = run.exit_code;
      if (run.signal != 0) out["signal"] = run.signal;
      out["reason"] = run.reason;
      out["startedAt"] = text_of(run.started);
      out["finishedAt"] = text_of(run.finished);
      break;
  }
  const std::string message = run.message.empty() ? use_text(run.use) : run.message;
  if (!message.empty()) out["message"] = message;
  return {{run.state == ContainerRun::State::kWaiting ? "waiting" : "terminated", std::move(out)}};
}

std::string image_of(const json::object& pod, const ContainerState& container) {
  std::string image;
  for_each_object(part(pod, "spec"), container.init ? "initContainers" : "containers",
                  [&](const json::object& spec) {
                    if (api::find_text(spec, "name") == container.name) {
                      image = api::find_text(spec, "image");
                    }
                  });
  return image;
}

json::object container_json(const json::object& pod, const ContainerState& container) {
  const bool running = container.now.state == ContainerRun::State::kRunning;
  const bool succeeded =
      container.now.state == ContainerRun::State::kTerminated && container.now.exit_code == 0;
  json::object out{{"name", container.name},
                   {"image", image_of(pod, container)},
                   {"imageID", ""},
                   {"ready", container.init ? succeeded : running},
                   {"restartCount", container.restarts},
                   {"started", running},
                   {"state", run_json(container.now)},
                   {"lastState", json::object()}};
  if (container.last) out["lastState"] = run_json(*container.last);
  if (running) out["containerID"] = "process://" + std::to_string(container.now.pid);
  return out;
}

struct Counts {
  bool initialized = true;
  bool ready = true;
  std::string not_ready;
};

Counts count(const RunState& state) {
  Counts out;
  out.ready = !state.containers.empty();  // else none was ever to be started
  for (const ContainerState& container : state.containers) {
    if (container.init) {
      out.initialized = out.initialized &&
                        container.now.state == ContainerRun::State::kTerminated &&
                        container.now.exit_code == 0;
    } else if (container.now.state != ContainerRun::State::kRunning) {
      out.ready = false;
      out.not_ready += (out.not_ready.empty() ? "" : " ") + container.name;
    }
  }
  return out;
}

std::string_view phase_of(RunPhase phase) {
  switch (phase) {
    case RunPhase::kStarting:
      return "Pending";
    case RunPhase::kRunning:
      return "Running";
    case RunPhase::kSucceeded:
      return "Succeeded";
    case RunPhase::kFailed:
      break;
  }
  return "Failed";
}

}  // namespace

bool is_scheduled(const json::object& status) { return has_condition(status, "PodScheduled"); }

bool set_pod_condition(json::object& status, std::string_view type, bool on,
                       std::string_view reason, std::string_view message, Time now) {
  if (condition_says(find_condition(status, type), on, reason, message)) return false;
  json::object next{{"type", type},
                    {"status", on ? "True" : "False"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", text_of(now)}};
  if (!reason.empty()) next["reason"] = reason;
  if (!message.empty()) next["message"] = message;
  put_condition(status, std::move(next));
  return true;
}

json::object pod_status(const json::object& pod, const RunState& state, Time now) {
  json::object status = part(pod, "status");
  status["phase"] = phase_of(state.phase);
  for (const auto& [key, text] :
       {std::pair{"reason", &state.reason}, std::pair{"message", &state.message}}) {
    if (text->empty()) {
      status.erase(key);
    } else {
      status[key] = *text;
    }
  }
  status["hostIP"] = "127.0.0.1";
  status["podIP"] = "127.0.0.1";
  status["podIPs"] = json::array{json::object{{"ip", "127.0.0.1"}}};
  if (api::find_text(status, "startTime").empty()) status["startTime"] = text_of(now);
  const Counts counts = count(state);
  const bool done = state.phase == RunPhase::kSucceeded;
  const char* why = done ? "PodCompleted" : "ContainersNotReady";
  const std::string missing =
      done || counts.ready ? "" : "containers with unready status: [" + counts.not_ready + "]";
  set_pod_condition(status, "Initialized", counts.initialized,
                    counts.initialized ? (done ? "PodCompleted" : "") : "ContainersNotInitialized",
                    "", now);
  for (const char* type : {"Ready", "ContainersReady"}) {
    set_pod_condition(status, type, counts.ready, counts.ready ? "" : why, missing, now);
  }
  json::array init, containers;
  for (const ContainerState& container : state.containers) {
    (container.init ? init : containers).push_back(container_json(pod, container));
  }
  if (!init.empty()) status["initContainerStatuses"] = std::move(init);
  status["containerStatuses"] = std::move(containers);
  if (const auto use = use_of(state))
    set_pod_condition(status, kUsedCondition, true, "Counted", to_text(*use), now);
  return status;
}

}  // namespace sluice::host
