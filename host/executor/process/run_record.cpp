#include "host/executor/process/run_record.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::vector<std::string> texts(const json::object& object, std::string_view key) {
  std::vector<std::string> out;
  const json::array* array = api::find_array(object, key);
  if (array == nullptr) return out;
  for (const json::value& value : *array) {
    if (value.is_string()) out.emplace_back(api::view(value.get_string()));
  }
  return out;
}

std::int64_t number(const json::object& object, std::string_view key, std::int64_t absent = 0) {
  return api::find_int(object, key).value_or(absent);
}

Result<json::object> parse(std::string_view text, std::string_view what) {
  json::error_code problem;
  json::value value = json::parse(api::json_view(text), problem);
  if (problem || !value.is_object()) return Error{std::string(what) + " is not a JSON object"};
  return std::move(value.get_object());
}

json::object to_json(const ContainerRun& run) {
  return {{"state", static_cast<std::int64_t>(run.state)},
          {"reason", run.reason},
          {"message", run.message},
          {"exitCode", run.exit_code},
          {"signal", run.signal},
          {"started", run.started},
          {"finished", run.finished},
          {"pid", run.pid},
          {"cpuUs", run.use.cpu_us},
          {"memoryPeak", run.use.memory_peak_bytes}};
}

ContainerRun run_of(const json::object& object) {
  ContainerRun run;
  const std::int64_t state = number(object, "state");
  if (state == 1) run.state = ContainerRun::State::kRunning;
  if (state == 2) run.state = ContainerRun::State::kTerminated;
  run.reason = api::find_text(object, "reason");
  run.message = api::find_text(object, "message");
  run.exit_code = number(object, "exitCode");
  run.signal = number(object, "signal");
  run.started = number(object, "started");
  run.finished = number(object, "finished");
  run.pid = number(object, "pid");
  run.use.cpu_us = number(object, "cpuUs");
  run.use.memory_peak_bytes = number(object, "memoryPeak");
  return run;
}

constexpr std::string_view kPhases[] = {"Starting", "Running", "Succeeded", "Failed"};

}  // namespace

bool RunState::operator==(const RunState& other) const { return to_text(*this) == to_text(other); }

RunPaths::RunPaths(const std::filesystem::path& root, std::string_view uid)
    : folder(root / "pods" / uid),
      spec(folder / "spec.json"),
      owner(folder / "owner.json"),
      stop(folder / "stop"),
      logs(folder / "logs"),
      state(root / "states" / uid),
      work(folder / "work"),
      logs_full(root / "logs-full") {}

std::filesystem::path RunPaths::log(std::string_view container, std::int64_t start) const {
  return logs / container / (std::to_string(start) + ".log");
}

RunState fresh_state(const RunSpec& spec) {
  RunState state;
  for (const ContainerSpec& container : spec.containers) {
    ContainerState& added = state.containers.emplace_back();
    added.name = container.name;
    added.init = container.init;
    added.now.reason = container.init ? "ContainerCreating" : "PodInitializing";
  }
  if (!spec.containers.empty() && !spec.containers.front().init) {
    for (ContainerState& container : state.containers) container.now.reason = "ContainerCreating";
  }
  return state;
}

RunSpec outline_of(RunSpec spec) {
  for (ContainerSpec& container : spec.containers) {
    container.argv = {"(not kept)"};
    container.env.clear();
  }
  return spec;
}

std::string to_text(const RunSpec& spec) {
  json::array containers;
  for (const ContainerSpec& container : spec.containers) {
    containers.push_back(json::object{{"name", container.name},
                                      {"init", container.init},
                                      {"argv", api::to_array(container.argv)},
                                      {"env", api::to_array(container.env)},
                                      {"workingDir", container.working_dir},
                                      {"noNewPrivileges", container.no_new_privileges},
                                      {"cpuMilli", container.limits.cpu_milli},
                                      {"cpuShare", container.limits.cpu_share},
                                      {"memoryBytes", container.limits.memory_bytes}});
  }
  return json::serialize(json::object{{"uid", spec.uid},
                                      {"pod", spec.pod},
                                      {"containers", std::move(containers)},
                                      {"restart", static_cast<std::int64_t>(spec.restart)},
                                      {"graceSeconds", spec.grace_seconds},
                                      {"firstBackoffMs", spec.first_backoff_ms},
                                      {"logBytes", spec.log_bytes},
                                      {"logKeepFree", spec.log_keep_free},
                                      {"group", spec.group},
                                      {"user", spec.user},
                                      {"groupId", spec.group_id},
                                      {"allCalls", spec.all_calls},
                                      {"ownMemory", spec.own_memory}});
}

Result<RunSpec> parse_run_spec(std::string_view text) {
  Result<json::object> parsed = parse(text, "the run specification");
  if (!parsed) return parsed.error();
  const json::object& object = *parsed;
  RunSpec spec;
  spec.uid = api::find_text(object, "uid");
  spec.pod = api::find_text(object, "pod");
  spec.grace_seconds = number(object, "graceSeconds", 30);
  spec.first_backoff_ms = number(object, "firstBackoffMs", 10'000);
  spec.log_bytes = number(object, "logBytes");
  spec.log_keep_free = number(object, "logKeepFree");
  spec.group = api::find_text(object, "group");
  spec.user = number(object, "user");
  spec.group_id = number(object, "groupId");
  spec.all_calls = api::find_bool(object, "allCalls", false);
  spec.own_memory = api::find_bool(object, "ownMemory", false);
  const std::int64_t restart = number(object, "restart", 2);
  if (restart == 0) spec.restart = RestartPolicy::kNever;
  if (restart == 1) spec.restart = RestartPolicy::kOnFailure;
  const json::array* containers = api::find_array(object, "containers");
  if (containers == nullptr) return Error{"the run specification has no containers"};
  for (const json::value& value : *containers) {
    if (!value.is_object()) return Error{"the run specification has a malformed container"};
    const json::object& source = value.get_object();
    ContainerSpec& container = spec.containers.emplace_back();
    container.name = api::find_text(source, "name");
    container.init = api::find_bool(source, "init", false);
    container.argv = texts(source, "argv");
    container.env = texts(source, "env");
    container.working_dir = api::find_text(source, "workingDir");
    container.no_new_privileges = api::find_bool(source, "noNewPrivileges", false);
    container.limits = {number(source, "cpuMilli"), number(source, "cpuShare"),
                        number(source, "memoryBytes")};
    if (container.argv.empty()) return Error{"container " + container.name + " has no command"};
  }
  return spec;
}

std::string to_text(const RunState& state) {
  json::array containers;
  for (const ContainerState& container : state.containers) {
    json::object out{{"name", container.name},
                     {"init", container.init},
                     {"now", to_json(container.now)},
                     {"restarts", container.restarts},
                     {"firstStarted", container.first_started},
                     {"usedCpuUs", container.used.cpu_us},
                     {"usedMemoryPeak", container.used.memory_peak_bytes}};
    if (container.last) out["last"] = to_json(*container.last);
    containers.push_back(std::move(out));
  }
  return json::serialize(json::object{{"phase", kPhases[static_cast<std::size_t>(state.phase)]},
                                      {"reason", state.reason},
                                      {"message", state.message},
                                      {"containers", std::move(containers)}});
}

Result<RunState> parse_run_state(std::string_view text) {
  Result<json::object> parsed = parse(text, "the run state");
  if (!parsed) return parsed.error();
  const json::object& object = *parsed;
  RunState state;
  const std::string_view phase = api::find_text(object, "phase");
  for (std::size_t i = 0; i < std::size(kPhases); ++i) {
    if (kPhases[i] == phase) state.phase = static_cast<RunPhase>(i);
  }
  state.reason = api::find_text(object, "reason");
  state.message = api::find_text(object, "message");
  const json::array* containers = api::find_array(object, "containers");
  if (containers == nullptr) return state;
  for (const json::value& value : *containers) {
    if (!value.is_object()) return Error{"the run state has a malformed container"};
    const json::object& source = value.get_object();
    ContainerState& container = state.containers.emplace_back();
    container.name = api::find_text(source, "name");
    container.init = api::find_bool(source, "init", false);
    container.restarts = number(source, "restarts");
    container.first_started = number(source, "firstStarted");
    container.used.cpu_us = number(source, "usedCpuUs");
    container.used.memory_peak_bytes = number(source, "usedMemoryPeak");
    if (const json::object* now = api::find_object(source, "now")) container.now = run_of(*now);
    if (const json::object* last = api::find_object(source, "last")) container.last = run_of(*last);
  }
  return state;
}

}  // namespace sluice::host
