// Real processes under real runners, for tests that wait for the supervisor's descriptor and for no
// time to pass. One thread: the test's.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/executor/process/line_log.hpp"
#include "host/executor/process/supervisor.hpp"

namespace sluice::host {

class SupervisorTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            ("supervisor-" + std::to_string(::getpid()) +
             testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
    restart_host();
  }
  void TearDown() override {
    for (const std::string& uid : supervisor_->known()) {
      if (!supervisor_->running(uid)) continue;
      EXPECT_TRUE(supervisor_->stop(uid, 0));
      until(uid, [](const RunState& state) { return state.ended(); });
    }
    supervisor_.reset();
    std::filesystem::remove_all(root_);
  }

  void restart_host() {
    supervisor_.reset();
    auto opened = Supervisor::open(root_, {POD_RUNNER});
    ASSERT_TRUE(opened) << opened.error().text;
    supervisor_ = std::move(*opened);
    supervisor_->put_groups(groups_);
  }

  static RunSpec spec(const std::string& script, RestartPolicy restart = RestartPolicy::kNever) {
    RunSpec spec;
    spec.uid = "u1";
    spec.pod = "default/p";
    spec.restart = restart;
    spec.first_backoff_ms = 1;
    spec.containers.push_back(
        {"main", false, {"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin"}, ""});
    return spec;
  }

  /// The first state of the pod that satisfies the condition.
  RunState until(const std::string& uid, const std::function<bool(const RunState&)>& holds) {
    for (;;) {
      for (RunReport& report : supervisor_->poll()) {
        if (report.uid == uid && holds(report.state)) return report.state;
      }
      pollfd polled{supervisor_->fd(), POLLIN, 0};
      if (::poll(&polled, 1, 60'000) == 0) {
        ADD_FAILURE() << "nothing happened for a minute";
        return {};
      }
    }
  }
  /// The pod's end, and the end of its runner.
  RunState end(const std::string& uid = "u1") {
    RunState state = until(uid, [](const RunState& s) { return s.ended(); });
    while (supervisor_->running(uid)) {
      pollfd polled{supervisor_->fd(), POLLIN, 0};
      ::poll(&polled, 1, 60'000);
      supervisor_->poll();
    }
    return state;
  }
  void started(const RunSpec& spec) {
    const Result<bool> result = supervisor_->start(spec);
    ASSERT_TRUE(result) << result.error().text;
    ASSERT_TRUE(*result);
  }
  std::string output(std::int64_t start = 0, const std::string& container = "main") const {
    std::string out;
    const std::string text = read_file(RunPaths(root_, "u1").log(container, start)).value_or("");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t stop = text.find('\n', at);
      const auto line = parse_log_line(std::string_view(text).substr(at, stop - at));
      if (line) out += std::string(line->text) + (line->whole ? "\n" : "");
      at = stop + 1;
    }
    return out;
  }
  pid_t runner() const {
    const auto owner = parse_process_id(read_file(RunPaths(root_, "u1").owner).value_or(""));
    return owner ? static_cast<pid_t>(owner->pid) : 0;
  }
  static bool runs(const RunState& state) { return state.phase == RunPhase::kRunning; }

  std::filesystem::path root_;
  std::filesystem::path groups_;  // of pods, for a host that is restarted; empty: none
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace sluice::host
