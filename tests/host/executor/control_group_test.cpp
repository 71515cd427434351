// Pods in control groups of this machine, where it has them and gives them to this user; else these
// tests are skipped, and say why.
#include "host/executor/process/control_group.hpp"

#include <gmock/gmock.h>

#include <sched.h>
#include <sys/wait.h>

#include <csignal>

#include "host/executor/process/spawn.hpp"
#include "tests/host/executor/supervisor_fixture.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ControlGroupTest : public SupervisorTest {
 protected:
  void SetUp() override {
    SupervisorTest::SetUp();
    parent_ = make_group_parent(root_);
    if (parent_.folder.empty()) GTEST_SKIP() << parent_.why_not;
    groups_ = parent_.folder;
    supervisor_->put_groups(groups_);
  }
  void TearDown() override {
    SupervisorTest::TearDown();
    if (groups_.empty()) return;
    EXPECT_TRUE(end_group(groups_));
  }

  RunSpec grouped(const std::string& script, RestartPolicy restart = RestartPolicy::kNever) {
    RunSpec out = spec(script, restart);
    out.group = (groups_ / out.uid).string();
    return out;
  }
  fs::path group() const { return groups_ / "u1" / "main"; }

  GroupParent parent_;
};

TEST_F(ControlGroupTest, TheFirstProcessIsInItFromTheStartAndItEndsWithTheRun) {
  started(grouped("cat /proc/self/cgroup"));
  const RunState state = end();
  EXPECT_EQ(state.phase, RunPhase::kSucceeded);
  EXPECT_THAT(output(), HasSubstr(groups_.filename().string() + "/u1/main\n"));
  EXPECT_FALSE(fs::exists(groups_ / "u1"));
}

TEST_F(ControlGroupTest, WhatARunUsedIsCounted) {
  // Counts in the shell: processor time of its own, some tenths of a second.
  started(grouped("i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exit 3"));
  const ContainerRun run = end().containers[0].now;
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_GT(run.use.cpu_us, 20'000);
  EXPECT_LT(run.use.cpu_us, (run.finished - run.started) / 1000 * 2);
}

// What a job cannot do any more: stop the process that watches it, kill both of them, and run on.
TEST_F(ControlGroupTest, A17_AJobThatKillsBothOfItsWatchersLeavesNothing) {
  started(grouped(
      "setsid sh -c 'echo $$ > new; mv new left; exec sleep 1000' & "
      "while [ ! -e left ]; do :; done; runner=$(awk '{print $4}' /proc/$PPID/stat); "
      "keeper=$PPID; echo $PPID > keeper; touch ready; while [ ! -e go ]; do sleep 0.01; done; "
      "kill -STOP $keeper; kill -9 $runner; kill -9 $keeper; sleep 1000"));
  const fs::path work = root_ / "pods/u1/work";
  until("u1", runs);
  while (!fs::exists(work / "ready")) ::sched_yield();
  const auto left = process_with(std::stoll(read_file(work / "left").value_or("0")));
  const auto keeper = process_with(std::stoll(read_file(work / "keeper").value_or("0")));
  ASSERT_TRUE(left && keeper);
  const std::optional<Fd> of_left = watch_process(*left), of_keeper = watch_process(*keeper);
  ASSERT_TRUE(of_left && of_keeper);
  ASSERT_TRUE(write_durably(work / "go", ""));
  EXPECT_EQ(end().reason, "ProcessLost");
  for (const auto* watched : {&of_left, &of_keeper}) {  // one of them is stopped
    pollfd gone{(*watched)->get(), POLLIN, 0};
    EXPECT_EQ(::poll(&gone, 1, 60'000), 1);
  }
  EXPECT_FALSE(fs::exists(groups_ / "u1"));
}

TEST_F(ControlGroupTest, AGroupOfAPodThatIsNotKnownIsEndedAtTheStart) {
  const fs::path stray = groups_ / "forgotten" / "main";
  const Result<Fd> entrance = make_group(stray, {});
  ASSERT_TRUE(entrance) << entrance.error().text;
  const auto spawned = spawn_container(grouped("exec sleep 1000").containers[0], "/", {},
                                       {.container = entrance->get()});
  ASSERT_TRUE(spawned) << spawned.error().text;
  restart_host();
  EXPECT_FALSE(fs::exists(groups_ / "forgotten"));
  int status = 0;
  EXPECT_EQ(::waitpid(static_cast<pid_t>(spawned->keeper), &status, 0), spawned->keeper);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

// A host ends what is in groups of pods that it does not know: so it must not see those of another,
// also when both call their folder the same.
TEST_F(ControlGroupTest, HostsWithFoldersOfOneNameHaveGroupsOfTheirOwn) {
  const fs::path before = fs::current_path();
  std::vector<fs::path> parents;
  for (const char* place : {"a", "b", "a"}) {
    fs::create_directories(root_ / place / "executor");
    fs::current_path(root_ / place);
    parents.push_back(make_group_parent("executor").folder);
  }
  fs::current_path(before);
  EXPECT_NE(parents[0], parents[1]);
  EXPECT_EQ(parents[0], parents[2]);
  EXPECT_TRUE(end_group(parents[0]) && end_group(parents[1]));
}

TEST_F(ControlGroupTest, AGroupThatIsNotThereHasEnded) { EXPECT_TRUE(end_group(groups_ / "none")); }

/// What is written, where the kernel has files for it. 250 m: 25 ms of each 100 ms. 500 m are 512
/// shares: 1 + 510 × 9999 / 262142 = 20.
TEST(ControlGroupFiles, LimitsInTheKernelsWords) {
  const fs::path group = fs::path(testing::TempDir()) / ("group-" + std::to_string(::getpid()));
  fs::create_directories(group);
  for (const char* file :
       {"cpu.max", "cpu.weight", "memory.max", "memory.oom.group", "cgroup.procs"})
    ASSERT_TRUE(write_durably(group / file, ""));
  ASSERT_TRUE(make_group(group, {250, 500, 32 << 20}));
  EXPECT_EQ(read_file(group / "cpu.max"), "25000 100000");
  EXPECT_EQ(read_file(group / "cpu.weight"), "20");
  EXPECT_EQ(read_file(group / "memory.max"), "33554432");
  EXPECT_EQ(read_file(group / "memory.oom.group"), "1");
  EXPECT_FALSE(fs::exists(group / "memory.swap.max"));  // of a kernel that does not count swap
  fs::remove_all(group);
}

TEST_F(ControlGroupTest, ProcessorsAreLimited) {
  if (!parent_.cpu) GTEST_SKIP() << "the controller cpu is not handed to groups of this machine";
  RunSpec s = grouped("exec sleep 1000");
  s.containers[0].limits = {250, 500, 0};
  started(s);
  until("u1", runs);
  EXPECT_EQ(read_file(group() / "cpu.max"), "25000 100000\n");
  EXPECT_EQ(read_file(group() / "cpu.weight"), "20\n");
}

TEST_F(ControlGroupTest, MemoryIsLimited) {
  if (!parent_.memory)
    GTEST_SKIP() << "the controller memory is not handed to groups of this machine";
  RunSpec s = grouped("exec tail /dev/zero");  // keeps what it reads
  s.containers[0].limits = {0, 0, 32 << 20};
  started(s);
  const ContainerRun run = end().containers[0].now;
  EXPECT_EQ(run.reason, "OOMKilled");
  EXPECT_EQ(run.signal, SIGKILL);
  EXPECT_GT(run.use.memory_peak_bytes, 16 << 20);
  EXPECT_LE(run.use.memory_peak_bytes, 32 << 20);
}

}  // namespace
}  // namespace sluice::host
