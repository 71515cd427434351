#include "host/cluster/deployment.hpp"

#include <boost/json/array.hpp>
#include <utility>

#include "host/access/secrets.hpp"
#include "host/base/digest.hpp"
#include "host/cluster/roles.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

// An unprivileged id: neither root nor one that a Debian package makes.
constexpr int kUser = 10001;
constexpr const char* kKubeconfig = "/run/sluice/kubeconfig";
constexpr const char* kKept = "kept";  // the volume of what a pod keeps
constexpr const char* kRbac = "rbac.authorization.k8s.io";

json::object labels(const ClusterDeployment& of) { return {{"app.kubernetes.io/name", of.name}}; }

std::string config_folder(const ClusterDeployment& of) { return "/etc/" + of.name; }

json::object object(const ClusterDeployment& of, const char* api_version, const char* kind,
                    bool namespaced = true) {
  json::object metadata{{"name", of.name}};
  if (namespaced) metadata["namespace"] = of.ns;
  metadata["labels"] = labels(of);
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

json::object binding(const ClusterDeployment& of, bool anywhere) {
  json::object out = object(of, "rbac.authorization.k8s.io/v1",
                            anywhere ? "ClusterRoleBinding" : "RoleBinding", !anywhere);
  out["roleRef"] = json::object{
      {"apiGroup", kRbac}, {"kind", anywhere ? "ClusterRole" : "Role"}, {"name", of.name}};
  out["subjects"] = json::array{
      json::object{{"kind", "ServiceAccount"}, {"name", of.name}, {"namespace", of.ns}}};
  return out;
}

json::object container(const ClusterDeployment& deployment) {
  json::array command{"sluice",
                      json::string(deployment.command),
                      "--address",
                      json::string("0.0.0.0:" + std::to_string(deployment.port)),
                      "--write-kubeconfig",
                      kKubeconfig};
  json::array mounts{json::object{{"name", "run"}, {"mountPath", "/run/sluice"}}};
  if (!deployment.config.empty()) {
    command.emplace_back("--config");
    command.emplace_back(config_folder(deployment) + "/sluice.yaml");
    mounts.push_back(json::object{
        {"name", "config"}, {"mountPath", config_folder(deployment)}, {"readOnly", true}});
  }
  if (!deployment.kept_folder.empty())
    mounts.push_back(json::object{{"name", kKept}, {"mountPath", deployment.kept_folder}});
  for (const std::string& each : deployment.options) command.emplace_back(each);
  // So that `kubectl exec … -- sluice explain` asks this pod.
  json::array environment{json::object{{"name", "KUBECONFIG"}, {"value", kKubeconfig}}};
  if (deployment.advertises) {
    // As the API server fills it in: who applies it twice, in two ways, meets no conflict.
    const json::object field{{"apiVersion", "v1"}, {"fieldPath", "status.podIP"}};
    environment.push_back(json::object{{"name", "POD_IP"}, {"valueFrom", {{"fieldRef", field}}}});
    for (const char* each : {"--advertise-ip", "$(POD_IP)"}) command.emplace_back(each);
  }
  const bool hooked = deployment.webhook_port != 0;
  json::array ports{json::object{{"name", "https"}, {"containerPort", deployment.port}}};
  if (hooked)
    ports.push_back(json::object{{"name", "webhook"}, {"containerPort", deployment.webhook_port}});
  return {
      {"name", deployment.command},
      {"image", deployment.image},
      {"command", std::move(command)},
      {"env", std::move(environment)},
      {"ports", std::move(ports)},
      {"readinessProbe",
       json::object{{"httpGet", json::object{{"path", "/readyz"},
                                             {"port", hooked ? "webhook" : "https"},
                                             {"scheme", "HTTPS"}}}}},
      {"resources", json::object{{"requests", json::object{{"cpu", "100m"}, {"memory", "128Mi"}}}}},
      {"securityContext", json::object{{"allowPrivilegeEscalation", false},
                                       {"capabilities", json::object{{"drop", json::array{"ALL"}}}},
                                       {"readOnlyRootFilesystem", true}}},
      {"volumeMounts", std::move(mounts)}};
}

json::object pod_template(const ClusterDeployment& deployment) {
  json::array volumes{
      json::object{{"name", "run"}, {"emptyDir", json::object{{"medium", "Memory"}}}}};
  json::object metadata{{"labels", labels(deployment)}};
  if (!deployment.config.empty()) {
    volumes.push_back(
        json::object{{"name", "config"}, {"configMap", json::object{{"name", deployment.name}}}});
    // Another configuration is another pod: it is read at the start only.
    metadata["annotations"] =
        json::object{{"sluice.dev/config-sha256", to_hex(sha256(deployment.config))}};
  }
  return {{"metadata", std::move(metadata)},
          {"spec", json::object{
                       {"serviceAccountName", deployment.name},
                       {"securityContext",
                        json::object{{"runAsNonRoot", true},
                                     {"runAsUser", kUser},
                                     {"runAsGroup", kUser},
                                     {"fsGroup", kUser},
                                     {"seccompProfile", json::object{{"type", "RuntimeDefault"}}}}},
                       {"containers", json::array{container(deployment)}},
                       {"volumes", std::move(volumes)}}}};
}

/// A claim of its own for each pod. They do not depend on each other: none waits for another one.
void keep_folders(const ClusterDeployment& of, json::object& spec) {
  spec["serviceName"] = of.name;
  spec["podManagementPolicy"] = "Parallel";
  const json::object requests{{"storage", std::to_string(of.kept_bytes)}};
  const json::object claim{{"accessModes", json::array{"ReadWriteOnce"}},
                           {"resources", json::object{{"requests", requests}}}};
  spec["volumeClaimTemplates"] =
      json::array{json::object{{"metadata", json::object{{"name", kKept}}}, {"spec", claim}}};
}

}  // namespace

std::vector<json::object> deployment_objects(const ClusterDeployment& of) {
  std::vector<json::object> out;
  json::object ns = object(of, "v1", "Namespace", false);
  ns["metadata"].as_object()["name"] = of.ns;
  out.push_back(std::move(ns));
  out.push_back(object(of, "v1", "ServiceAccount"));
  out.push_back(cluster_role(of.name, labels(of), of.cluster_rules));
  out.push_back(binding(of, true));
  if (!of.own_rules.empty()) {
    json::object role = object(of, "rbac.authorization.k8s.io/v1", "Role");
    role["rules"] = of.own_rules;
    out.push_back(std::move(role));
    out.push_back(binding(of, false));
  }
  if (!of.config.empty()) {
    json::object config = object(of, "v1", "ConfigMap");
    config["data"] = json::object{{"sluice.yaml", of.config}};
    out.push_back(std::move(config));
  }
  const bool keeps = !of.kept_folder.empty();
  json::object pods = object(of, "apps/v1", keeps ? "StatefulSet" : "Deployment");
  json::object spec{{"replicas", of.replicas},
                    {"selector", json::object{{"matchLabels", labels(of)}}},
                    {"template", pod_template(of)}};
  if (keeps) keep_folders(of, spec);
  pods["spec"] = std::move(spec);
  out.push_back(std::move(pods));
  json::object service = object(of, "v1", "Service");
  service["spec"] = json::object{
      {"selector", labels(of)},
      {"ports",
       json::array{json::object{{"name", "https"}, {"port", of.port}, {"targetPort", "https"}}}}};
  out.push_back(std::move(service));
  return out;
}

}  // namespace sluice::host
