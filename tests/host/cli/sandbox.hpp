// Sandbox: a folder of its own for one test, in which the built program is run.
// Tests of one name must not run at the same time.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/wait.h>

namespace sluice::host {

struct RunResult {
  int status = -1;
  std::string out, err;
};

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("sluice-") + info->test_suite_name() + "-" + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  /// Runs `sluice ARGUMENTS` in the folder.
  RunResult sluice(const std::string& arguments) const {
    RunResult result;
    const std::string error_file = (folder_ / ".stderr").string();
    const std::string command = "cd '" + folder_.string() + "' && '" SLUICE_BINARY "' " +
                                arguments + " 2>'" + error_file + "'";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return result;
    std::array<char, 4096> block;
    while (const std::size_t size = std::fread(block.data(), 1, block.size(), pipe))
      result.out.append(block.data(), size);
    const int code = pclose(pipe);
    result.status = WIFEXITED(code) ? WEXITSTATUS(code) : -1;
    result.err = read(".stderr");
    std::filesystem::remove(error_file);
    return result;
  }

  /// `sluice simulate --plugins none --log - ARGUMENTS`, without the Summary.
  std::string log_of(const std::string& arguments) const {
    const RunResult run = sluice("simulate --plugins none --log - " + arguments);
    EXPECT_EQ(run.status, 0) << run.err;
    const std::size_t summary = run.out.rfind("{\"type\":\"Summary\"");
    return summary == std::string::npos ? run.out : run.out.substr(0, summary);
  }

  std::filesystem::path folder_;
};

/// One ClusterQueue `cq` with 4 CPUs of the flavor `default`, and the LocalQueue `team/lq`.
inline constexpr const char* kOneQueue = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: default
      resources: [{name: cpu, nominalQuota: 4}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: team}
spec: {clusterQueue: cq}
)";

/// A workload of `cpus` pods with one CPU each in flow style, for manifests and events alike.
inline std::string workload(const std::string& name, int cpus, const std::string& metadata = "",
                            const std::string& spec = "") {
  return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " + name +
         ", namespace: team" + (metadata.empty() ? "" : ", " + metadata) +
         "}, spec: {queueName: lq" + (spec.empty() ? "" : ", " + spec) +
         ", podSets: [{name: main, count: " + std::to_string(cpus) +
         ", template: {spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}}}"
         "]}}\n";
}

inline std::string runtime(const std::string& duration) {
  return "annotations: {sluice.dev/runtime: " + duration + "}";
}

/// A Timeline of events in flow style, one a line.
inline std::string timeline(const std::string& events) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: Timeline\nevents:\n" + events;
}

}  // namespace sluice::host
