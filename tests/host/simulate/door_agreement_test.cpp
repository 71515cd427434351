// One door: what is simulated is what a host does. Each measured case is played twice, by the short
// way of a simulation (sealed objects, statuses on demand) and as a host does it (trees that are
// judged as they come, a store with versions, every status written, Events): byte for byte the same
// log.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "host/simulate/run.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class DoorAgreement : public ::testing::Test {
 protected:
  DoorAgreement()
      : folder_(fs::path(testing::TempDir()) / ("sluice-door-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~DoorAgreement() override { fs::remove_all(folder_); }

  std::string log_of(const std::vector<std::string>& paths, bool as_host) {
    SimulateOptions options;
    options.paths = paths;
    options.plugins = std::vector<std::string>();
    options.threads = 1;
    options.states = true;
    options.as_host = as_host;
    options.log = folder_ / "log";
    testing::internal::CaptureStdout();
    const auto done = run_simulation(options);
    testing::internal::GetCapturedStdout();
    EXPECT_TRUE(done.ok()) << paths.front() << ": " << (done ? "" : done.error().text);
    return done ? read(options.log) : std::string();
  }
  void expect_same(const std::vector<std::string>& paths) {
    const std::string simulated = log_of(paths, false);
    EXPECT_FALSE(simulated.empty()) << paths.front();
    EXPECT_EQ(log_of(paths, true), simulated) << paths.front();
  }

  fs::path folder_;
};

TEST_F(DoorAgreement, EveryMeasuredCase) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(SLUICE_SOURCE_DIR "/tests/decisions/cases"))
    if (const std::string name = entry.path().filename(); !name.ends_with(".expect.json"))
      cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  ASSERT_GT(cases.size(), 50U);
  for (const fs::path& each : cases) expect_same({each.string()});
}

TEST_F(DoorAgreement, TheQuickStartWithItsJobs) {
  const std::string examples = SLUICE_SOURCE_DIR "/examples/";
  expect_same({examples + "quickstart"});
  expect_same({examples + "quickstart/1-capacity.yaml", examples + "quickstart/2-teams.yaml",
               examples + "live/team-a.yaml", examples + "live/team-b.yaml"});
}

/// The queue has 1 cpu: a (with a finalizer) runs, b waits.
class TwoDoors : public DoorAgreement {
 protected:
  std::string play(const std::string& event) {
    const fs::path file = folder_ / "timeline.yaml";
    std::ofstream(file) << "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nevents:\n" << event;
    const std::vector<std::string> paths = {SLUICE_SOURCE_DIR "/tests/host/simulate/one_cpu.yaml",
                                            file.string()};
    const std::string log = log_of(paths, false);
    EXPECT_EQ(log_of(paths, true), log);
    return log;
  }
};

TEST_F(TwoDoors, ADeletedWorkloadWithAFinalizerKeepsItsQuota) {
  const std::string log = play("- {at: 5s, delete: {kind: Workload, namespace: ns, name: a}}\n");
  EXPECT_EQ(log.find("\"Admitted\",\"workload\":\"ns/b\""), std::string::npos) << log;
}

TEST_F(TwoDoors, AStatusThatSaysFinishedEndsTheWorkload) {
  const std::string log = play(
      "- at: 5s\n  patch: {kind: Workload, namespace: ns, name: a, subresource: status, merge: "
      "{status: {conditions: [{type: Finished, status: 'True', reason: Done, message: over, "
      "lastTransitionTime: '2026-01-01T00:00:05Z'}]}}}\n");
  EXPECT_NE(log.find("{\"t\":5.0,\"type\":\"Finished\",\"workload\":\"ns/a\""), std::string::npos)
      << log;
  EXPECT_NE(log.find("{\"t\":5.0,\"type\":\"Admitted\",\"workload\":\"ns/b\"}"), std::string::npos);
}

TEST_F(TwoDoors, WhatTheHostRefusesIsSkippedAndChangesNothing) {
  const std::string log = play(
      "- at: 5s\n  patch: {kind: Workload, namespace: ns, name: a, merge: {spec: {podSets: "
      "[]}}}\n");
  EXPECT_NE(log.find("\"type\":\"Skipped\""), std::string::npos) << log;
  EXPECT_EQ(log.find("\"Admitted\",\"workload\":\"ns/b\""), std::string::npos);
}

}  // namespace
}  // namespace sluice::host
