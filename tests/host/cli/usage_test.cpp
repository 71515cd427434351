// What the program says to wrong input and wrong usage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/host/cli/sandbox.hpp"

namespace sluice::host {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Usage : public Sandbox {};

TEST_F(Usage, BadUsageExits2AndPointsToTheHelp) {
  for (const char* arguments :
       {"frobnicate", "simulate", "simulate --nope x", "simulate --until soon x",
        "simulate --threads -1 x", "simulate --dump - x", "simulate --report - x",
        "simulate --against before.log x", "simulate --report r --log r x",
        "simulate --report r --dump r x", "plugin", "manifests --definitions-only --image x",
        "manifests --observe --namespace A_b", "manifests --observe --groups ray.io"}) {
    const RunResult run = sluice(arguments);
    EXPECT_EQ(run.status, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_THAT(run.err, StartsWith("error: ")) << arguments;
    EXPECT_THAT(run.err, HasSubstr("--help")) << arguments;
  }
}

/// The first thing that people type.
TEST_F(Usage, C15_TheProgramAloneExplainsItself) {
  const RunResult run = sluice("");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, sluice("--help").out);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(sluice("plugin").err, StartsWith("error: which command? allowed: "));
}

/// Not those of the program.
TEST_F(Usage, C15_ACommandOfACommandHasExamplesOfItsOwnOrNone) {
  for (const char* arguments :
       {"plugin list --help", "plugin validate --help", "store check --help", "submit --help"})
    EXPECT_THAT(sluice(arguments).out, testing::Not(HasSubstr("sluice simulate examples")))
        << arguments;
}

TEST_F(Usage, EveryCommandExplainsItself) {
  for (const char* arguments :
       {"--help", "simulate --help", "version --help", "plugin --help", "plugin inspect --help",
        "plugin list --help", "plugin validate --help", "top --help"}) {
    const RunResult run = sluice(arguments);
    EXPECT_EQ(run.status, 0) << arguments;
    EXPECT_THAT(run.out, HasSubstr("Usage: sluice")) << arguments;
    EXPECT_EQ(run.err, "") << arguments;
  }
  EXPECT_THAT(sluice("simulate --help").out, HasSubstr("Examples:"));
}

/// One option, whatever the command prints.
TEST_F(Usage, AnswersComeAsTableJsonOrYaml) {
  struct Case {
    const char *command, *rest, *json, *yaml;
  };
  for (const Case& each :
       {Case{"version", "", "{\n    \"version\": \"", "version: "},
        Case{"plugin list", " --directory /nowhere",
             "{\n    \"directory\": \"/nowhere\",\n    \"plugins\": []\n}\n",
             "directory: \"/nowhere\"\nplugins: []\n"},
        Case{"submit --queue q --dry-run", " -- ./x", "{\n    \"apiVersion\": \"batch/v1\",\n",
             "apiVersion: batch/v1\n"}}) {
    const auto run = [&](const std::string& option) {
      return sluice(each.command + option + each.rest);
    };
    EXPECT_THAT(run(" -o json").out, StartsWith(each.json)) << each.command;
    EXPECT_THAT(run(" --output=yaml").out, StartsWith(each.yaml)) << each.command;
    EXPECT_EQ(run(" -o table").out, run("").out) << each.command;
    EXPECT_EQ(run(" -o text").out, run("").out) << each.command;
    EXPECT_EQ(run(" -o xml").status, 2) << each.command;
    EXPECT_THAT(run(" -o xml").err, HasSubstr("allowed: table, text, json, yaml")) << each.command;
  }
  EXPECT_EQ(sluice("plugin list --json --directory /nowhere").out,
            sluice("plugin list -o json --directory /nowhere").out);
}

TEST_F(Usage, VersionIsOneLine) {
  const RunResult run = sluice("version");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, testing::MatchesRegex("sluice [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(sluice("--version").out, run.out);
}

struct BadInput {
  const char* name;
  std::string text;
  const char* error;
};

std::string without(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

TEST_F(Usage, BadInputIsNamedWithItsPlaceAndLeavesNothing) {
  const std::string queue = kOneQueue;
  const BadInput kInputs[] = {
      {"count.yaml", workload("w", -3),
       "count.yaml:1: Workload w: spec.podSets[0].count: Invalid value: -3"},
      {"quantity.yaml", without(queue, "nominalQuota: 4", "nominalQuota: 4zz"),
       "quantity.yaml:16: ClusterQueue cq: "
       "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: "
       "Invalid value: \"4zz\""},
      {"overflow.yaml", without(queue, "nominalQuota: 4", "nominalQuota: 99999999999999999999Ei"),
       "overflow.yaml:16: ClusterQueue cq: "
       "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: "},
      {"twice.yaml", queue + "---\n" + queue,
       "ResourceFlavor default is given twice; it stands at twice.yaml:2 already"},
      {"runtime.yaml", workload("w", 1, runtime("fast")),
       "runtime.yaml:1: Workload w: metadata.annotations[sluice.dev/runtime]: Invalid value: "
       "\"fast\""},
      {"kind.yaml", "metadata: {name: x}\n", "kind.yaml:1: the object has no apiVersion"},
      {"class.yaml",
       workload("w", 1, "",
                "priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: x}"),
       "the WorkloadPriorityClass \"x\" that the workload names does not exist"},
      {"garbage.yaml", std::string("\x01\xff\xfe\x00garbage", 11), "garbage.yaml:1"},
      {"syntax.yaml", "a: b: c\n", "syntax.yaml:1"},
      {"cut.json", "{\"apiVersion\":\"v1\",\"kind\":", "cut.json:1"},
      {"delete.yaml", timeline("- {at: 1s, delete: {kind: Workload, namespace: team, name: x}}\n"),
       "delete.yaml:4: delete: there is no Workload team/x at that time"},
      {"patch.yaml", timeline("- {at: 1s, patch: {kind: Cohort, name: x, merge: {}}}\n"),
       "patch.yaml:4: patch: there is no Cohort x at that time"},
      {"finish.yaml", timeline("- {at: 1s, finish: {name: x}}\n"),
       "finish.yaml:4: finish: there is no Workload default/x at that time"},
      {"at.yaml", timeline("- {at: later, finish: {name: x}}\n"),
       "at.yaml:4: at: found \"later\"; allowed: a duration such as 1500ms, 90s, 2m30s or 1h"},
      {"negative.yaml", timeline("- {at: -1s, finish: {name: x}}\n"),
       "negative.yaml:4: at: found \"-1s\""},
      {"noat.yaml", timeline("- {finish: {name: x}}\n"), "noat.yaml:4: at: found nothing"},
      {"key.yaml", timeline("- {at: 1s, finnish: {name: x}}\n"),
       "key.yaml:4: unknown key \"finnish\"; allowed: at, apply, delete, patch, finish"},
      {"two.yaml", timeline("- {at: 1s, finish: {name: x}, delete: {kind: Cohort, name: x}}\n"),
       "two.yaml:4: an event has `at` and exactly one of apply, delete, patch, finish; found "
       "several"},
      {"target.yaml", timeline("- {at: 1s, delete: {kind: Gizmo, name: x}}\n"),
       "no kind \"Gizmo\" is known"},
      {"start.yaml", "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nstart: noon\n",
       "start.yaml:3: start: found \"noon\""},
      {"early.yaml",
       "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nstart: \"1969-12-31T23:59:59Z\"\n",
       "early.yaml:3: start: found \"1969-12-31T23:59:59Z\"; allowed: a time from 1970 to 2262"},
      {"events.yaml", "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nevents: {}\n",
       "events.yaml:3: events: found {}"},
  };
  for (const BadInput& input : kInputs) {
    write(input.name, input.text);
    for (const std::string log : {"-", "out.jsonl"}) {
      const RunResult run =
          sluice("simulate --plugins none --log " + log + " --dump dump.yaml " + input.name);
      EXPECT_EQ(run.status, 1) << input.name;
      EXPECT_EQ(run.out, "") << input.name;
      EXPECT_THAT(run.err, StartsWith("error: ")) << input.name;
      EXPECT_THAT(run.err, HasSubstr(input.error)) << input.name;
      EXPECT_EQ(files(), 1U) << input.name << " left files behind";
    }
    std::filesystem::remove(folder_ / input.name);
  }
}

TEST_F(Usage, FilesThatAreTooLargeAreRefused) {
  write("large.yaml", std::string(2 << 20, '#'));
  const RunResult run = sluice("simulate --plugins none --max-file-mib 1 large.yaml");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(
      run.err,
      HasSubstr("large.yaml: the file has 2097152 bytes, more than the 1048576 that are allowed"));
}

TEST_F(Usage, UnknownFieldsAndKindsAreCountedOnce) {
  write("queue.yaml", kOneQueue);
  std::string text;
  for (const char* name : {"a", "b", "c"}) text += "---\n" + workload(name, 1, "", "colour: red");
  text += "---\napiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: x}\n";
  write("w.yaml", text);
  const RunResult run = sluice("simulate --plugins none --log - .");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(
      run.err,
      HasSubstr("warning: Workload: unknown field \"spec.colour\", left out of 3 objects\n"));
  EXPECT_THAT(
      run.err,
      HasSubstr("warning: example.com/v1 Gizmo: no such kind is known here; 1 object left out\n"));
}

TEST_F(Usage, ADumpThatKnowsOfItsMissingFlavorIsTaken) {
  std::string queue = without(kOneQueue, "metadata: {name: default}", "metadata: {name: other}");
  queue =
      without(queue, "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue",
              "status:\n  conditions:\n  - {type: Active, status: 'False', reason: FlavorNotFound, "
              "message: x, lastTransitionTime: '2026-01-01T00:00:00Z'}\n"
              "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue");
  write("q.yaml", queue + "---\n" + workload("w", 1));
  const RunResult run = sluice("simulate --plugins none --log - q.yaml");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("warning: q.yaml:15: ClusterQueue cq: no ResourceFlavor \"default\""));
  EXPECT_THAT(run.out, HasSubstr("\"type\":\"Pending\",\"workload\":\"team/w\""));
}

TEST_F(Usage, TheConfigurationIsChecked) {
  write("queue.yaml", kOneQueue);
  write("c.yaml",
        "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\nscheduling: {thread: 1}\n");
  const RunResult run = sluice("simulate --config c.yaml queue.yaml");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err,
            "error: c.yaml:3: scheduling.thread: unknown key; allowed: threads, fairSharing, "
            "progressWindow, waitForPodsReady\n");
}

TEST_F(Usage, APluginThatIsNotThereIsAnError) {
  write("queue.yaml", kOneQueue);
  const RunResult run = sluice("simulate --plugins nowhere --log out.jsonl queue.yaml");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, StartsWith("error: "));
  EXPECT_THAT(run.err, HasSubstr("nowhere"));
  EXPECT_FALSE(exists("out.jsonl"));
}

TEST_F(Usage, ALogThatCannotBeWrittenIsAnError) {
  write("queue.yaml", kOneQueue);
  const RunResult run = sluice("simulate --plugins none --log no/such/folder.jsonl queue.yaml");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("--log: no/such/folder.jsonl: cannot be written"));
}

}  // namespace
}  // namespace sluice::host
