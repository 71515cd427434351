#include "host/config/kueue_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "host/config/bundled.hpp"
#include "host/config/policies.hpp"

namespace sluice::host {
namespace {

struct Elsewhere {
  const char *key, *instead;
};

// Keys of the document that say nothing about decisions.
constexpr Elsewhere kAround[] = {
    {"webhook", "options of sluice controller"},
    {"health", "every address that answers has /livez and /readyz"},
    {"metrics", "/metrics is where the API is"},
    {"pprofBindAddress", "nothing of this kind is served"},
    {"leaderElection", "--lease-name, --lease-namespace and --lease-duration"},
    {"controller", "one thread decides; nothing is reconciled in parallel"},
    {"tls", "server.tls of Sluice's own configuration"},
    {"internalCertManagement", "server.tls of Sluice's own configuration"},
    {"clientConnection", "requests are bounded by their answers, not by a rate"},
    {"visibilityServer", "the visibility API is where the API is"},
    {"queueVisibility", "the visibility API and sluice explain tell who waits"},
    {"multiKueue", "a plugin has it, with a configuration of its own"},
    {"admissionFairSharing", "a plugin has it, with a configuration of its own"}};

// Frameworks whose jobs are known without a page.
constexpr std::string_view kBuiltIn[] = {"batch/job", "ray.io/raycluster"};

struct Page {
  std::string_view framework, page;
};
constexpr Page kPages[] = {{"jobset.x-k8s.io/jobset", "jobset"},
                           {"kubeflow.org/mpijob", "mpijob"},
                           {"kubeflow.org/paddlejob", "paddlejob"},
                           {"kubeflow.org/pytorchjob", "pytorchjob"},
                           {"kubeflow.org/tfjob", "tfjob"},
                           {"kubeflow.org/xgboostjob", "xgboostjob"},
                           {"kubeflow.org/jaxjob", "jaxjob"},
                           {"leaderworkerset.x-k8s.io/leaderworkerset", "leaderworkerset"},
                           {"ray.io/rayjob", "rayjob"},
                           {"ray.io/rayservice", "rayservice"},
                           {"sparkoperator.k8s.io/sparkapplication", "sparkapplication"},
                           {"trainer.kubeflow.org/trainjob", "trainjob"},
                           {"workload.codeflare.dev/appwrapper", "appwrapper"}};

constexpr int kMostNodes = 10'000;  // aliases make more of a few than anybody wrote

/// In objects of Kubernetes null says as much as nothing.
void drop_nulls(YAML::Node node, int& seen) {
  if (++seen > kMostNodes) return;
  std::vector<std::string> nulls;
  if (node.IsMap())
    for (const auto& member : node) {
      if (member.second.IsNull() && member.first.IsScalar()) nulls.push_back(member.first.Scalar());
      drop_nulls(member.second, seen);
    }
  for (const std::string& key : nulls) node.remove(key);
  if (node.IsSequence())
    for (const auto& item : node) drop_nulls(item, seen);
}

class Reader {
 public:
  Reader(KueueFile file, Section& root, Configuration& out)
      : first_(file == KueueFile::kV1Beta1), root_(root), out_(out) {}

  void read() {
    root_.child("apiVersion");
    root_.choice("kind", {"Configuration"});
    managed_jobs();
    pods_ready();
    fair_sharing();
    resources();
    integrations();
    Section retention(root_.errors(), root_.child("objectRetentionPolicies"),
                      "objectRetentionPolicies");
    read_retention(retention, out_.retention);
    gates();
    for (const Elsewhere& each : kAround) note(root_, each.key, each.instead);
  }

 private:
  void note(Section& section, const std::string& key, const std::string& instead) {
    section.child(key);
    if (section.has(key)) tell(section.path_of(key), instead);
  }
  void tell(const std::string& path, const std::string& text) {
    out_.notes.push_back(fmt::format("{}: {}", path, text));
  }

  /// Without a selector Kueue leaves its own namespace alone, too.
  void managed_jobs() {
    std::string own = "kueue-system";
    root_.text("namespace", own);
    out_.managed_jobs.namespaces.match_expressions.front().values.push_back(own);
    read_managed_jobs(root_, out_.managed_jobs);
  }

  void pods_ready() {
    const std::string key = "waitForPodsReady";
    Section section(root_.errors(), root_.child(key), key);
    bool enable = root_.has(key) && !first_;
    if (first_) section.boolean("enable", enable);
    Duration timeout = (first_ ? 300 : 1800) * kSecond;
    section.duration("timeout", timeout);
    Duration recovery = timeout;
    section.duration("recoveryTimeout", recovery, {.least = 0});  // 0: for ever
    bool block = first_;
    section.boolean("blockAdmission", block);
    read_requeuing(section, out_.engine.requeue);
    note(section, "maxTimeoutOnWorkload", "missing: workloads have no timeout of their own");
    if (!enable) return;
    out_.engine.block_admission = block;
    out_.engine.pods_ready_timeout = timeout;
    if (recovery > 0) out_.engine.pods_recovery_timeout = recovery;
  }

  void fair_sharing() {
    const std::string key = "fairSharing";
    Section section(root_.errors(), root_.child(key), key);
    out_.engine.fair_sharing = root_.has(key) && !first_;
    if (first_) section.boolean("enable", out_.engine.fair_sharing);
    read_preemption_strategies(section, out_.engine);
  }

  void resources() {
    const std::string key = "resources";
    Section section(root_.errors(), root_.child(key), key);
    out_.engine.ignore_undeclared_resources =
        section.choice("quotaCheckStrategy", {"BlockUndeclared", "IgnoreUndeclared"}) == 1;
    read_resource_rules(section, out_.engine.resources);
    note(section, "deviceClassMappings", "missing: claims of devices are not counted");
  }

  void integrations() {
    const std::string key = "integrations";
    Section section(root_.errors(), root_.child(key), key);
    std::vector<std::string> names;
    section.texts("frameworks", names);
    const std::string path = section.path_of("frameworks");
    for (const std::string& name : names) framework(path, name);
    if (section.has("frameworks") &&
        std::find(names.begin(), names.end(), "batch/job") == names.end())
      tell(path, "without batch/job; Jobs that name a queue are held all the same");
    std::vector<std::string> others;
    section.texts("externalFrameworks", others);
    for (const std::string& name : others)
      tell(section.path_of("externalFrameworks"),
           name + ": a page of YAML makes a kind of job of it (JobKind)");
    read_copied_labels(section, out_.managed_jobs);
    note(section, "podOptions", "for a plugin, with a configuration of its own");
  }

  void framework(const std::string& path, const std::string& name) {
    const auto page = std::find_if(std::begin(kPages), std::end(kPages),
                                   [&](const Page& each) { return each.framework == name; });
    if (is_brought_by_plugin(name)) {
      out_.plugins.frameworks.push_back(name);
      std::string told = name +
                         ": by the plugin that brings it, which is loaded if it is installed, "
                         "unless --plugins lists others; else its objects run without quota";
      if (page != std::end(kPages))
        told += fmt::format("; on a host without a cluster apply job-kinds/{}.yaml instead",
                            page->page);
      return tell(path, told);
    }
    if (std::find(std::begin(kBuiltIn), std::end(kBuiltIn), name) != std::end(kBuiltIn)) return;
    if (page != std::end(kPages))
      tell(path, fmt::format("{}: apply the page that ships, job-kinds/{}.yaml", name, page->page));
    else
      tell(path, name + ": missing: its objects run without quota");
  }

  void gates() {
    const std::string key = "featureGates";
    Section::Pairs gates;
    root_.pairs(key, gates);
    for (const auto& [name, value] : gates)
      tell(key, fmt::format("{}={}: features are plugins here; --plugins says which are on", name,
                            value));
  }

  const bool first_;  // version, with defaults of its own
  Section& root_;
  Configuration& out_;
};

}  // namespace

KueueFile kueue_file(std::string_view api_version) {
  if (api_version == "config.kueue.x-k8s.io/v1beta1") return KueueFile::kV1Beta1;
  if (api_version == "config.kueue.x-k8s.io/v1beta2") return KueueFile::kV1Beta2;
  return KueueFile::kNone;
}

void read_kueue_file(KueueFile file, const YAML::Node& document, ConfigErrors& errors,
                     Configuration& out) {
  int seen = 0;
  drop_nulls(document, seen);
  Section root(errors, document, "");
  Reader(file, root, out).read();
}

}  // namespace sluice::host
