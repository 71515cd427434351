// Jobs that really run: the control loop, the controllers, the executor and real processes. The
// tests wait for what is published, never for a time.
#include "host/executor/local_executor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "host/executor/binder.hpp"
#include "host/executor/jobs/job_pods_controller.hpp"
#include "host/executor/nodes.hpp"
#include "host/executor/pod_controller.hpp"
#include "host/serve/control_loop.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host {
namespace {

using test::at;

class ToLoop final : public KernelThread {
 public:
  explicit ToLoop(std::unique_ptr<ControlLoop>& loop) : loop_(loop) {}
  void post(std::function<void(ObjectAccess&)> task) override { loop_->post(std::move(task)); }

 private:
  std::unique_ptr<ControlLoop>& loop_;
};

class LocalExecutorTest : public testing::Test {
 protected:
  LocalExecutorTest() {
    host_.controllers.add(jobs_);
    host_.controllers.add(binder_);
    host_.controllers.add(ends_);
    control_ = std::make_unique<ControlLoop>(host_.machine, host_.store, clock_);
    control_->start();
    call_node("n");
    start_executor();
  }
  ~LocalExecutorTest() override {
    config_.end_pods_on_stop = true;
    restart_executor();
    executor_->stop();
    control_->stop();
    std::filesystem::remove_all(config_.folder);
  }

  /// There is one node, of this name.
  void call_node(const std::string& name) {
    config_.nodes = {name};
    const auto made = control_->run_and_wait([&](ObjectAccess& objects) {
      NodeConfig node;
      node.name = name;
      node.capacity = {{"cpu", "64"}, {"memory", "64Gi"}};
      ExecutorConfig config;
      config.nodes = {node};
      EXPECT_TRUE(ensure_nodes(config, machine_facts(), objects));
    });
    EXPECT_TRUE(made);
  }
  void start_executor() {
    auto started = start_local_executor(config_, host_.store, host_.scheme, kernel_);
    ASSERT_TRUE(started) << started.error().text;
    executor_ = std::move(*started);
  }
  void restart_executor() {
    executor_->stop();
    executor_.reset();
    start_executor();
  }

  ApiResult<WriteOutcome> submit(WriteRequest request) {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<ApiResult<WriteOutcome>> result;
    control_->submit(std::move(request), [&](ApiResult<WriteOutcome> answer) {
      const std::lock_guard lock(mutex);
      result = std::move(answer);
      changed.notify_one();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return result.has_value(); });
    return std::move(*result);
  }
  void create(const char* resource, const std::string& body) {
    const auto done = submit(host_.request(WriteVerb::kCreate, resource, "", body));
    ASSERT_TRUE(done) << done.error().text;
  }
  void job(const std::string& script, const std::string& spec = "") {
    create("jobs", R"({"metadata":{"name":"j"},"spec":{)" + spec +
                       R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c",)"
                       R"("image":"i","command":["/bin/sh","-c",")" +
                       script + R"("]}]}}}})");
  }

  /// The first published object of the kind that satisfies the condition.
  boost::json::object until(const char* resource,
                            const std::function<bool(const boost::json::object&)>& holds) {
    const api::KindInfo& kind = host_.kind(resource);
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t count = 0;
    const auto subscription = host_.store.subscribe(kind, [&] {
      const std::lock_guard lock(mutex);
      ++count;
      changed.notify_one();
    });
    for (std::uint64_t seen = 0;; seen = count) {
      const Listing listing = *host_.store.read(kind, "");
      for (const RecordPtr& record : listing.objects) {
        boost::json::object object = to_object(*record);
        if (holds(object)) return object;
      }
      std::unique_lock lock(mutex);
      if (!changed.wait_for(lock, std::chrono::minutes(1), [&] { return count != seen; })) {
        ADD_FAILURE() << "nothing happened for a minute";
        return {};
      }
    }
  }
  boost::json::object until_job(const std::string& condition) {
    return until("jobs", [&](const boost::json::object& object) {
      for (int i = 0; i < 4; ++i) {
        const std::string entry = "/status/conditions/" + std::to_string(i);
        if (at(object, entry + "/type") == condition) return true;
      }
      return false;
    });
  }
  boost::json::object until_pod(const std::string& phase) {
    return until("pods", [&](const boost::json::object& object) {
      return at(object, "/status/phase") == phase;
    });
  }
  std::string output(const boost::json::object& pod) {
    const auto reader = executor_->logs().open("default/" + at(pod, "/metadata/name"), LogQuery{});
    if (!reader) return reader.error().text;
    std::string out;
    while ((*reader)->read(out, 1000) == LogReader::Progress::kMore) {
    }
    return out;
  }

  SystemPluginClock clock_;
  test::HostFixture host_;
  JobPodsController jobs_;
  Binder binder_;
  PodController ends_;
  std::unique_ptr<ControlLoop> control_;
  ToLoop kernel_{control_};
  LocalExecutorConfig config_{
      std::filesystem::path(testing::TempDir()) / ("executor-" + std::to_string(::getpid())),
      {POD_RUNNER},
      {},
      false};
  std::unique_ptr<Executor> executor_;
};

TEST_F(LocalExecutorTest, AJobRunsAndIsComplete) {
  job("echo hello from $HOSTNAME", R"("completions":3,"parallelism":2,)");
  const auto done = until_job("Complete");
  EXPECT_EQ(at(done, "/status/succeeded"), "3");
  const auto pod = until_pod("Succeeded");
  EXPECT_EQ(output(pod), "hello from " + at(pod, "/metadata/name") + "\n");
  EXPECT_EQ(at(pod, "/status/containerStatuses/0/state/terminated/exitCode"), "0");
  EXPECT_EQ(at(pod, "/status/qosClass"), "BestEffort");
}

TEST_F(LocalExecutorTest, ExitCodesReachTheJob) {
  job("exit 3", R"("backoffLimit":0,)");
  const auto failed = until_job("Failed");
  EXPECT_EQ(at(failed, "/status/failed"), "1");
  const auto pod = until_pod("Failed");
  EXPECT_EQ(at(pod, "/status/containerStatuses/0/state/terminated/exitCode"), "3");
}

TEST_F(LocalExecutorTest, AnImageAloneCannotRun) {
  create("pods", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  const auto pod = until_pod("Failed");
  EXPECT_EQ(at(pod, "/status/reason"), "CommandMissing");
}

TEST_F(LocalExecutorTest, ADeletedPodEndsWithItsProcess) {
  create("pods", R"({"metadata":{"name":"p"},"spec":{"terminationGracePeriodSeconds":60,)"
                 R"("containers":[{"name":"c","image":"i","command":["sleep","1000"]}]}})");
  until_pod("Running");
  ASSERT_TRUE(submit(host_.request(WriteVerb::kDelete, "pods", "p")));
  create("pods", R"({"metadata":{"name":"q"},"spec":{"restartPolicy":"Never","containers":[)"
                 R"({"name":"c","image":"i","command":["true"]}]}})");
  // Without a pod left nothing would be published that could be looked at.
  until("pods", [&](const boost::json::object&) {
    return host_.store.get(host_.kind("pods"), "default/p") == nullptr;
  });
  until_pod("Succeeded");  // or its runner would still write into the folder that goes
}

TEST_F(LocalExecutorTest, ARestartedExecutorTakesOverAndLosesNothing) {
  const std::filesystem::path gate = config_.folder / "gate";
  job("echo one; while [ ! -e " + gate.string() + " ]; do sleep 0.02; done; echo two");
  until_pod("Running");
  restart_executor();
  executor_->stop();  // no host runs when it ends
  ASSERT_TRUE(write_durably(gate, ""));
  start_executor();
  until_job("Complete");
  const auto pod = until_pod("Succeeded");
  EXPECT_EQ(output(pod), "one\ntwo\n");
}

// A node may be renamed, or called after a machine that is renamed: what it runs is ended all the
// same, before and after a start with the new name.
TEST_F(LocalExecutorTest, WhatRunsOnANodeThatIsNoLongerConfiguredIsEnded) {
  job("exec sleep 1000");
  until_pod("Running");
  executor_->stop();
  call_node("renamed");
  restart_executor();
  ASSERT_TRUE(
      submit(host_.request(WriteVerb::kPatch, "jobs", "j", R"({"spec":{"suspend":true}})")));
  until("jobs", [](const boost::json::object& object) {
    return at(object, "/status/conditions/0/type") == "Suspended" &&
           at(object, "/status/terminating") == "0";
  });
  EXPECT_EQ(host_.store.read(host_.kind("pods"), "")->objects.size(), 0U);
}

// Bound before the node was renamed, and started by nobody: it fails, or ends if it is deleted.
TEST_F(LocalExecutorTest, WhatWaitsOnANodeThatIsGoneIsEnded) {
  executor_->stop();
  job("true", R"("backoffLimit":0,)");
  until("pods", [](const boost::json::object& pod) { return at(pod, "/spec/nodeName") == "n"; });
  create("pods", R"({"metadata":{"name":"deleted"},"spec":{"nodeName":"n",)"
                 R"("containers":[{"name":"c","image":"i"}]}})");
  ASSERT_TRUE(submit(host_.request(WriteVerb::kDelete, "pods", "deleted")));
  call_node("renamed");
  restart_executor();
  until_job("Failed");
  const auto pod = until_pod("Failed");
  EXPECT_EQ(at(pod, "/status/reason"), "NodeLost");
  EXPECT_EQ(at(pod, "/status/message"), "there is no node n");
  until("pods", [&](const boost::json::object&) {
    return host_.store.get(host_.kind("pods"), "default/deleted") == nullptr;
  });
}

TEST_F(LocalExecutorTest, AFolderForLogsThatCannotBeMadeIsAMistake) {
  ASSERT_TRUE(write_durably(config_.folder / "file", ""));
  LocalExecutorConfig config = config_;
  config.folder = config_.folder / "another";
  config.log_folder = config_.folder / "file" / "logs";
  const auto started = start_local_executor(config, host_.store, host_.scheme, kernel_);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().text, "executor.logs.path: cannot make the folder " +
                                      config.log_folder.string() + ": Not a directory");
}

TEST_F(LocalExecutorTest, SuspensionEndsTheProcesses) {
  job("exec sleep 1000", R"("parallelism":2,"completions":2,)");
  until_pod("Running");
  ASSERT_TRUE(
      submit(host_.request(WriteVerb::kPatch, "jobs", "j", R"({"spec":{"suspend":true}})")));
  const auto suspended = until("jobs", [](const boost::json::object& object) {
    return at(object, "/status/conditions/0/type") == "Suspended" &&
           at(object, "/status/terminating") == "0";
  });
  EXPECT_EQ(at(suspended, "/status/active"), "(absent)");
  EXPECT_EQ(host_.store.read(host_.kind("pods"), "")->objects.size(), 0U);
}

TEST_F(LocalExecutorTest, ADeadlineOfThePodEndsIt) {
  create("pods", R"({"metadata":{"name":"p"},"spec":{"activeDeadlineSeconds":1,)"
                 R"("containers":[{"name":"c","image":"i","command":["sleep","1000"]}]}})");
  EXPECT_EQ(at(until_pod("Failed"), "/status/reason"), "DeadlineExceeded");
}

}  // namespace
}  // namespace sluice::host
