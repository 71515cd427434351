#include "host/executor/pod_support.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

bool is_there(const json::object& object, std::string_view key) {
  const json::value* value = api::find(object, key);
  if (value == nullptr || value->is_null()) return false;
  if (value->is_object()) return !value->get_object().empty();
  return !value->is_array() || !value->get_array().empty();
}

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

class Judge {
 public:
  Judge(const json::object& pod, const ProcessUser& as, const HeldLimits& held)
      : spec_(part(pod, "spec")), as_(as), held_(held) {}

  PodSupport run() {
    pod();
    for (const char* list : {"initContainers", "containers"})
      for_each_object(spec_, list, [&](const json::object& each) { container(each); });
    return std::move(out_);
  }

 private:
  void refuse(const std::string& what, const std::string& why) {
    if (out_.refused.empty()) out_.refused = what + ": " + why;
  }
  void ignore(const std::string& what, const std::string& why) {
    const std::string text = what + ": " + why;
    if (std::find(out_.ignored.begin(), out_.ignored.end(), text) == out_.ignored.end())
      out_.ignored.push_back(text);
  }

  void pod() {
    context("spec.securityContext", part(spec_, "securityContext"));
    const std::string_view runtime = api::find_text(spec_, "runtimeClassName");
    if (!runtime.empty())
      refuse("spec.runtimeClassName " + quoted(runtime),
             "the local executor starts processes of this machine and has no other runtime");
    if (!api::find_bool(spec_, "hostUsers", true))
      refuse("spec.hostUsers false", "the local executor gives pods no users of their own");
    if (const auto os = api::find_text(part(spec_, "os"), "name"); !os.empty() && os != "linux")
      refuse("spec.os.name " + quoted(os), "this machine runs Linux");
    if (const auto account = api::find_text(spec_, "serviceAccountName");
        !account.empty() && account != "default")
      ignore("spec.serviceAccountName " + quoted(account),
             "pods get no credentials for the API here");
    if (is_there(spec_, "resourceClaims"))
      ignore("spec.resourceClaims", "no devices are handed to the pod");
  }

  // Of a pod or of a container; the fields have the same names.
  void context(const std::string& path, const json::object& context) {
    const auto same = [&](const char* key, std::int64_t ours, const char* what) {
      const std::optional<std::int64_t> wanted = api::find_int(context, key);
      if (wanted && *wanted != ours)
        refuse(path + "." + key + " " + std::to_string(*wanted),
               std::string("the local executor starts processes as ") + what + " " +
                   std::to_string(ours) + " and cannot change that");
    };
    same("runAsUser", as_.user, "user");
    same("runAsGroup", as_.group, "group");
    if (api::find_bool(context, "runAsNonRoot", false) && as_.user == 0)
      refuse(path + ".runAsNonRoot", "the local executor runs as root, and so do its processes");
    if (api::find_bool(context, "privileged", false))
      refuse(path + ".privileged", "the local executor gives no privileges");
    if (api::find_bool(context, "readOnlyRootFilesystem", false))
      refuse(path + ".readOnlyRootFilesystem",
             "processes of the local executor see the file system of this machine");
    const json::object& capabilities = part(context, "capabilities");
    if (is_there(capabilities, "add"))
      refuse(path + ".capabilities.add", "the local executor gives no privileges");
    if (is_there(capabilities, "drop") && as_.user == 0)
      refuse(path + ".capabilities.drop",
             "the local executor runs as root and takes no capabilities away");
    for (const char* key : {"seccompProfile", "appArmorProfile"})
      if (api::find_text(part(context, key), "type") == "Localhost")
        refuse(path + "." + key, "the local executor loads no profiles");
    for (const char* key : {"seLinuxOptions", "windowsOptions"})
      if (is_there(context, key)) refuse(path + "." + key, "the local executor does not set them");
    for (const char* key : {"fsGroup", "supplementalGroups", "sysctls", "procMount"})
      if (is_there(context, key)) ignore(path + "." + key, "is not set");
  }

  void container(const json::object& container) {
    const std::string name = "container " + quoted(api::find_text(container, "name")) + ": ";
    context(name + "securityContext", part(container, "securityContext"));
    for_each_object(container, "volumeMounts", [&](const json::object& each) {
      mount(name, api::find_text(each, "name"), api::find_text(each, "mountPath"));
    });
    if (is_there(container, "volumeDevices"))
      refuse(name + "volumeDevices", "the local executor attaches no devices");
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
      if (is_there(container, probe))
        ignore(name + probe, "is not run; a container is ready while its process runs");
    if (const auto policy = api::find_text(container, "terminationMessagePolicy");
        !policy.empty() && policy != "File")
      ignore(name + "terminationMessagePolicy", "no message is taken of a container that ended");
    if (is_there(container, "lifecycle")) ignore(name + "lifecycle", "its hooks are not run");
    for (const auto& limit : part(part(container, "resources"), "limits")) {
      const std::string_view resource = api::view(limit.key());
      if (resource == "cpu" ? held_.cpu : resource == "memory" && held_.memory) continue;
      ignore(name + "resources.limits." + std::string(resource), "processes are not held to it");
    }
  }

  void mount(const std::string& container, std::string_view volume, std::string_view path) {
    const std::string what =
        container + "volumeMounts " + quoted(volume) + " at " + std::string(path);
    std::string kind = "unknown volume";
    for_each_object(spec_, "volumes", [&](const json::object& each) {
      if (api::find_text(each, "name") != volume) return;
      for (const auto& member : each)
        if (member.key() != "name") kind = std::string(member.key());
    });
    if (kind == "emptyDir")
      ignore(what, "nothing is mounted; the working directory is the pod's own");
    else
      refuse(what, kind +
                       ": the local executor mounts nothing: the program would see what this "
                       "machine has there");
  }

  const json::object& spec_;
  const ProcessUser as_;
  const HeldLimits held_;
  PodSupport out_;
};

}  // namespace

PodSupport support_of(const json::object& pod, const ProcessUser& as, const HeldLimits& held) {
  return Judge(pod, as, held).run();
}

}  // namespace sluice::host
