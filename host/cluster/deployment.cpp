#include "host/cluster/deployment.hpp"

#include <boost/json/array.hpp>
#include <utility>

#include "host/access/secrets.hpp"
#include "host/cluster/roles.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kName = "sluice-observer";
constexpr int kPort = 6480;
// Of nobody in particular: neither root nor one that a Debian package makes.
constexpr int kUser = 10001;
constexpr const char* kKubeconfig = "/run/sluice/kubeconfig";
constexpr const char* kConfigFolder = "/etc/sluice-observer";

json::object labels() { return {{"app.kubernetes.io/name", kName}}; }

json::object object(const char* api_version, const char* kind, const char* name,
                    const std::string& ns) {
  json::object metadata{{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  metadata["labels"] = labels();
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

json::object binding(const std::string& ns) {
  json::object out = object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", kName, "");
  out["roleRef"] = json::object{
      {"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", kName}};
  out["subjects"] =
      json::array{json::object{{"kind", "ServiceAccount"}, {"name", kName}, {"namespace", ns}}};
  return out;
}

json::object container(const ObserverDeployment& deployment) {
  json::array command{"sluice",   "observe", "--address", "0.0.0.0:6480", "--write-kubeconfig",
                      kKubeconfig};
  json::array mounts{json::object{{"name", "run"}, {"mountPath", "/run/sluice"}}};
  if (!deployment.config.empty()) {
    command.emplace_back("--config");
    command.emplace_back(std::string(kConfigFolder) + "/sluice.yaml");
    mounts.push_back(
        json::object{{"name", "config"}, {"mountPath", kConfigFolder}, {"readOnly", true}});
  }
  for (const std::string& each : deployment.options) command.emplace_back(each);
  return {
      {"name", "observe"},
      {"image", deployment.image},
      {"command", std::move(command)},
      // So that `kubectl exec … -- sluice explain` asks this observer.
      {"env", json::array{json::object{{"name", "KUBECONFIG"}, {"value", kKubeconfig}}}},
      {"ports", json::array{json::object{{"name", "https"}, {"containerPort", kPort}}}},
      {"readinessProbe",
       json::object{
           {"httpGet", json::object{{"path", "/readyz"}, {"port", "https"}, {"scheme", "HTTPS"}}}}},
      {"resources", json::object{{"requests", json::object{{"cpu", "100m"}, {"memory", "128Mi"}}}}},
      {"securityContext", json::object{{"allowPrivilegeEscalation", false},
                                       {"capabilities", json::object{{"drop", json::array{"ALL"}}}},
                                       {"readOnlyRootFilesystem", true}}},
      {"volumeMounts", std::move(mounts)}};
}

json::object pod_template(const ObserverDeployment& deployment) {
  json::array volumes{
      json::object{{"name", "run"}, {"emptyDir", json::object{{"medium", "Memory"}}}}};
  json::object metadata{{"labels", labels()}};
  if (!deployment.config.empty()) {
    volumes.push_back(
        json::object{{"name", "config"}, {"configMap", json::object{{"name", kName}}}});
    // Another configuration is another pod: it is read at the start only.
    metadata["annotations"] =
        json::object{{"sluice.dev/config-sha256", to_hex(sha256(deployment.config))}};
  }
  return {{"metadata", std::move(metadata)},
          {"spec", json::object{
                       {"serviceAccountName", kName},
                       {"securityContext",
                        json::object{{"runAsNonRoot", true},
                                     {"runAsUser", kUser},
                                     {"runAsGroup", kUser},
                                     {"fsGroup", kUser},
                                     {"seccompProfile", json::object{{"type", "RuntimeDefault"}}}}},
                       {"containers", json::array{container(deployment)}},
                       {"volumes", std::move(volumes)}}}};
}

}  // namespace

std::vector<json::object> observer_objects(const ObserverDeployment& deployment,
                                           const std::vector<FollowedKind>& kinds) {
  const std::string& ns = deployment.ns;
  std::vector<json::object> out;
  out.push_back(object("v1", "Namespace", ns.c_str(), ""));
  out.push_back(object("v1", "ServiceAccount", kName, ns));
  out.push_back(cluster_role(kName, labels(), rules_to_follow(kinds)));
  out.push_back(binding(ns));
  if (!deployment.config.empty()) {
    json::object config = object("v1", "ConfigMap", kName, ns);
    config["data"] = json::object{{"sluice.yaml", deployment.config}};
    out.push_back(std::move(config));
  }
  json::object pods = object("apps/v1", "Deployment", kName, ns);
  pods["spec"] = json::object{{"replicas", 1},
                              {"selector", json::object{{"matchLabels", labels()}}},
                              {"template", pod_template(deployment)}};
  out.push_back(std::move(pods));
  json::object service = object("v1", "Service", kName, ns);
  service["spec"] = json::object{
      {"selector", labels()},
      {"ports",
       json::array{json::object{{"name", "https"}, {"port", kPort}, {"targetPort", "https"}}}}};
  out.push_back(std::move(service));
  return out;
}

}  // namespace sluice::host
