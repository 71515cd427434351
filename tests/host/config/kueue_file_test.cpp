// Kueue's own configuration: what is taken of it, with whose defaults, and what is told of the
// rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "host/config/config.hpp"

namespace sluice::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<Configuration> kueue(const std::string& body, const std::string& version = "v1beta2") {
  return parse_configuration(
      "apiVersion: config.kueue.x-k8s.io/" + version + "\nkind: Configuration\n" + body, "k.yaml");
}

Configuration taken(const std::string& body, const std::string& version = "v1beta2") {
  auto config = kueue(body, version);
  EXPECT_TRUE(config.ok()) << config.error().text;
  return config ? std::move(*config) : Configuration();
}

bool manages(const Configuration& config, const std::string& ns) {
  api::LabelMap labels;
  labels.set(std::string(kNameLabel), ns);
  return config.managed_jobs.namespaces.matches(labels);
}

TEST(KueueFile, EmptyIsTheDefaultsOfKueue) {
  const Configuration config = taken("");
  EXPECT_THAT(config.notes, IsEmpty());
  EXPECT_FALSE(config.engine.fair_sharing);
  EXPECT_FALSE(config.engine.pods_ready_timeout.has_value());
  EXPECT_FALSE(config.managed_jobs.without_queue);
  EXPECT_TRUE(manages(config, "team"));
  EXPECT_FALSE(manages(config, "kube-system"));
  EXPECT_FALSE(manages(config, "kueue-system"));
  EXPECT_FALSE(manages(taken("namespace: queues\n"), "queues"));
}

struct PodsReady {
  const char *body, *version;
  std::optional<Duration> timeout, recovery;
  bool block;
};

// v1beta1 has a switch, waits 5 minutes and blocks; v1beta2 is on where it is named, waits 30
// minutes and does not.
TEST(KueueFile, WaitForPodsReadyHasTheDefaultsOfItsVersion) {
  const PodsReady kCases[] = {
      {"waitForPodsReady: {timeout: 1m}\n", "v1beta1", {}, {}, false},
      {"waitForPodsReady: {enable: true}\n", "v1beta1", 300 * kSecond, 300 * kSecond, true},
      {"waitForPodsReady: {}\n", "v1beta2", 1'800 * kSecond, 1'800 * kSecond, false},
      {"waitForPodsReady: {timeout: 1m}\n", "v1beta2", 60 * kSecond, 60 * kSecond, false},
      {"waitForPodsReady: {timeout: 1m, recoveryTimeout: 0s, blockAdmission: true}\n",
       "v1beta2",
       60 * kSecond,
       {},
       true},
  };
  for (const PodsReady& each : kCases) {
    const EngineConfig engine = taken(each.body, each.version).engine;
    EXPECT_EQ(engine.pods_ready_timeout, each.timeout) << each.body;
    EXPECT_EQ(engine.pods_recovery_timeout, each.recovery) << each.body;
    EXPECT_EQ(engine.block_admission, each.block) << each.body;
  }
}

TEST(KueueFile, TakesWhatDecides) {
  const Configuration config = taken(R"(
manageJobsWithoutQueueName: true
managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: only}}
fairSharing: {preemptionStrategies: [LessThanInitialShare]}
waitForPodsReady: {requeuingStrategy: {timestamp: Creation, backoffLimitCount: 3}}
resources:
  excludeResourcePrefixes: [networking.example.com/]
  transformations: [{input: nvidia.com/mig-1g.5gb, strategy: Replace, outputs: {gpu-memory: 5Gi}}]
objectRetentionPolicies: {workloads: {afterFinished: 24h}}
integrations: {frameworks: [batch/job, ray.io/raycluster], labelKeysToCopy: [cost-center]}
)");
  EXPECT_THAT(config.managed_jobs.copied_labels, ElementsAre("cost-center"));
  EXPECT_THAT(config.notes, IsEmpty());
  EXPECT_TRUE(config.managed_jobs.without_queue);
  EXPECT_TRUE(manages(config, "only"));
  EXPECT_FALSE(manages(config, "team"));
  EXPECT_TRUE(config.engine.fair_sharing);
  EXPECT_THAT(config.engine.fair_strategies, ElementsAre(FairStrategy::kLessThanInitialShare));
  EXPECT_FALSE(config.engine.requeue.by_eviction_time);
  EXPECT_EQ(config.engine.requeue.backoff_limit, 3);
  EXPECT_THAT(config.engine.resources.excluded_prefixes, ElementsAre("networking.example.com/"));
  ASSERT_EQ(config.engine.resources.transformations.size(), 1U);
  EXPECT_EQ(config.engine.resources.transformations[0].outputs_milli[0].second, 5000LL << 30);
  EXPECT_EQ(config.retention.after_finished, 86'400 * kSecond);
}

TEST(KueueFile, WhoIsEvictedMayQueueAtOnce) {
  const Configuration config = taken(
      "waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: 0, backoffMaxSeconds: 0}}\n");
  EXPECT_EQ(config.engine.requeue.backoff_base, 0);
  EXPECT_EQ(config.engine.requeue.backoff_max, 0);
}

TEST(KueueFile, FairSharingOfTheFirstVersionHasASwitch) {
  EXPECT_FALSE(taken("fairSharing: {}\n", "v1beta1").engine.fair_sharing);
  EXPECT_TRUE(taken("fairSharing: {enable: true}\n", "v1beta1").engine.fair_sharing);
}

struct Note {
  const char *body, *note;
};

// Kueue's release has the first two, for people to take the `#` away.
TEST(KueueFile, NullIsNotGiven) {
  const Configuration config = taken(
      "waitForPodsReady: {timeout: 1m, recoveryTimeout: null,"
      " requeuingStrategy: {backoffLimitCount: null, backoffBaseSeconds: 7}}\n"
      "objectRetentionPolicies: {workloads: {afterFinished: null, afterDeactivatedByKueue: 5s}}\n"
      "manageJobsWithoutQueueName: null\nfairSharing: null\n");
  EXPECT_EQ(config.engine.pods_ready_timeout, 60 * kSecond);
  EXPECT_EQ(config.engine.pods_recovery_timeout, 60 * kSecond);
  EXPECT_EQ(config.engine.requeue.backoff_base, 7 * kSecond);
  EXPECT_EQ(config.retention.after_finished, std::nullopt);
  EXPECT_EQ(config.retention.after_deactivated, 5 * kSecond);
  EXPECT_FALSE(config.managed_jobs.without_queue);
  EXPECT_FALSE(config.engine.fair_sharing);
}

TEST(KueueFile, WhatAQueueDoesNotCoverIsBlockedOrIgnored) {
  const auto ignores = [](const std::string& body) {
    return taken(body).engine.ignore_undeclared_resources;
  };
  EXPECT_FALSE(ignores("resources: {quotaCheckStrategy: BlockUndeclared}\n"));
  EXPECT_TRUE(ignores("resources: {quotaCheckStrategy: IgnoreUndeclared}\n"));
}

TEST(KueueFile, TellsOfEachKeyWithoutCounterpart) {
  const Note kNotes[] = {
      {"leaderElection: {leaderElect: true}\n",
       "leaderElection: --lease-name, --lease-namespace and --lease-duration"},
      {"clientConnection: {qps: 50}\n",
       "clientConnection: requests are bounded by their answers, not by a rate"},
      {"multiKueue: {gcInterval: 1m}\n",
       "multiKueue: a plugin has it, with a configuration of its own"},
      {"resources: {deviceClassMappings: []}\n",
       "resources.deviceClassMappings: missing: claims of devices are not counted"},
      {"integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}\n",
       "integrations.frameworks: jobset.x-k8s.io/jobset: apply the page that ships, "
       "job-kinds/jobset.yaml"},
      {"integrations: {frameworks: [batch/job, workload.codeflare.dev/appwrapper]}\n",
       "integrations.frameworks: workload.codeflare.dev/appwrapper: apply the page that ships, "
       "job-kinds/appwrapper.yaml"},
      {"integrations: {frameworks: [batch/job, pod]}\n",
       "integrations.frameworks: pod: by the plugin that brings it, which is loaded if it is "
       "installed, unless --plugins lists others; else its objects run without quota"},
      {"integrations: {frameworks: [ray.io/raycluster]}\n",
       "integrations.frameworks: without batch/job; Jobs that name a queue are held all the same"},
      {"integrations: {externalFrameworks: [Foo.v1.example.com]}\n",
       "integrations.externalFrameworks: Foo.v1.example.com: a page of YAML makes a kind of job of "
       "it (JobKind)"},
      {"featureGates: {PartialAdmission: false}\n",
       "featureGates: PartialAdmission=false: features are plugins here; --plugins says which are "
       "on"},
  };
  for (const Note& each : kNotes)
    EXPECT_THAT(taken(each.body).notes, ElementsAre(each.note)) << each.body;
}

TEST(KueueFile, RefusesWhatKueueDoesNotKnow) {
  const auto config = kueue("fairSharing: {preemptionStrategy: [x]}\nresources: {transform: []}\n");
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(config.error().text,
              HasSubstr("k.yaml:3: fairSharing.preemptionStrategy: unknown key; allowed: "
                        "preemptionStrategies"));
  EXPECT_THAT(config.error().text, HasSubstr("k.yaml:4: resources.transform: unknown key"));
}

// kubectl get configmap kueue-manager-config -o yaml
TEST(KueueFile, MayBeInItsConfigMap) {
  const std::string map =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kueue-manager-config}\ndata:\n"
      "  controller_manager_config.yaml: |\n"
      "    apiVersion: config.kueue.x-k8s.io/v1beta2\n    kind: Configuration\n";
  const auto config = parse_configuration(map + "    manageJobsWithoutQueueName: true\n", "k.yaml");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_TRUE(config->managed_jobs.without_queue);
  const auto wrong = parse_configuration(map + "    fair: 1\n", "k.yaml");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().text,
              HasSubstr("k.yaml: data.controller_manager_config.yaml:3: fair: unknown key"));
}

}  // namespace
}  // namespace sluice::host
