#include "host/executor/pod_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "api/codec/codec.hpp"
#include "host/executor/pod_environment.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::size_t bytes_of(const ContainerSpec& container) {
  std::size_t out = 0;
  for (const auto* list : {&container.argv, &container.env})
    for (const std::string& text : *list) out += text.size();
  return out;
}

bool has_command(const json::object& container) {
  const json::array* command = api::find_array(container, "command");
  return command && !command->empty();
}

/// What stands for the container's image; empty when it has a command of its own, or nothing does.
std::vector<std::string> stand_in(const json::object& container, const Entrypoints& images) {
  if (has_command(container)) return {};
  const auto* found = entrypoint_of(images, api::find_text(container, "image"));
  return found ? *found : std::vector<std::string>();
}

/// nullopt: they are too long.
std::optional<std::vector<std::string>> words(const json::object& container,
                                              const PodVariables& variables,
                                              std::vector<std::string> out) {
  std::size_t left = PodVariables::kMostBytes;
  for (const char* list : {"command", "args"}) {
    const json::array* array = api::find_array(container, list);
    for (std::size_t i = 0; array && i < array->size(); ++i) {
      if (!(*array)[i].is_string()) continue;
      auto word = variables.expand(api::view((*array)[i].get_string()), left);
      if (!word) return std::nullopt;
      left -= word->size();
      out.push_back(std::move(*word));
    }
  }
  return out;
}

/// Names become parts of paths.
bool is_label(std::string_view name) {
  return !name.empty() && name.size() <= 63 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

/// In the engine's units: thousandths of a processor, bytes. 0: nothing is said.
std::int64_t amount_of(const json::object& container, const char* list, const char* resource) {
  const json::value* value = api::find(part(part(container, "resources"), list), resource);
  return value ? api::engine_amount(resource, api::quantity_or_zero(*value)) : 0;
}

Result<ContainerSpec, PodProblem> plan_container(const json::object& container, bool init,
                                                 const json::object& pod, const PodSources& sources,
                                                 const std::string& home,
                                                 PodEnvironment& environment) {
  ContainerSpec out;
  out.name = api::find_text(container, "name");
  out.init = init;
  if (!is_label(out.name)) {
    return PodProblem{"InvalidContainerName", "container name \"" + out.name + "\" is no label"};
  }
  if (init && api::find_text(container, "restartPolicy") == "Always") {
    return PodProblem{"SidecarNotSupported",
                      "init container \"" + out.name +
                          "\" has restartPolicy Always; the local executor runs no sidecars"};
  }
  std::vector<std::string> entrypoint = stand_in(container, sources.images);
  if (!has_command(container) && entrypoint.empty()) {
    return PodProblem{
        "CommandMissing",
        "container \"" + out.name +
            "\" names no command; the local executor runs no images (here \"" +
            std::string(api::find_text(container, "image")) +
            "\"), so the pod has to say what to run: command: [PROGRAM, ARGUMENT, …]; or the "
            "configuration what the image stands for: executor.images"};
  }
  auto variables = environment.of(container);
  if (!variables) return variables.error();
  PodVariables all;
  bool fits = true;
  for (const std::string& text : sources.environment) {
    const std::size_t equals = text.find('=');
    fits &=
        all.set(text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1));
  }
  if (!home.empty()) fits &= all.set("HOME", home);
  const std::string_view hostname = api::find_text(part(pod, "spec"), "hostname");
  fits &= all.set(
      "HOSTNAME",
      std::string(hostname.empty() ? api::find_text(part(pod, "metadata"), "name") : hostname));
  for (const auto& [name, value] : *variables) fits &= all.set(name, value);
  auto argv = words(container, *variables, std::move(entrypoint));
  if (!fits || !argv) return too_long(out.name);
  for (const auto& [name, value] : all) out.env.push_back(name + "=" + value);
  out.argv = std::move(*argv);
  out.working_dir = api::find_text(container, "workingDir");
  out.limits = {amount_of(container, "limits", "cpu"), amount_of(container, "requests", "cpu"),
                amount_of(container, "limits", "memory")};
  out.no_new_privileges =
      !api::find_bool(part(container, "securityContext"), "allowPrivilegeEscalation", true);
  return out;
}

}  // namespace

std::vector<std::string> inherited_environment() {
  std::vector<std::string> out;
  for (const char* name :
       {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets them
    if (value) out.push_back(std::string(name) + "=" + value);
  }
  return out;
}

Result<RunSpec, PodProblem> plan_pod(const json::object& pod, const PodSources& sources,
                                     const PodUser& user) {
  RunSpec out;
  const json::object& spec = part(pod, "spec");
  if (const PodSupport support = support_of(pod, user.as, sources.held); !support.refused.empty())
    return PodProblem{"NotSupported", support.refused};
  out.uid = api::find_text(part(pod, "metadata"), "uid");
  out.pod = key_of(pod);
  out.grace_seconds = api::find_int(spec, "terminationGracePeriodSeconds").value_or(30);
  const std::string_view restart = api::find_text(spec, "restartPolicy");
  if (restart == "Never") out.restart = RestartPolicy::kNever;
  if (restart == "OnFailure") out.restart = RestartPolicy::kOnFailure;
  PodProblem problem;
  PodEnvironment environment(pod, sources);
  std::size_t bytes = 0;
  for (const bool init : {true, false}) {
    for_each_object(
        spec, init ? "initContainers" : "containers", [&](const json::object& container) {
          if (!problem.reason.empty()) return;
          auto planned = plan_container(container, init, pod, sources, user.home, environment);
          if (planned && (bytes += bytes_of(*planned)) > PodEnvironment::kMostBytes) {
            problem = too_long_together();
          } else if (planned) {
            out.containers.push_back(std::move(*planned));
          } else {
            problem = planned.error();
          }
        });
  }
  if (!problem.reason.empty()) return problem;
  if (out.containers.empty()) return PodProblem{"CommandMissing", "the pod has no containers"};
  return out;
}

}  // namespace sluice::host
