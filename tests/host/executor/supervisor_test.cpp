// What a supervisor promises of the processes of its pods.
#include "host/executor/process/supervisor.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "host/executor/process/log_budget.hpp"
#include "tests/host/executor/supervisor_fixture.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

TEST_F(SupervisorTest, RunsToSuccess) {
  started(spec("echo hello; echo problem >&2; pwd"));
  const RunState state = end();
  EXPECT_EQ(state.phase, RunPhase::kSucceeded);
  EXPECT_EQ(state.containers[0].now.exit_code, 0);
  EXPECT_EQ(state.containers[0].now.reason, "Completed");
  EXPECT_GT(state.containers[0].now.started, 0);
  EXPECT_GE(state.containers[0].now.finished, state.containers[0].now.started);
  const std::string text = output();
  EXPECT_NE(text.find("hello\n"), std::string::npos) << text;
  EXPECT_NE(text.find("problem\n"), std::string::npos) << text;
  EXPECT_NE(text.find("pods/u1/work\n"), std::string::npos) << text;
}

TEST_F(SupervisorTest, ExitCodesAndSignals) {
  struct Case {
    const char* script;
    std::int64_t code, signal;
  };
  int n = 0;
  for (const Case& c :
       {Case{"exit 3", 3, 0}, Case{"kill -9 $$", 137, 9}, Case{"kill $$", 143, 15}}) {
    RunSpec s = spec(c.script);
    s.uid = "u" + std::to_string(++n);
    started(s);
    const RunState state = end(s.uid);
    EXPECT_EQ(state.phase, RunPhase::kFailed) << c.script;
    EXPECT_EQ(state.containers[0].now.exit_code, c.code) << c.script;
    EXPECT_EQ(state.containers[0].now.signal, c.signal) << c.script;
    EXPECT_EQ(state.containers[0].now.reason, "Error") << c.script;
  }
}

TEST_F(SupervisorTest, WhatCannotStartSaysWhy) {
  RunSpec s = spec("");
  s.containers[0].argv = {"./no-such-program"};
  started(s);
  const RunState state = end();
  EXPECT_EQ(state.phase, RunPhase::kFailed);
  EXPECT_EQ(state.containers[0].now.reason, "StartError");
  EXPECT_EQ(state.containers[0].now.exit_code, 127);
  EXPECT_NE(state.containers[0].now.message.find("cannot run ./no-such-program"),
            std::string::npos);
  EXPECT_NE(output().find("cannot run"), std::string::npos);

  RunSpec lost_folder = spec("true");
  lost_folder.uid = "u2";
  lost_folder.containers[0].working_dir = "/no/such/folder";
  started(lost_folder);
  EXPECT_NE(end("u2").containers[0].now.message.find("/no/such/folder"), std::string::npos);
}

// They may come from Secrets; who reads the disk is not to find them.
TEST_F(SupervisorTest, NoFileHoldsWhatAContainerRunsOrItsVariables) {
  RunSpec s = spec("test \"$HIDDEN\" = \"$0\"");
  s.containers[0].argv.push_back("from-a-secret");
  s.containers[0].env.push_back("HIDDEN=from-a-secret");
  started(s);
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  for (const auto& entry : fs::recursive_directory_iterator(root_))
    if (entry.is_regular_file()) {
      EXPECT_EQ(read_file(entry.path())->find("from-a-secret"), std::string::npos) << entry.path();
    }
}

TEST_F(SupervisorTest, APodIsStartedOnce) {
  started(spec("echo once"));
  Result<bool> again = supervisor_->start(spec("echo twice"));
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
  end();
  restart_host();
  again = supervisor_->start(spec("echo twice"));
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
  EXPECT_EQ(output(), "once\n");
}

TEST_F(SupervisorTest, UidsThatAreNoFolderNamesAreRefused) {
  for (const char* uid : {"", "..", "../x", "a/b", ".hidden"}) {
    RunSpec s = spec("true");
    s.uid = uid;
    EXPECT_FALSE(supervisor_->start(s)) << uid;
  }
}

TEST_F(SupervisorTest, InitContainersRunInOrder) {
  RunSpec s = spec("cat order");
  s.containers.insert(s.containers.begin(),
                      {{"first", true, {"/bin/sh", "-c", "echo first > order"}, {}, ""},
                       {"second", true, {"/bin/sh", "-c", "echo second >> order"}, {}, ""}});
  started(s);
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  EXPECT_EQ(output(), "first\nsecond\n");
}

TEST_F(SupervisorTest, AFailedInitContainerEndsThePod) {
  RunSpec s = spec("echo never");
  s.containers.insert(s.containers.begin(), {"first", true, {"/bin/false"}, {}, ""});
  started(s);
  const RunState state = end();
  EXPECT_EQ(state.phase, RunPhase::kFailed);
  EXPECT_EQ(state.containers[1].now.state, ContainerRun::State::kWaiting);
  EXPECT_EQ(output(), "");
}

TEST_F(SupervisorTest, OnFailureRestartsInPlace) {
  // The third start succeeds; each leaves a mark in the pod's folder.
  started(spec("echo x >> marks; [ $(wc -l < marks) -ge 3 ]", RestartPolicy::kOnFailure));
  const RunState state = end();
  EXPECT_EQ(state.phase, RunPhase::kSucceeded);
  EXPECT_EQ(state.containers[0].restarts, 2);
  ASSERT_TRUE(state.containers[0].last);
  EXPECT_EQ(state.containers[0].last->exit_code, 1);
}

TEST_F(SupervisorTest, StopAsksThenKills) {
  started(spec("trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.05; done"));
  until("u1", runs);
  ASSERT_TRUE(supervisor_->stop("u1", 3600));
  const RunState polite = end();
  EXPECT_EQ(polite.phase, RunPhase::kFailed);
  // Asked before the shell came to its trap, it dies of the signal.
  const std::int64_t code = polite.containers[0].now.exit_code;
  EXPECT_TRUE(code == 5 || code == 143) << code;

  RunSpec stubborn = spec("trap '' TERM; echo up; while :; do sleep 0.05; done");
  stubborn.uid = "u2";
  started(stubborn);
  until("u2", runs);
  ASSERT_TRUE(supervisor_->stop("u2", 0));
  EXPECT_EQ(end("u2").containers[0].now.exit_code, 137);
}

// A10: on a full disk the file that asks for the end cannot be written, and the job ran on. Here a
// folder stands in its way.
TEST_F(SupervisorTest, A10_APodIsEndedThoughNothingCanBeWritten) {
  RunSpec s = spec("while :; do sleep 0.05; done");
  s.grace_seconds = 3600;
  started(s);
  until("u1", runs);
  fs::create_directories(RunPaths(root_, "u1").stop.string() + ".new");
  EXPECT_TRUE(supervisor_->stop("u1", 0));
  EXPECT_EQ(end().containers[0].now.exit_code, 143);
}

TEST_F(SupervisorTest, StopBeforeTheRunnerIsThereHolds) {
  started(spec("while :; do sleep 0.05; done"));
  ASSERT_TRUE(supervisor_->stop("u1", 0));
  EXPECT_EQ(end().phase, RunPhase::kFailed);
}

TEST_F(SupervisorTest, NothingOfAPodOutlivesIt) {
  // A process that left the session of its container writes its number.
  started(spec(
      "setsid sh -c 'echo $$ > ../left; exec sleep 1000' & while [ ! -s ../left ]; do :; done"));
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  const std::int64_t pid = std::stoll(read_file(root_ / "pods" / "u1" / "left").value_or("0"));
  ASSERT_GT(pid, 0);
  EXPECT_FALSE(process_with(pid));
}

// A17: what took a session of its own went on beside the next run of its container.
TEST_F(SupervisorTest, A17_NothingOfARunGoesOnBesideTheNextOne) {
  started(
      spec("if [ -e left ]; then kill -0 $(cat left) 2>/dev/null && echo beside || echo alone; "
           "exit 0; fi;"
           "setsid sh -c 'echo $$ > new; mv new left; exec sleep 1000' & "
           "while [ ! -e left ]; do :; done; exit 1",
           RestartPolicy::kOnFailure));
  const RunState state = end();
  EXPECT_EQ(state.containers[0].restarts, 1);
  EXPECT_EQ(output(1), "alone\n");
}

TEST_F(SupervisorTest, A17_ARunThatEndsLeavesTheOtherContainersAlone) {
  RunSpec both = spec("while [ ! -e left ]; do sleep 0.01; done; exit 1", RestartPolicy::kNever);
  // This one's process lost its parent, and is still of a container that runs.
  both.containers.push_back({"other",
                             false,
                             {"/bin/sh", "-c",
                              "(setsid sh -c 'echo $$ > new; mv new left; exec sleep 1000' &); "
                              "while [ ! -e over ]; do sleep 0.01; done; kill -0 $(cat left)"},
                             {"PATH=/usr/bin:/bin"},
                             ""});
  started(both);
  until("u1", [](const RunState& s) {
    return s.containers[0].now.state == ContainerRun::State::kTerminated;
  });
  ASSERT_TRUE(write_durably(root_ / "pods/u1/work/over", ""));
  EXPECT_EQ(end().containers[1].now.exit_code, 0);
}

TEST_F(SupervisorTest, A17_AJobThatKillsItsKeeperOrItsRunnerLeavesNothing) {
  const std::string daemon =
      "setsid sh -c 'echo $$ > new; mv new left; exec sleep 1000' & "
      "while [ ! -e left ]; do :; done; ";
  int n = 0;
  for (const char* attack : {"kill -9 $PPID", "kill -9 $(awk '{print $4}' /proc/$PPID/stat)"}) {
    RunSpec s = spec(daemon + "touch ready; while [ ! -e go ]; do sleep 0.01; done; " + attack +
                     "; sleep 1000");
    s.uid = "u" + std::to_string(++n);
    started(s);
    const fs::path work = root_ / "pods" / s.uid / "work";
    until(s.uid, runs);
    while (!fs::exists(work / "ready")) ::sched_yield();
    const auto left = process_with(std::stoll(read_file(work / "left").value_or("0")));
    ASSERT_TRUE(left) << attack;
    const std::optional<Fd> watched = watch_process(*left);
    ASSERT_TRUE(watched) << attack;
    ASSERT_TRUE(write_durably(work / "go", ""));
    EXPECT_EQ(end(s.uid).phase, RunPhase::kFailed) << attack;
    pollfd gone{watched->get(), POLLIN, 0};
    EXPECT_EQ(::poll(&gone, 1, 60'000), 1) << attack;
  }
}

TEST_F(SupervisorTest, ARestartedHostAdoptsWhatRuns) {
  const fs::path gate = root_ / "gate";
  started(spec("echo started; while [ ! -e " + gate.string() + " ]; do sleep 0.02; done; exit 7"));
  until("u1", runs);
  restart_host();
  EXPECT_EQ(supervisor_->known(), std::vector<std::string>{"u1"});
  const Result<RunState> adopted = supervisor_->adopt("u1");
  ASSERT_TRUE(adopted) << adopted.error().text;
  EXPECT_EQ(adopted->phase, RunPhase::kRunning);
  EXPECT_TRUE(supervisor_->running("u1"));
  ASSERT_TRUE(write_durably(gate, ""));
  EXPECT_EQ(end().containers[0].now.exit_code, 7);
  EXPECT_EQ(output(), "started\n");
  EXPECT_EQ(::waitpid(runner(), nullptr, WNOHANG), -1);  // an adopted child is reaped, too
}

TEST_F(SupervisorTest, ARestartedHostAccountsForWhatEnded) {
  started(spec("exit 4"));
  end();
  restart_host();
  const Result<RunState> state = supervisor_->adopt("u1");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->phase, RunPhase::kFailed);
  EXPECT_EQ(state->reason, "");
  EXPECT_EQ(state->containers[0].now.exit_code, 4);
}

TEST_F(SupervisorTest, AKilledRunnerTakesItsProcessesAlongAndThePodIsLost) {
  started(spec("echo up; exec sleep 1000"));
  const RunState running = until("u1", runs);
  const std::int64_t container = running.containers[0].now.pid;
  const auto owner = parse_process_id(read_file(RunPaths(root_, "u1").owner).value_or(""));
  ASSERT_TRUE(owner);
  const std::optional<Fd> watched = watch_process(*process_with(container));
  ASSERT_TRUE(watched);
  ASSERT_EQ(::kill(static_cast<pid_t>(owner->pid), SIGKILL), 0);
  const RunState state = end();
  EXPECT_EQ(state.phase, RunPhase::kFailed);
  EXPECT_EQ(state.reason, "ProcessLost");
  EXPECT_EQ(state.containers[0].now.reason, "ContainerStatusUnknown");
  pollfd gone{watched->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&gone, 1, 60'000), 1);
  // A later host sees the same, and does not run it again.
  restart_host();
  EXPECT_EQ(supervisor_->adopt("u1")->reason, "ProcessLost");
  EXPECT_FALSE(*supervisor_->start(spec("true")));
}

// A store may be copied beside the host that runs, to try something: that host keeps its pods.
TEST_F(SupervisorTest, ACopyOfTheFolderHasNoPartInItsProcesses) {
  const fs::path logs = root_.string() + "-logs";
  const fs::path copied = root_.string() + "-copy";
  supervisor_->put_logs(logs);
  started(spec("echo up; exec sleep 1000"));
  until("u1", runs);
  fs::copy(root_, copied, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  for (const char* start : {"first", "second"}) {
    auto copy = Supervisor::open(copied, {POD_RUNNER});
    ASSERT_TRUE(copy) << copy.error().text;
    const Result<RunState> state = (*copy)->adopt("u1");
    ASSERT_TRUE(state);
    EXPECT_EQ(state->reason, "ProcessLost") << start;
    EXPECT_EQ(state->message, "this is a copy of the store of the host that runs the pod");
    EXPECT_FALSE((*copy)->running("u1")) << start;
    EXPECT_TRUE((*copy)->stop("u1", 0));
    if (std::string_view(start) == "second") (*copy)->forget("u1");
  }
  EXPECT_EQ(output(), "up\n");
  restart_host();
  EXPECT_TRUE(runs(*supervisor_->adopt("u1")));
  EXPECT_TRUE(supervisor_->running("u1"));
  fs::remove_all(copied);
  fs::remove_all(logs);
}

TEST_F(SupervisorTest, AFolderThatWasMovedKeepsItsProcesses) {
  started(spec("exec sleep 1000"));
  until("u1", runs);
  const fs::path first = root_;
  // To another disk, and the first one is gone.
  supervisor_.reset();
  root_ = first.string() + "-moved";
  fs::copy(first, root_, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::rename(first, first.string() + "-old");
  restart_host();
  EXPECT_TRUE(runs(*supervisor_->adopt("u1")));
  EXPECT_TRUE(supervisor_->running("u1"));
  ASSERT_EQ(::kill(runner(), SIGKILL), 0);
  EXPECT_EQ(end().reason, "ProcessLost");
  fs::remove_all(first.string() + "-old");
}

TEST_F(SupervisorTest, AHostThatDiedBeforeTheStartLeavesALostPodAndALateRunnerLeaves) {
  const RunPaths paths(root_, "u1");
  ASSERT_TRUE(*create_folder_durably(paths.folder));
  ASSERT_TRUE(write_durably(paths.spec, to_text(spec("echo late"))));
  const Result<RunState> state = supervisor_->adopt("u1");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->reason, "ProcessLost");
  // The runner that the dead host had started comes up only now.
  const pid_t late = ::fork();
  if (late == 0) {
    ::execl(POD_RUNNER, POD_RUNNER, root_.c_str(), "u1", nullptr);
    ::_exit(99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(late, &status, 0), late);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(output(), "");
}

TEST_F(SupervisorTest, APodThatADeadHostDidNotStartIsStarted) {
  ASSERT_TRUE(*create_folder_durably(RunPaths(root_, "u1").folder));
  EXPECT_FALSE(supervisor_->claimed("u1"));
  started(spec("echo x"));
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  EXPECT_TRUE(supervisor_->claimed("u1"));
}

TEST_F(SupervisorTest, OfTwoRunnersOneRunsAndIsFollowed) {
  const std::string gate = (root_ / "gate").string(), late = (root_ / "late").string();
  const std::string wait = "while [ ! -e " + late + " ]; do sleep 0.02; done; exec " + POD_RUNNER;
  supervisor_.reset();
  auto slow = Supervisor::open(root_, {"/bin/sh", "-c", wait + " \"$@\"", "sh"});
  ASSERT_TRUE(slow);
  supervisor_ = std::move(*slow);
  const RunSpec s = spec("echo up; while [ ! -e " + gate + " ]; do sleep 0.02; done; exit 7");
  started(s);
  // Meanwhile the one of a dead host comes first.
  const Result<Fd> told = in_memory(to_text(s));
  ASSERT_TRUE(told);
  const pid_t first = ::fork();
  if (first == 0) {
    ::dup2(told->get(), kSpecificationFd);
    ::execl(POD_RUNNER, POD_RUNNER, root_.c_str(), "u1", nullptr);
    ::_exit(99);
  }
  until("u1", runs);
  EXPECT_EQ(runner(), first);
  ASSERT_TRUE(write_durably(late, ""));  // the second one finds an owner and leaves
  until("u1", runs);
  EXPECT_TRUE(supervisor_->running("u1"));
  ASSERT_TRUE(write_durably(gate, ""));
  EXPECT_EQ(end().containers[0].now.exit_code, 7);
  EXPECT_EQ(output(), "up\n");
}

TEST_F(SupervisorTest, ARunnerWhoseFolderWasRemovedEndsWithItsPod) {
  const fs::path gate = root_.string() + "-gate";
  started(spec("while [ ! -e " + gate.string() + " ]; do sleep 0.02; done"));
  until("u1", runs);
  const auto owner = process_with(runner());
  ASSERT_TRUE(owner);
  const std::optional<Fd> watched = watch_process(*owner);
  ASSERT_TRUE(watched);
  supervisor_.reset();
  fs::remove_all(root_);
  ASSERT_TRUE(write_durably(gate, ""));
  pollfd gone{watched->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&gone, 1, 60'000), 1);
  fs::remove(gate);
  restart_host();
}

TEST_F(SupervisorTest, ForgetRemovesEverything) {
  started(spec("echo x"));
  end();
  supervisor_->forget("u1");
  supervisor_->wait_for_removals();
  EXPECT_TRUE(supervisor_->known().empty());
  EXPECT_FALSE(fs::exists(RunPaths(root_, "u1").state));
  started(spec("echo again"));
  end();
}

// A10: what a job says has a budget of its own, all jobs' output has one, and may lie elsewhere.
TEST_F(SupervisorTest, A10_OutputLiesElsewhereWithinItsBudgetAndGoesWithThePod) {
  const fs::path elsewhere = root_ / "elsewhere";
  supervisor_->put_logs(elsewhere);
  RunSpec s = spec("yes | head -n 40000; echo last");
  s.log_bytes = 400'000;  // two runs are kept, of up to 200,000 each
  started(s);
  end();
  EXPECT_EQ(fs::read_symlink(RunPaths(root_, "u1").logs), elsewhere / "u1");
  const std::int64_t used = keep_log_budget(root_, {}, {});
  EXPECT_LE(used, 200'000);
  EXPECT_GE(used, 100'000);
  EXPECT_TRUE(output().ends_with("y\nlast\n"));
  supervisor_->forget("u1");
  supervisor_->wait_for_removals();
  EXPECT_FALSE(fs::exists(elsewhere / "u1"));
}

TEST_F(SupervisorTest, A10_AllLogsTogetherHaveABudget) {
  const fs::path full = RunPaths(root_, "x").logs_full;
  for (const char* uid : {"u1", "u2", "u3"}) {
    RunSpec s = spec("yes | head -n 1000");
    s.uid = uid;
    started(s);
    end(uid);
  }
  const std::int64_t all = keep_log_budget(root_, {}, {});
  LogBudget budget;
  budget.all_bytes = all / 2;
  // None ended: no log gets further lines.
  EXPECT_EQ(keep_log_budget(root_, budget, {}), all);
  EXPECT_TRUE(fs::exists(full));
  // The first two that ended make room; the third keeps what it said.
  EXPECT_EQ(keep_log_budget(root_, budget, {"u3", "u2", "u1"}), all / 3);
  EXPECT_FALSE(fs::exists(full));
}

TEST_F(SupervisorTest, LeavesNoZombies) {
  started(spec("true"));
  end();
  EXPECT_EQ(::waitpid(runner(), nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace sluice::host
