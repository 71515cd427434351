// Which statuses a simulation writes: those that somebody follows, with all plugins of this build.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "api/json/steps.hpp"
#include "host/simulate/run.hpp"

namespace sluice::host {
namespace {

class WrittenStatuses : public ::testing::Test {
 protected:
  WrittenStatuses()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("sluice-statuses-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "sluice.yaml") << "apiVersion: config.sluice.dev/v1alpha1\n"
                                              "kind: Configuration\n"
                                              "plugins: { directory: " SLUICE_PLUGINS " }\n";
  }
  ~WrittenStatuses() override { std::filesystem::remove_all(folder_); }

  /// How often a status was put into words while this was played beside one_cpu.yaml.
  std::uint64_t written(const std::string& more) {
    std::ofstream(folder_ / "more.yaml") << more;
    SimulateOptions options;
    options.paths = {SLUICE_SOURCE_DIR "/tests/host/simulate/one_cpu.yaml",
                     (folder_ / "more.yaml").string()};
    options.config_file = folder_ / "sluice.yaml";
    options.threads = 1;
    options.log = folder_ / "log";
    const std::uint64_t before = api::Conversions::encodings();
    testing::internal::CaptureStdout();
    const auto done = run_simulation(options);
    testing::internal::GetCapturedStdout();
    EXPECT_TRUE(done.ok()) << done.error().text;
    return api::Conversions::encodings() - before;
  }

  std::filesystem::path folder_;
};

constexpr const char* kChecked = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: { name: by-hand }
spec: { controllerName: example.com/by-hand }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: { name: checked }
spec:
  namespaceSelector: {}
  admissionChecksStrategy: { admissionChecks: [{ name: by-hand }] }
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{ name: f, resources: [{ name: cpu, nominalQuota: 1 }] }]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: { name: checked, namespace: ns }
spec: { clusterQueue: checked }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: { name: c, namespace: ns }
spec:
  queueName: checked
  podSets:
  - name: main
    count: 1
    template:
      spec:
        containers: [{ name: c, image: i, resources: { requests: { cpu: 1 } } }]
)";

// a runs, b waits. multi-cluster follows workloads with checks: there are none.
TEST_F(WrittenStatuses, NoneWithoutChecks) { EXPECT_EQ(written(""), 0U); }

TEST_F(WrittenStatuses, ThoseOfWorkloadsWithChecks) { EXPECT_GT(written(kChecked), 0U); }

}  // namespace
}  // namespace sluice::host
