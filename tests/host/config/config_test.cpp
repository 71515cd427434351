#include "host/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace sluice::host {
namespace {

using testing::HasSubstr;

constexpr const char* kHead = "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n";

Result<Configuration> parse(const std::string& body) {
  return parse_configuration(kHead + body, "s.yaml");  // the body starts at line 3
}

TEST(Configuration, EmptyBodyGivesTheDefaults) {
  const auto config = parse("");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->server.address, "127.0.0.1:6443");
  EXPECT_EQ(config->metrics.address, "127.0.0.1:9464");
  EXPECT_EQ(config->store.path, "./sluice-data");
  EXPECT_EQ(config->plugins.directory, "lib/sluice/plugins");
  EXPECT_FALSE(config->plugins.load.has_value());
  EXPECT_EQ(config->engine.threads, 0);
  EXPECT_FALSE(config->engine.fair_sharing);
  EXPECT_EQ(config->engine.fair_strategies.size(), 2U);
  EXPECT_EQ(config->engine.progress_window, 300 * kSecond);
  EXPECT_FALSE(config->engine.pods_ready_timeout.has_value());
  EXPECT_FALSE(config->engine.block_admission);
  EXPECT_FALSE(config->managed_jobs.without_queue);
  EXPECT_FALSE(config->engine.ignore_undeclared_resources);
  EXPECT_EQ(config->executor.type, ExecutorType::kLocal);
}

TEST(Configuration, ReadsEveryKey) {
  const auto config = parse(R"(
server:
  address: "[::1]:0"
  tls: {certFile: a.crt, keyFile: a.key, clientCAFile: ca.crt}
  tokenFile: tokens
  kubeconfig: admin.conf
  insecureHttp: 127.0.0.1:8080
  limits: {bodyBytes: 4096, headerBytes: 2048, depth: 50, connections: 10, streams: 7, watchers: 20,
           watchersPerUser: 5, headerTime: 1s, bodyTime: 90s, idleTime: 2m, stallTime: 1h}
metrics: {address: "localhost:1"}
store: {path: memory}
plugins:
  directory: /opt/plugins
  load:
  - name: first
    enabled: false
    failurePolicy: open
    sha256: ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef0123456789
    config: {a: 1, b: [true, "1", 1.5, ~], c: {d: x}}
  - name: second
scheduling:
  threads: 3
  fairSharing: {enable: true, preemptionStrategies: [LessThanInitialShare]}
  progressWindow: 1m
resources: {undeclared: ignore}
executor:
  type: none
  nodes:
  - name: n1
    labels: {zone: a}
    taints: [{key: gpu, value: "yes", effect: NoSchedule}]
    capacity: {cpu: 4, memory: 8Gi}
)");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->server.address, "[::1]:0");
  EXPECT_EQ(config->server.tls.client_ca_file, "ca.crt");
  EXPECT_EQ(config->server.insecure_http, "127.0.0.1:8080");
  EXPECT_EQ(config->server.limits.depth, 50);
  EXPECT_EQ(config->server.limits.stall_time, 3'600 * kSecond);
  EXPECT_EQ(config->store.path, "memory");
  ASSERT_EQ(config->plugins.load->size(), 2U);
  const PluginConfig& first = config->plugins.load->front();
  EXPECT_FALSE(first.enabled);
  EXPECT_EQ(first.failure_policy, FailurePolicy::kOpen);
  EXPECT_EQ(first.sha256.substr(0, 6), "abcdef");
  EXPECT_EQ(first.config_json, R"({"a":1,"b":[true,"1",1.5,null],"c":{"d":"x"}})");
  EXPECT_EQ(config->plugins.load->back().config_json, "{}");
  EXPECT_EQ(config->engine.threads, 3);
  EXPECT_TRUE(config->engine.fair_sharing);
  EXPECT_EQ(config->engine.fair_strategies, std::vector{FairStrategy::kLessThanInitialShare});
  EXPECT_EQ(config->engine.progress_window, 60 * kSecond);
  EXPECT_TRUE(config->engine.ignore_undeclared_resources);
  EXPECT_EQ(config->executor.type, ExecutorType::kNone);
  ASSERT_EQ(config->executor.nodes.size(), 1U);
  EXPECT_EQ(config->executor.nodes[0].taints[0].effect, "NoSchedule");
  EXPECT_EQ(config->executor.nodes[0].capacity[1].second, "8Gi");
}

TEST(Configuration, ImagesStandForPrograms) {
  const auto config =
      parse("executor:\n  images: [{name: example.com/train, entrypoint: [./train, --fast]}]\n");
  ASSERT_TRUE(config.ok()) << config.error().text;
  ASSERT_EQ(config->executor.images.size(), 1U);
  EXPECT_EQ(config->executor.images[0].entrypoint, (std::vector<std::string>{"./train", "--fast"}));
}

TEST(Config, ControlGroupsMayBeTurnedOff) {
  EXPECT_TRUE(parse("executor: {controlGroups: auto}\n")->executor.control_groups);
  EXPECT_FALSE(parse("executor: {controlGroups: off}\n")->executor.control_groups);
  EXPECT_NE(parse("executor: {controlGroups: on}\n").error().text.find("auto"), std::string::npos);
}

TEST(Config, A10_OutputOfPodsHasBudgetsAndAPlace) {
  const auto config =
      parse("executor:\n  logs: {path: /var/log/sluice, podBytes: 1000000, totalBytes: 5000000}\n");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->executor.logs.path, "/var/log/sluice");
  EXPECT_EQ(config->executor.logs.pod_bytes, 1'000'000);
  EXPECT_EQ(config->executor.logs.total_bytes, 5'000'000);
  EXPECT_NE(parse("executor:\n  logs: {path: logs}\n").error().text.find("an absolute path"),
            std::string::npos);
  EXPECT_NE(parse("executor:\n  logs: {podBytes: 9000000000}\n")
                .error()
                .text.find("at least podBytes, which is 9000000000"),
            std::string::npos);
}

TEST(Config, A11_TheStoreHasLimits) {
  const auto config = parse(
      "store:\n  limits: {objects: 10, bytes: 11, namespaceObjects: 12, namespaceBytes: 13, "
      "events: 14}\n");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->store.limits.objects, 10);
  EXPECT_EQ(config->store.limits.bytes, 11);
  EXPECT_EQ(config->store.limits.namespace_objects, 12);
  EXPECT_EQ(config->store.limits.namespace_bytes, 13);
  EXPECT_EQ(config->store.limits.events, 14);
  EXPECT_FALSE(parse("store:\n  limits: {objects: 0}\n").ok());
}

TEST(Config, TheStoreMayBeEncrypted) {
  EXPECT_EQ(parse("").value().store.encryption.key_file, "");
  const auto config = parse("store:\n  encryption: {keyFile: /etc/sluice/keys, enabled: false}\n");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->store.encryption.key_file, "/etc/sluice/keys");
  EXPECT_FALSE(config->store.encryption.enabled);
  EXPECT_THAT(parse("store:\n  encryption: {enabled: true}\n").error().text,
              HasSubstr("store.encryption.keyFile: is missing"));
  EXPECT_THAT(parse("store:\n  path: memory\n  encryption: {keyFile: k}\n").error().text,
              HasSubstr("keyFile: a store in memory has nothing on the disk to encrypt"));
}

TEST(Configuration, ReadsWhatIsAboutJobs) {
  const auto config = parse(R"(
scheduling:
  waitForPodsReady:
    enable: true
    timeout: 90s
    recoveryTimeout: 45s
    blockAdmission: true
    requeuingStrategy:
      {timestamp: Creation, backoffBaseSeconds: 2, backoffMaxSeconds: 9, backoffLimitCount: 4}
objectRetentionPolicies: {workloads: {afterFinished: 1h, afterDeactivatedByKueue: 1ms}}
history: {enabled: false, path: /var/lib/h.db, keepTime: 48h, keepBytes: 1048576}
manageJobsWithoutQueueName: true
labelKeysToCopy: [cost-center, example.com/team]
managedJobsNamespaceSelector:
  matchLabels: {team: a}
  matchExpressions: [{key: kind, operator: In, values: [batch]}]
resources:
  undeclared: ignore
  excludeResourcePrefixes: [example.com/]
  transformations:
  - {input: gpu, strategy: Replace, multiplyBy: nodes, outputs: {credits: 2500m, memory: 1Gi}}
  - {input: cpu}
)");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->engine.pods_ready_timeout, 90 * kSecond);
  EXPECT_EQ(config->engine.pods_recovery_timeout, 45 * kSecond);
  EXPECT_TRUE(config->engine.block_admission);
  EXPECT_FALSE(config->engine.requeue.by_eviction_time);
  EXPECT_EQ(config->engine.requeue.backoff_base, 2 * kSecond);
  EXPECT_EQ(config->engine.requeue.backoff_max, 9 * kSecond);
  EXPECT_EQ(config->engine.requeue.backoff_limit, 4);
  EXPECT_EQ(config->retention.after_finished, 3'600 * kSecond);
  EXPECT_EQ(config->retention.after_deactivated, kMillisecond);
  EXPECT_FALSE(config->history.enabled);
  EXPECT_EQ(config->history.path, "/var/lib/h.db");
  EXPECT_EQ(config->history.keep_time, 48 * 3'600 * kSecond);
  EXPECT_EQ(config->history.keep_bytes, 1 << 20);
  EXPECT_TRUE(config->managed_jobs.without_queue);
  EXPECT_THAT(config->managed_jobs.copied_labels,
              ::testing::ElementsAre("cost-center", "example.com/team"));
  api::LabelMap labels;
  labels.set("team", "a");
  EXPECT_FALSE(config->managed_jobs.namespaces.matches(labels));
  labels.set("kind", "batch");
  EXPECT_TRUE(config->managed_jobs.namespaces.matches(labels));
  const ResourceRules& rules = config->engine.resources;
  EXPECT_EQ(rules.excluded_prefixes, std::vector<std::string>{"example.com/"});
  ASSERT_EQ(rules.transformations.size(), 2U);
  EXPECT_FALSE(rules.transformations[0].retains_input);
  EXPECT_EQ(rules.transformations[0].multiply_by, "nodes");
  EXPECT_EQ(rules.transformations[0].outputs_milli,
            (std::vector<std::pair<std::string, std::int64_t>>{{"credits", 2'500},
                                                               {"memory", 1000LL << 30}}));
  EXPECT_TRUE(rules.transformations[1].retains_input);
  EXPECT_TRUE(config->engine.ignore_undeclared_resources);
}

TEST(Configuration, WaitForPodsReadyHasDefaultsAndCanBeOff) {
  const auto on = parse("scheduling: {waitForPodsReady: {}}\n");
  ASSERT_TRUE(on.ok()) << on.error().text;
  EXPECT_EQ(on->engine.pods_ready_timeout, 1'800 * kSecond);
  EXPECT_EQ(on->engine.pods_recovery_timeout, 1'800 * kSecond);
  EXPECT_FALSE(on->engine.block_admission);
  const auto off =
      parse("scheduling: {waitForPodsReady: {enable: false, timeout: 9s, blockAdmission: true}}\n");
  ASSERT_TRUE(off.ok()) << off.error().text;
  EXPECT_FALSE(off->engine.pods_ready_timeout.has_value());
  EXPECT_FALSE(off->engine.block_admission);
}

TEST(Configuration, JsonIsYaml) {
  const auto config = parse_configuration(
      R"({"apiVersion":"config.sluice.dev/v1alpha1","kind":"Configuration",)"
      R"("store":{"path":"memory"},"scheduling":{"fairSharing":)"
      R"({"enable":true,"preemptionStrategies":["LessThanOrEqualToFinalShare"]}}})",
      "c.json");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->engine.fair_strategies,
            std::vector{FairStrategy::kLessThanOrEqualToFinalShare});
}

TEST(Configuration, AnEmptyListOfPluginsIsNotTheDefaultList) {
  const auto config = parse("plugins: {load: []}\n");
  ASSERT_TRUE(config.ok()) << config.error().text;
  ASSERT_TRUE(config->plugins.load.has_value());
  EXPECT_TRUE(config->plugins.load->empty());
}

struct Mistake {
  const char* body;
  const char* error;
};

void expect_refused(std::span<const Mistake> mistakes) {
  for (const Mistake& mistake : mistakes) {
    const auto config = parse(mistake.body);
    ASSERT_FALSE(config.ok()) << mistake.body;
    EXPECT_THAT(config.error().text, HasSubstr(mistake.error)) << mistake.body;
  }
}

TEST(Configuration, NamesPlaceFoundAndAllowed) {
  const Mistake kMistakes[] = {
      {"schedule: {}\n",
       "s.yaml:3: schedule: unknown key; allowed: apiVersion, kind, server, metrics, store, "
       "plugins, scheduling, resources, executor, objectRetentionPolicies, history, "
       "manageJobsWithoutQueueName"},
      {"history:\n  path: h.db\n",
       "s.yaml:4: history.path: found \"h.db\"; allowed: an absolute path"},
      {"history:\n  keepTime: 1s\n",
       "s.yaml:4: history.keepTime: found the text \"1s\"; allowed: a duration of 1m or more"},
      {"scheduling:\n  threads: many\n",
       "s.yaml:4: scheduling.threads: found the text \"many\"; allowed: a whole number from 0 to "
       "1024"},
      {"scheduling:\n  threads: -1\n",
       "s.yaml:4: scheduling.threads: found the number -1; allowed: a whole number"},
      {"scheduling:\n  threads: \"3\"\n", "s.yaml:4: scheduling.threads: found the text \"3\""},
      {"scheduling:\n  fairSharing: true\n",
       "s.yaml:4: scheduling.fairSharing: found true; allowed: a map of keys"},
      {"scheduling:\n  fairSharing:\n    enable: yes\n",
       "s.yaml:5: scheduling.fairSharing.enable: found the text \"yes\"; allowed: true or false"},
      {"scheduling:\n  fairSharing:\n    preemptionStrategies: [LessThanInitialShare, "
       "LessThanOrEqualToFinalShare]\n",
       "s.yaml:5: scheduling.fairSharing.preemptionStrategies: found [LessThanInitialShare, "
       "LessThanOrEqualToFinalShare]; allowed: [LessThanOrEqualToFinalShare], "
       "[LessThanInitialShare] or [LessThanOrEqualToFinalShare, LessThanInitialShare]"},
      {"scheduling:\n  fairSharing: {preemptionStrategies: []}\n", "found []; allowed:"},
      {"scheduling: {progressWindow: 5 minutes}\n",
       "s.yaml:3: scheduling.progressWindow: found the text \"5 minutes\"; allowed: a duration"},
      {"scheduling:\n  waitForPodsReady:\n    requeuingStrategy: {timestamp: Now}\n",
       "s.yaml:5: scheduling.waitForPodsReady.requeuingStrategy.timestamp: found the text "
       "\"Now\"; allowed: Eviction, Creation"},
      {"resources: {undeclared: drop}\n", "allowed: block, ignore"},
      {"server: {address: nowhere}\n",
       "s.yaml:3: server.address: found \"nowhere\"; allowed: HOST"},
      {"server: {address: \"a:70000\"}\n", "allowed: HOST:PORT with a port from 0 to 65535"},
      {"server: {insecureHttp: \"0.0.0.0:80\"}\n", "allowed: a loopback address"},
      {"metrics: {address: off}\n", "found \"off\"; allowed: none, or HOST:PORT with a loopback"},
      {"server: {limits: {headerTime: 10}}\n",
       "s.yaml:3: server.limits.headerTime: found the number 10; allowed: a duration"},
      {"server: {limits: {stallTime: 5ms}}\n",
       "s.yaml:3: server.limits.stallTime: found the text \"5ms\"; allowed: a duration from "
       "1s to 24h"},
      {"server: {limits: {depth: 5000}}\n", "allowed: a whole number from 8 to 1000"},
      {"server: {tls: {certFile: a}}\n", "certFile and keyFile go together"},
      {"plugins:\n  load:\n  - enabled: true\n", "s.yaml:5: plugins.load[0].name: is missing"},
      {"plugins:\n  load: [{name: a}, {name: a}]\n", "plugins.load[1].name: \"a\" is listed twice"},
      {"plugins:\n  load: [{name: ../a}]\n", "allowed: the name of a file NAME.so without folder"},
      {"plugins:\n  load: [{name: a, sha256: xyz}]\n", "allowed: 64 hexadecimal digits"},
      {"plugins:\n  load: [{name: a, failurePolicy: maybe}]\n", "allowed: closed, open"},
      {"plugins:\n  load: {name: a}\n", "plugins.load: found a map; allowed: a list of maps"},
      {"plugins:\n  load: [{name: a, config: 3}]\n",
       "plugins.load[0].config: found the number 3; allowed: a map of keys"},
      {"executor: {type: remote}\n", "allowed: local, none"},
      {"executor:\n  nodes: [{name: a, capacity: {cpu: lots}}]\n",
       "executor.nodes[0].capacity: cpu: "},
      {"executor:\n  nodes: [{name: a, capacity: {cpu: -1}}]\n",
       "allowed: a quantity of 0 or more"},
      {"executor:\n  nodes: [{name: a}]\n", "executor.nodes[0].capacity: is missing"},
      {"executor:\n  nodes: [{name: A_1, capacity: {cpu: 1}}]\n",
       "executor.nodes[0].name: found \"A_1\"; allowed: lower-case letters, digits, '-' and '.'"},
      {"executor:\n  images: [{name: a, entrypoint: [b]}, {name: a, entrypoint: [c]}]\n",
       "executor.images[1].name: \"a\" is listed twice"},
      {"executor:\n  images: [{name: a}]\n", "executor.images[0].entrypoint: is missing"},
      {"executor:\n  images: [{name: a, entrypoint: []}]\n",
       "executor.images[0].entrypoint: found no program"},
      {"store: {path: a, path: b}\n", "store.path: the key is given twice"},
      {"store: [1\n", "s.yaml:4: not YAML"},
  };
  expect_refused(kMistakes);
}

TEST(Configuration, WhatIsPassedOnToAPluginIsJudgedLikeTheRest) {
  const Mistake kMistakes[] = {
      {"plugins: {load: [{name: a, config: {x: 1, x: 2}}]}\n",
       "plugins.load[0].config.x: the key is given twice"},
      {"plugins: {load: [{name: a, config: {l: [{}, {y: {x: 1, x: 2}}]}}]}\n",
       "plugins.load[0].config.l[1].y.x: the key is given twice"},
      {"plugins: {load: [{name: a, isolation: process, command: [b],\n"
       "                   process: {environment: {A: b, A: c}}}]}\n",
       "plugins.load[0].process.environment.A: the key is given twice"},
      {"plugins: {load: [{name: \"\"}]}\n",
       "plugins.load[0].name: found the text \"\"; allowed: a text that is not empty"},
  };
  expect_refused(kMistakes);
}

TEST(Configuration, TrustInPluginsNeedsKeysAndLibraries) {
  const Mistake kMistakes[] = {
      {"plugins:\n  trust: {require: true}\n",
       "s.yaml:4: plugins.trust.require: it needs the keys by which libraries may be signed"},
      {"plugins:\n  trust: {keys: k}\n", "plugins.trust.keys: found"},
      {"plugins:\n  trust: {keys: [k], require: true}\n"
       "  load: [{name: a, isolation: process, command: [b]}]\n",
       "s.yaml:5: plugins.load[0].command: nobody can sign a command; with plugins.trust.require"},
  };
  expect_refused(kMistakes);
  const auto config = parse(
      "plugins:\n  trust: {keys: [a.pem], require: true}\n"
      "  load: [{name: a}, {name: b, enabled: false, isolation: process, command: [c]}]\n");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->plugins.load->front().trust.keys, config->plugins.trust.keys);
  EXPECT_TRUE(config->plugins.load->front().trust.require);
  EXPECT_FALSE(Configuration().plugins.trust.require);
}

TEST(Configuration, NamesWhatIsWrongWithRulesOfResourcesAndSelectors) {
  const Mistake kMistakes[] = {
      {"resources: {transformations: [{input: a}, {input: a}]}\n",
       "resources.transformations[1].input: \"a\" is listed twice"},
      {"resources: {transformations: [{outputs: {a: 1}}]}\n",
       "resources.transformations[0].input: is missing"},
      {"resources: {transformations: [{input: a, outputs: {b: -1}}]}\n",
       "resources.transformations[0].outputs: b: found -1; allowed: a quantity of 0 or more"},
      {"resources: {transformations: [{input: a, multiplyBy: a}]}\n",
       "allowed: another resource than the input"},
      {"resources: {transformations: [{input: 'g p u'}]}\n",
       "transformations[0].input: found \"g p u\"; allowed: the name of a resource, cpu or"},
      {"resources: {transformations: [{input: a, multiplyBy: -}]}\n",
       "transformations[0].multiplyBy: found \"-\"; allowed: the name of a resource"},
      {"resources: {transformations: [{input: a, outputs: {'b c': 1}}]}\n",
       "transformations[0].outputs: found \"b c\"; allowed: the name of a resource"},
      {"resources: {excludeResourcePrefixes: ['']}\n", "allowed: the beginning of a name"},
      {"managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: In}]}\n",
       "managedJobsNamespaceSelector.matchExpressions[0].values: is missing"},
      {"labelKeysToCopy: [a b]\n", "labelKeysToCopy: found \"a b\"; allowed: names of labels"},
      {"labelKeysToCopy: [kueue.x-k8s.io/job-uid]\n", "allowed: labels that are not the system's"},
      {"labelKeysToCopy: [pod-groups.sluice.dev/x]\n", "allowed: labels that are not the system's"},
  };
  expect_refused(kMistakes);
}

TEST(Configuration, APluginMayHaveAProcess) {
  const auto config = parse(
      "plugins:\n"
      "  load:\n"
      "  - name: first\n"
      "  - name: second\n"
      "    isolation: process\n"
      "    command: [python3, second.py]\n"
      "    process: {memoryBytes: 268435456, cpuSeconds: 60, files: 64, network: true,\n"
      "              environment: {A: b}, callTimeout: 500ms, startTimeout: 20s,\n"
      "              firstPause: 1s, longestPause: 2s}\n");
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_FALSE(config->plugins.load->front().process);
  const auto& process = config->plugins.load->back().process;
  ASSERT_TRUE(process);
  EXPECT_EQ(process->command, (std::vector<std::string>{"python3", "second.py"}));
  EXPECT_EQ(process->memory_bytes, 256 << 20);
  EXPECT_EQ(process->cpu_seconds, 60);
  EXPECT_EQ(process->files, 64);
  EXPECT_TRUE(process->network);
  EXPECT_EQ(process->environment.size(), 1U);
  EXPECT_EQ(process->call_timeout, kSecond / 2);
  EXPECT_EQ(process->start_timeout, 20 * kSecond);
  EXPECT_EQ(process->first_pause, kSecond);
  EXPECT_EQ(process->longest_pause, 2 * kSecond);
}

TEST(Configuration, NamesWhatIsWrongWithAProcess) {
  const Mistake kMistakes[] = {
      {"plugins:\n  load: [{name: a, isolation: jail}]\n", "allowed: none, process"},
      {"plugins:\n  load: [{name: a, command: [x]}]\n",
       "plugins.load[0].command: a command is a process: it needs `isolation: process`"},
      {"plugins:\n  load: [{name: a, process: {files: 64}}]\n",
       "plugins.load[0].process: it has no effect without `isolation: process`"},
      {"plugins:\n  load: [{name: a, isolation: process, process: {callTimeout: 1h}}]\n",
       "plugins.load[0].process.callTimeout: found the text \"1h\"; allowed: a duration from 1ms "
       "to 10s"},
      {"plugins:\n  load: [{name: a, isolation: process, process: {firstPause: 2h}}]\n",
       "plugins.load[0].process.firstPause: found the text \"2h\"; allowed: a duration from 1ms to "
       "1h"},
      {"plugins:\n  load: [{name: a, isolation: process, process: {longestPause: 2h}}]\n",
       "plugins.load[0].process.longestPause: found the text \"2h\"; allowed: a duration from "
       "firstPause to 1h"},
      {"plugins:\n  load: [{name: a, isolation: process, process: {environment: {a-b: c}}}]\n",
       "process.environment: found \"a-b\"; allowed: names of letters, digits and _"},
  };
  expect_refused(kMistakes);
}

TEST(Configuration, ShowsAllMistakesInTheOrderOfTheFile) {
  const auto config = parse("wrong: 1\nscheduling: {threads: x}\nmetrics: {port: 1}\n");
  ASSERT_FALSE(config.ok());
  const std::string& text = config.error().text;
  EXPECT_LT(text.find("s.yaml:3: wrong"), text.find("s.yaml:4: scheduling.threads"));
  EXPECT_LT(text.find("s.yaml:4: scheduling.threads"), text.find("s.yaml:5: metrics.port"));
}

TEST(Configuration, RefusesAnotherKindAndSeveralDocuments) {
  const auto kind = parse_configuration("apiVersion: v1\nkind: Pod\n", "s.yaml");
  ASSERT_FALSE(kind.ok());
  EXPECT_THAT(kind.error().text,
              HasSubstr("s.yaml:2: kind: found the text \"Pod\"; allowed: Configuration"));
  const auto two = parse("---\na: 1\n");
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(two.error().text, HasSubstr("holds several documents; allowed: one"));
  const auto endless = parse_configuration(R"({"a:":b,"c":{}}"d","e":{}})", "e.yaml");
  EXPECT_THAT(endless.error().text, HasSubstr("e.yaml"));
  const auto none = parse_configuration("", "s.yaml");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().text, HasSubstr("s.yaml:1: apiVersion: is missing"));
}

TEST(Configuration, AFileThatIsNotThereIsAnError) {
  const auto config = load_configuration("/nonexistent/sluice.yaml");
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(config.error().text, HasSubstr("/nonexistent/sluice.yaml: cannot be read"));
}

}  // namespace
}  // namespace sluice::host
