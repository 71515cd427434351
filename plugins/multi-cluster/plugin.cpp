// multi-cluster: jobs of a queue go to the cluster that has room. What becomes of a workload is
// decided in plan.hpp and carried out by the Dispatcher; here that is bound to the host.
#include <sluice/plugin.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cases.hpp"
#include "connection.hpp"
#include "dispatcher.hpp"
#include "explainer.hpp"
#include "forecast.hpp"
#include "names.hpp"
#include "schema.hpp"

namespace clusters {

using sluice::Again;
using sluice::Json;
using sluice::ObjectRef;

namespace {

// Of the workloads that are to be looked at because a cluster came or went.
constexpr std::size_t kPerCall = 32;

Settings settings_of(const Json& config) {
  Settings out;
  out.origin = config.string_or("origin", out.origin);
  out.secret_namespace = config.string_or("secretNamespace", out.secret_namespace);
  out.kubeconfig_folder = config.string_or("kubeconfigFolder", "");
  out.policy.lost_timeout_ms = config.int_or("workerLostTimeoutSeconds", 900) * 1000;
  out.policy.wait_for_admission = config.string_or("keeps", "Reserved") == "Admitted";
  out.policy.one_by_one = config.string_or("dispatcher", "AllAtOnce") == "Incremental";
  out.policy.asks_first = config.string_or("dispatcher", "AllAtOnce") == "Estimate";
  out.policy.step = static_cast<std::size_t>(config.int_or("step", 3));
  out.policy.round_ms = config.int_or("roundSeconds", 300) * 1000;
  if (const Json* kinds = config.find("kinds"))
    for (const Json& kind : kinds->items()) {
      const std::string& text = kind.as_string();
      const std::size_t space = text.find(' ');
      if (space == std::string::npos || space == 0 || space + 1 == text.size())
        throw sluice::Refused("kinds: \"" + text + "\" is not of the form GROUP/VERSION KIND");
      out.kinds.push_back({text.substr(0, space), text.substr(space + 1)});
    }
  return out;
}

}  // namespace

class MultiCluster {
 public:
  static constexpr std::string_view kDescription =
      "MultiKueue: jobs go to the cluster that has room, and come back as status";
  static constexpr std::string_view kConfigSchema = R"({
    "type": "object",
    "properties": {
      "origin": {"type": "string", "default": "multikueue",
        "description": "marks what this manager makes elsewhere; each manager has its own"},
      "secretNamespace": {"type": "string", "default": "kueue-system",
        "description": "where the Secrets with kubeconfigs are"},
      "kubeconfigFolder": {"type": "string", "default": "/etc/multikueue/kubeconfigs",
        "description": "files with kubeconfigs are below it"},
      "workerLostTimeoutSeconds": {"type": "integer", "minimum": 1, "maximum": 604800,
        "default": 900, "description": "so long work is kept for a cluster that is lost"},
      "dispatcher": {"type": "string", "enum": ["AllAtOnce", "Incremental", "Estimate"],
        "default": "AllAtOnce",
        "description": "who gets a copy: all, a few at a time, or who says it starts it first"},
      "step": {"type": "integer", "minimum": 1, "maximum": 20, "default": 3,
        "description": "of Incremental: so many more clusters with each round"},
      "roundSeconds": {"type": "integer", "minimum": 1, "maximum": 86400, "default": 300,
        "description": "how long those have their turn, before more clusters get a copy"},
      "keeps": {"type": "string", "enum": ["Reserved", "Admitted"], "default": "Reserved",
        "description": "what a cluster does first to keep the workload"},
      "kinds": {"type": "array", "items": {"type": "string"}, "minItems": 1,
        "default": ["batch/v1 Job"], "description": "kinds of jobs, GROUP/VERSION KIND"}
    }
  })";

  explicit MultiCluster(const sluice::Context& context)
      : context_(context),
        cases_(context, settings_of(context.config())),
        dispatcher_(context, cases_),
        explainer_(context, cases_) {}

  std::string schema() const { return std::string(kSchema); }
  std::vector<std::string> check_controllers() const { return {std::string(kControllerName)}; }
  std::vector<std::string> watched_kinds() const {
    const std::string kueue(kKueue);
    // Workloads that have checks, which may all but this one be Ready now, or that it has asked
    // clusters about: what happens to others is none of its work.
    return {kueue + " MultiKueueCluster",
            "v1 Secret",
            kueue + " Workload has:status.admissionChecks",
            kueue + " Workload has:status.nominatedClusterNames",
            kueue + " Workload has:status.clusterName",
            kueue + " LocalQueue",
            kueue + " ClusterQueue"};
  }

  void check_changed(const sluice::Check& check, sluice::Activity& activity) {
    const std::string name(check.name());
    managed_.clear();  // queues name checks before they come, and after they are gone
    if (check.gone()) return cases_.forget_check(name);
    std::string wrong;
    const auto clusters = clusters_of(Json::parse(check.json()), wrong);
    cases_.set_check(name, clusters);
    if (!wrong.empty())
      return activity.inactive("BadConfig", "Cannot load the AdmissionChecks parameters: " + wrong);
    std::vector<std::string> missing, inactive;
    for (const std::string& cluster : clusters) {
      const auto object = context_.objects().find(cluster_ref(cluster));
      if (!object)
        missing.push_back(cluster);
      else if (!sluice::condition_is_true(*object, "Active"))
        inactive.push_back(cluster);
    }
    const Active said = check_active(clusters, missing, inactive);
    if (said.active)
      activity.active(said.reason, said.message);
    else
      activity.inactive(said.reason, said.message);
  }

  void begin_check(const sluice::CheckQuery& query) {
    const sluice::CheckAttempt attempt = query.attempt();
    cases_.begin(attempt);
    dispatcher_.settle({attempt.workload_namespace, attempt.workload});
  }

  void cancel_check(const sluice::CheckCancel& cancel) {
    const sluice::CheckAttempt attempt = cancel.attempt();
    dispatcher_.end(attempt);
    dispatcher_.settle({attempt.workload_namespace, attempt.workload});
  }

  sluice::CheckWords explain_check(const sluice::CheckQuery& query) {
    const sluice::CheckAttempt attempt = query.attempt();
    return explainer_.explain({attempt.workload_namespace, attempt.workload});
  }

  Again reconcile(const ObjectRef& what) {
    if (!what.remote.empty() && what.kind == kWhatIfKind) return dispatcher_.hear(what);
    if (!what.remote.empty() && what.kind == kExplanationKind) {
      explainer_.hear(what);
      return {};
    }
    if (!what.remote.empty()) return look_elsewhere(what);
    if (what.kind == kClusterKind) return look_at_cluster(what.name);
    if (what.kind == "Secret") return look_at_secret(what);
    if (what.kind == "LocalQueue") return look_at_queue(what);
    if (what.kind == "ClusterQueue") return look_at_cluster_queue(what);
    const WorkloadName workload{what.ns, what.name};
    return cases_.concerns(workload) ? dispatcher_.settle(workload) : Again{};
  }

  std::vector<std::string> kinds() const { return {"batch/Job"}; }
  void validate(const sluice::Write&, sluice::FieldErrors&) {}

  /// A job of a queue whose work goes elsewhere is not for the controllers of this cluster.
  std::optional<std::string> set_defaults(const sluice::Write& write) {
    if (write.operation() != sluice::Operation::kCreate) return std::nullopt;
    Json job = Json::parse(write.object());
    const Json* labels = job.find("metadata.labels");
    const Json* queue = labels == nullptr ? nullptr : labels->member(kQueue);
    if (queue == nullptr || !job.string_or("spec.managedBy", "").empty()) return std::nullopt;
    if (!is_managed(job.string_or("metadata.namespace", ""), queue->as_string()))
      return std::nullopt;
    job["spec"]["managedBy"] = kControllerName;
    return job.dump();
  }

 private:
  /// What settle() is told.
  struct Look {
    WorkloadName workload;
    std::string job;
    auto operator<=>(const Look&) const = default;
  };

  static ObjectRef cluster_ref(const std::string& name) {
    return {std::string(kKueue), std::string(kClusterKind), "", name};
  }

  std::vector<std::string> clusters_of(const Json& check, std::string& wrong) const {
    const std::string kind = check.string_or("spec.parameters.kind", "");
    const std::string name = check.string_or("spec.parameters.name", "");
    if (check.string_or("spec.parameters.apiGroup", "") != kKueueGroup || kind != kConfigKind) {
      wrong = "they name " + (kind.empty() ? "nothing" : "a " + kind) + "; allowed: a " +
              std::string(kConfigKind) + " of " + std::string(kKueueGroup);
      return {};
    }
    const auto config =
        context_.objects().find({std::string(kKueue), std::string(kConfigKind), "", name});
    if (!config) {
      wrong = std::string(kConfigKind) + " " + name + " not found";
      return {};
    }
    std::vector<std::string> out;
    if (const Json* clusters = config->find("spec.clusters"))
      for (const Json& cluster : clusters->items()) out.push_back(cluster.as_string());
    return out;
  }

  Again look_at_cluster(const std::string& name) {
    const auto cluster = context_.objects().find(cluster_ref(name));
    if (!cluster) {
      cases_.clusters().erase(name);
      secret_of_.erase(name);
      context_.remotes().remove(name);
      look_at_all(name);
      return {};
    }
    cases_.clusters().insert(name);
    if (const auto active = connect(name, *cluster)) show(name, *cluster, *active);
    return {};
  }

  /// What the condition has to say; nullopt: what it says.
  std::optional<Active> connect(const std::string& name, const Json& cluster) {
    const Whence whence = whence_of(cluster, cases_.settings().kubeconfig_folder);
    secret_of_.erase(name);
    if (!whence.wrong.empty()) return unreachable(name, {false, whence.reason, whence.wrong});
    sluice::ObjectReply done;
    if (!whence.path.empty()) {
      done = context_.remotes().set_file(name, whence.path, followed());
    } else {
      secret_of_[name] = whence.secret;
      const std::string& ns = cases_.settings().secret_namespace;
      const auto secret = context_.objects().find({"v1", "Secret", ns, whence.secret});
      const auto text = secret ? secret_text(*secret, "kubeconfig") : std::nullopt;
      if (!text || text->empty())
        return unreachable(name, {false, "BadKubeConfig",
                                  "load client config failed: " +
                                      (secret ? "key \"kubeconfig\" not found in secret \""
                                              : std::string("there is no secret \"")) +
                                      ns + "/" + whence.secret + "\""});
      done = context_.remotes().set(name, *text, followed());
    }
    if (!done) return unreachable(name, {false, "BadKubeConfig", done.text});
    const auto state = context_.remotes().state(name);
    auto active = state ? active_of(*state) : std::nullopt;
    if (!active && sluice::find_condition(cluster, "Active") == nullptr)
      return Active{false, "ClientConnectionFailed", "It is not connected yet"};
    return active;
  }

  Active unreachable(const std::string& name, Active why) {
    context_.remotes().remove(name);
    return why;
  }

  std::vector<sluice::RemoteKind> followed() const {
    const Settings& settings = cases_.settings();
    const std::string ours = std::string(kOrigin) + "=" + settings.origin;
    std::vector<sluice::RemoteKind> out{{std::string(kKueue), "Workload", ours}};
    for (const JobKind& kind : settings.kinds) out.push_back({kind.api_version, kind.kind, ours});
    return out;
  }

  void show(const std::string& name, const Json& cluster, const Active& active) {
    Json changed = cluster;
    const bool news = sluice::set_condition(changed, "Active", active.active ? "True" : "False",
                                            active.reason, active.message, context_.now(),
                                            cluster.int_or("metadata.generation", 1));
    if (!news) return;
    Json merge = Json::object();
    merge["status"]["conditions"] = *changed.find("status.conditions");
    context_.objects().patch(cluster_ref(name), merge, "status").or_throw();
  }

  Again look_at_secret(const ObjectRef& what) {
    if (what.ns != cases_.settings().secret_namespace) return {};
    for (const auto& [cluster, secret] : std::map(secret_of_))
      if (secret == what.name) look_at_cluster(cluster);
    return {};
  }

  /// Whether the work of a LocalQueue goes elsewhere.
  bool is_managed(const std::string& ns, const std::string& name) {
    const std::string key = ns + "/" + name;
    if (!cluster_queue_of_.contains(key))
      look_at_queue({std::string(kKueue), "LocalQueue", ns, name});
    const auto known = cluster_queue_of_.find(key);
    if (known == cluster_queue_of_.end()) return false;  // it is looked at when it comes
    const std::string& queue = known->second;
    if (!managed_.contains(queue))
      look_at_cluster_queue({std::string(kKueue), "ClusterQueue", "", queue});
    const auto managed = managed_.find(queue);
    return managed != managed_.end() && managed->second;
  }

  Again look_at_queue(const ObjectRef& what) {
    const auto queue = context_.objects().find(what);
    const std::string key = what.ns + "/" + what.name;
    if (queue)
      cluster_queue_of_[key] = queue->string_or("spec.clusterQueue", "");
    else
      cluster_queue_of_.erase(key);
    return {};
  }

  Again look_at_cluster_queue(const ObjectRef& what) {
    managed_.erase(what.name);
    const auto queue = context_.objects().find(what);
    if (!queue) return {};
    bool managed = false;
    const Json* checks = queue->find("spec.admissionChecksStrategy.admissionChecks");
    for (std::size_t i = 0; checks != nullptr && i < checks->size(); ++i) {
      const auto check = context_.objects().find(
          {std::string(kKueue), "AdmissionCheck", "", checks->items()[i].string_or("name", "")});
      managed |= check && check->string_or("spec.controllerName", "") == kControllerName;
    }
    managed_[what.name] = managed;
    return {};
  }

  Again look_elsewhere(const ObjectRef& what) {
    if (what.kind.empty()) {
      const auto state = context_.remotes().state(what.remote);
      const std::string now = !state ? "" : std::to_string(state->since) + state->problem;
      if (std::exchange(told_[what.remote], now) != now || !left_.contains(what.remote))
        look_at_all(what.remote);
      return look_at_some(what.remote);
    }
    const auto workload = cases_.workload_of(what);
    if (!workload) return {};
    return dispatcher_.settle(*workload, what.kind == "Workload" ? std::string() : what.name);
  }

  /// A cluster came or went: that concerns all that have to do with it, and what is left there of
  /// others.
  void look_at_all(const std::string& remote) {
    if (cases_.clusters().contains(remote)) look_at_cluster(remote);
    std::set<Look> all;
    for (WorkloadName& each : cases_.under_way()) all.insert({std::move(each), {}});
    if (const auto state = context_.remotes().state(remote); state && state->connected)
      for (const sluice::RemoteKind& kind : followed())
        for (const Json& there : context_.remotes().list(remote, kind.api_version, kind.kind)) {
          const ObjectRef what{kind.api_version, kind.kind,
                               there.string_or("metadata.namespace", ""),
                               there.string_or("metadata.name", ""), remote};
          const auto workload = cases_.workload_of(what);
          if (workload) all.insert({*workload, what.kind == "Workload" ? "" : what.name});
        }
    left_[remote] = {all.begin(), all.end()};
  }

  Again look_at_some(const std::string& remote) {
    auto& left = left_[remote];
    for (std::size_t i = 0; i < kPerCall && !left.empty(); ++i) {
      const Look next = left.front();
      left.pop_front();
      const Again again = dispatcher_.settle(next.workload, next.job);
      if (again.after_ms > 0) soonest_ = std::min(soonest_, again.after_ms);
    }
    if (!left.empty()) return Again::at_once();
    left_.erase(remote);
    // Of a cluster that is lost all are looked at again when the first of them has waited enough.
    const std::int64_t soonest = std::exchange(soonest_, kNoTime);
    return soonest == kNoTime ? Again{} : Again{soonest};
  }

  static constexpr std::int64_t kNoTime = INT64_MAX;

  sluice::Context context_;
  Cases cases_;
  Dispatcher dispatcher_;
  Explainer explainer_;
  std::map<std::string, std::string> secret_of_;  // by cluster
  // Of what was asked for or has changed: whether the work of jobs goes elsewhere.
  std::map<std::string, std::string> cluster_queue_of_;  // by LocalQueue, NAMESPACE/NAME
  std::map<std::string, bool> managed_;                  // by ClusterQueue, until a check changes
  std::map<std::string, std::deque<Look>> left_;         // to be looked at, by cluster
  std::map<std::string, std::string> told_;              // of each cluster: how it stood
  std::int64_t soonest_ = kNoTime;
};

}  // namespace clusters

SLUICE_MAY("get *");
SLUICE_MAY("list kueue.x-k8s.io/Workload");
SLUICE_MAY("patch */status");
SLUICE_PLUGIN(clusters::MultiCluster, "multi-cluster", "0.1.0")
