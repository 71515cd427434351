#include "host/executor/pod_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "api/codec/codec.hpp"
#include "host/executor/pod_variables.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::string decode_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) continue;
    bits = (bits << 6) | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> count) & 0xffU);
  }
  return out;
}

constexpr std::size_t kMostOfAPodBytes = 8 * PodVariables::kMostBytes;

std::size_t bytes_of(const ContainerSpec& container) {
  std::size_t out = 0;
  for (const auto* list : {&container.argv, &container.env})
    for (const std::string& text : *list) out += text.size();
  return out;
}

PodProblem too_long(std::string_view container) {
  return {"ArgumentsTooLong", "container \"" + std::string(container) +
                                  "\": its words and variables are longer than " +
                                  std::to_string(PodVariables::kMostBytes) +
                                  " bytes together, with what $(NAME) stands for"};
}

/// Works out the environment of one pod's containers.
class Environment {
 public:
  Environment(const json::object& pod, const PodSources& sources) : pod_(pod), sources_(sources) {}

  Result<PodVariables, PodProblem> of(const json::object& container) {
    PodVariables out;
    problem_ = {};
    bool fits = true;
    for_each_object(container, "envFrom",
                    [&](const json::object& from) { fits = fits && add_all(from, out); });
    for_each_object(container, "env", [&](const json::object& entry) {
      if (!fits) return;
      const std::string name(api::find_text(entry, "name"));
      const json::object& from = part(entry, "valueFrom");
      if (from.empty()) {
        auto value = out.expand(api::find_text(entry, "value"));
        fits = value && out.set(name, std::move(*value));
      } else if (auto value = resolve(from, container)) {
        fits = out.set(name, std::move(*value));
      }
    });
    if (!fits) return too_long(api::find_text(container, "name"));
    if (!problem_.reason.empty()) return problem_;
    return out;
  }

 private:
  std::optional<json::object> find(std::string_view kind, const json::object& reference) {
    const std::string name(api::find_text(reference, "name"));
    const std::string ns(api::find_text(part(pod_, "metadata"), "namespace"));
    auto found = sources_.find(kind, ns + "/" + name);
    if (!found && !api::find_bool(reference, "optional", false)) {
      problem_ = {"CreateContainerConfigError", std::string(kind) + " \"" + name + "\" not found",
                  true};
    }
    return found;
  }

  /// Whether there was room.
  bool add_all(const json::object& from, PodVariables& out) {
    const std::string prefix(api::find_text(from, "prefix"));
    for (const auto& [key, kind] :
         {std::pair{"configMapRef", "ConfigMap"}, std::pair{"secretRef", "Secret"}}) {
      if (part(from, key).empty()) continue;
      const auto found = find(kind, part(from, key));
      if (!found) continue;
      for (const auto& member : part(*found, "data")) {
        if (!member.value().is_string()) continue;
        std::string value(api::view(member.value().get_string()));
        if (kind == std::string_view("Secret")) value = decode_base64(value);
        if (!out.set(prefix + std::string(member.key()), std::move(value))) return false;
      }
    }
    return true;
  }

  std::optional<std::string> resolve(const json::object& from, const json::object& container) {
    if (!part(from, "fieldRef").empty()) {
      return field(api::find_text(part(from, "fieldRef"), "fieldPath"));
    }
    if (!part(from, "resourceFieldRef").empty()) {
      return resource(part(from, "resourceFieldRef"), container);
    }
    for (const auto& [member, kind] :
         {std::pair{"configMapKeyRef", "ConfigMap"}, std::pair{"secretKeyRef", "Secret"}}) {
      const json::object& reference = part(from, member);
      if (reference.empty()) continue;
      const auto found = find(kind, reference);
      if (!found) return std::nullopt;
      const std::string key(api::find_text(reference, "key"));
      const json::value* value = api::find(part(*found, "data"), key);
      if (value && value->is_string()) {
        const std::string text(api::view(value->get_string()));
        return kind == std::string_view("Secret") ? decode_base64(text) : text;
      }
      if (!api::find_bool(reference, "optional", false)) {
        problem_ = {"CreateContainerConfigError",
                    "couldn't find key " + key + " in " + kind + " " + key_of(*found), true};
      }
      return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<std::string> field(std::string_view path) {
    const json::object& metadata = part(pod_, "metadata");
    for (const char* map : {"labels", "annotations"}) {
      const std::string start = std::string("metadata.") + map + "['";
      if (path.starts_with(start) && path.ends_with("']")) {
        const std::string_view key = path.substr(start.size(), path.size() - start.size() - 2);
        return std::string(api::find_text(part(metadata, map), key));
      }
    }
    if (path.starts_with("metadata.")) return std::string(api::find_text(metadata, path.substr(9)));
    if (path.starts_with("spec.")) {
      return std::string(api::find_text(part(pod_, "spec"), path.substr(5)));
    }
    if (path == "status.podIP" || path == "status.hostIP" || path == "status.podIPs") {
      return "127.0.0.1";
    }
    problem_ = {"CreateContainerConfigError",
                "env refers to the field \"" + std::string(path) + "\", which is not supported",
                false};
    return std::nullopt;
  }

  std::optional<std::string> resource(const json::object& reference,
                                      const json::object& container) {
    const std::string_view path = api::find_text(reference, "resource");
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return "0";
    const json::value* value =
        api::find(part(part(container, "resources"), path.substr(0, dot)), path.substr(dot + 1));
    if (!value) return "0";
    const std::string_view name = path.substr(dot + 1);
    const std::int64_t amount = api::engine_amount(name, api::quantity_or_zero(*value));
    // Whole units, rounded up; cpu is counted in thousandths.
    return std::to_string(name == "cpu" ? (amount + 999) / 1000 : amount);
  }

  const json::object& pod_;
  const PodSources& sources_;
  PodProblem problem_;
};

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
                                                 const std::string& home) {
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
  auto variables = Environment(pod, sources).of(container);
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
  std::size_t bytes = 0;
  for (const bool init : {true, false}) {
    for_each_object(spec, init ? "initContainers" : "containers",
                    [&](const json::object& container) {
                      if (!problem.reason.empty()) return;
                      auto planned = plan_container(container, init, pod, sources, user.home);
                      if (planned && (bytes += bytes_of(*planned)) > kMostOfAPodBytes) {
                        problem = {"ArgumentsTooLong",
                                   "words and variables of all containers are longer than " +
                                       std::to_string(kMostOfAPodBytes) + " bytes together"};
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
