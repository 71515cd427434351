// The live host and the simulation decide alike on the same jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "api/json/json.hpp"
#include "host/controllers/controller_loop.hpp"
#include "host/controllers/jobs/job_controller.hpp"
#include "host/controllers/jobs/job_policy.hpp"
#include "host/manifests/manifests.hpp"
#include "host/simulate/decision_log.hpp"
#include "host/simulate/job_pods.hpp"
#include "host/simulate/output.hpp"
#include "host/simulate/run.hpp"
#include "host/store/live_store.hpp"
#include "host/writes/object_writer.hpp"
#include "host/writes/writer.hpp"

namespace sluice::host {
namespace {

/// The manifests of the quick start, with those Jobs that the live one submits.
std::vector<std::string> inputs() {
  const std::string examples = SLUICE_SOURCE_DIR "/examples/";
  return {examples + "quickstart/1-capacity.yaml", examples + "quickstart/2-teams.yaml",
          examples + "live/team-a.yaml", examples + "live/team-b.yaml"};
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Records of the log without what differs by nature: hashes, made of UIDs.
std::vector<std::string> without_hashes(const std::string& log) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = log.find('\n', begin);
    std::string line = log.substr(begin, end - begin);
    begin = end + 1;
    if (line.find("\"Summary\"") != std::string::npos) continue;
    for (std::size_t at = line.find("/job-"); at != std::string::npos;
         at = line.find("/job-", at + 1)) {
      const std::size_t quote = line.find('"', at);
      line.erase(quote - 6, 6);
    }
    out.push_back(std::move(line));
  }
  return out;
}

/// What a live host is made of below its API, with the simulation's pods in place of processes.
class LiveHost final : public DecisionObserver {
 public:
  explicit LiveHost(RecordSink& sink) : sink_(sink), jobs_(scheme_, nullptr), pods_(scheme_) {
    objects_.add_policy(policy_);
    controllers_.add(jobs_);
    controllers_.add(pods_);
    kernel_.listen(&controllers_);
    kernel_.write_statuses();
    kernel_.begin_instant(now_);
  }
  void decided(Time, const Decision& decision) override {
    sink_.decided(0, decision, kernel_.engine());
  }
  void apply(const boost::json::object& object) {
    WriteRequest request;
    request.verb = WriteVerb::kCreate;
    request.kind =
        scheme_.find(api::find_text(object, "apiVersion"), api::find_text(object, "kind"));
    ASSERT_NE(request.kind, nullptr);
    const std::string_view version = api::find_text(object, "apiVersion");
    request.version = version.substr(version.find('/') + 1);
    const auto* metadata = api::find_object(object, "metadata");
    if (request.kind->namespaced) request.ns = api::find_text(*metadata, "namespace");
    request.body = object;
    const auto done = writer_.execute(request);
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  void settle() { kernel_.run_to_rest(); }

 private:
  RecordSink& sink_;
  api::Scheme scheme_;
  LiveStore store_{scheme_, nullptr};
  Intake intake_{scheme_, nullptr};
  Kernel kernel_{EngineConfig{}, hooks::Hooks{}, intake_, store_, nullptr, *this};
  ObjectIndex index_;
  LiveIds ids_;
  ObjectWriter objects_{kernel_, index_, ids_};
  ControllerLoop controllers_{objects_, index_};
  Writer writer_{objects_};
  JobPolicy policy_;
  JobController jobs_;
  JobPods pods_;
  Time now_ = *parse_time("2026-01-01T00:00:00Z");
};

std::string live_log(const std::string& path) {
  auto output = PendingOutput::open(path);
  EXPECT_TRUE(output.ok());
  DecisionLog log(*output, false);
  LiveHost host(log);
  const auto loaded = load_manifests(inputs(), {}, [&](Document&& document) -> Result<void> {
    host.apply(document.object);
    return {};
  });
  EXPECT_TRUE(loaded.ok());
  host.settle();
  EXPECT_TRUE(output->commit().ok());
  return read(path);
}

TEST(LiveAgreement, TheQuickStartIsDecidedAsInTheSimulation) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("sluice-agreement-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  SimulateOptions options;
  options.paths = inputs();
  options.plugins = std::vector<std::string>();
  options.log = folder / "simulated.log";
  const auto simulated = run_simulation(options);
  ASSERT_TRUE(simulated.ok()) << simulated.error().text;
  const auto expected = without_hashes(read(options.log));
  EXPECT_EQ(expected.size(), 8U);
  EXPECT_EQ(without_hashes(live_log(folder / "live.log")), expected);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sluice::host
