// Programs that run, answer, hang, leave children behind, and are stopped. The programs wait for
// something that never comes; no test waits for time to pass.
#include "../command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "../provisioner.hpp"

namespace provisioning {
namespace {

using End = CommandResult::End;
using ::testing::ElementsAre;

Command shell(const std::string& script, std::int64_t timeout = 60) {
  return {{"sh", "-c", script}, {{"COLOUR", "grey"}}, timeout};
}

CommandResult run(const std::string& script, const std::string& input = "") {
  const Cancellation none;
  return run_command(shell(script), input, none);
}

TEST(RunCommand, InputOutputAndEnvironment) {
  const CommandResult out = run("cat; echo $COLOUR >&2; exit 4", "hello");
  EXPECT_EQ(out.end, End::kExited);
  EXPECT_EQ(out.status, 4);
  EXPECT_EQ(out.output, "hello");
  EXPECT_EQ(out.errors, "grey\n");
  const std::string big(3'000'000, 'x');
  EXPECT_EQ(run("cat", big).output.size(), 1U << 20) << "more is not kept";
  EXPECT_EQ(run("true", big).status, 0) << "input that nobody reads";
  EXPECT_EQ(run("kill -9 $$").end, End::kSignalled);
}

TEST(RunCommand, AProgramThatIsNotThere) {
  const Cancellation none;
  const CommandResult out = run_command({{"/no/such/program"}, {}, 5}, "", none);
  EXPECT_EQ(out.end, End::kNotStarted);
  EXPECT_EQ(out.status, ENOENT);
}

/// Whether a process does anything any more: one that was killed may still have an entry.
bool runs(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return (stat >> number >> name >> state) && state != "Z" && state != "X";
}

TEST(RunCommand, NothingOfItsGroupOutlivesIt) {
  // The child holds the pipes open: reading to their end would never end.
  const CommandResult out = run("sleep 1000 & echo $!");
  EXPECT_EQ(out.end, End::kExited);
  const int child = std::stoi(out.output);
  while (runs(child)) std::this_thread::yield();  // it was killed; dying takes its time
}

TEST(RunCommand, IsStoppedWhenAsked) {
  Cancellation cancellation;
  cancellation.cancel();
  EXPECT_EQ(run_command(shell("exec sleep 1000"), "", cancellation).end, End::kCancelled);
  const Cancellation none;
  EXPECT_EQ(run_command(shell("exec sleep 1000", 0), "", none).end, End::kTimedOut);
}

TEST(Provisioner, RunsOncePerRequestAndHandsResultsOver) {
  std::promise<void> done;
  Provisioner provisioner(shell("cat"), 2, [&] { done.set_value(); });
  provisioner.start({"u", "ns", "n", "in"});
  provisioner.start({"u", "ns", "n", "again"});
  done.get_future().wait();
  provisioner.start({"u", "ns", "n", "its result was not taken"});
  const auto results = provisioner.take_results();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].run.name, "n");
  EXPECT_EQ(results[0].result.output, "in");
  EXPECT_TRUE(provisioner.take_results().empty());
}

TEST(Provisioner, CancelledRunsHaveNoResultAndMakeRoom) {
  std::promise<void> done;
  Provisioner provisioner(shell("read x; case $x in hang) exec sleep 1000;; esac; echo $x"), 1,
                          [&] { done.set_value(); });
  provisioner.start({"a", "ns", "a", "hang\n"});
  provisioner.start({"b", "ns", "b", "waits\n"});
  provisioner.start({"c", "ns", "c", "runs\n"});
  provisioner.cancel("b");
  provisioner.cancel("a");
  provisioner.cancel("nobody");
  done.get_future().wait();
  const auto results = provisioner.take_results();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].result.output, "runs\n");
}

TEST(Provisioner, EndsWithProgramsUnderWay) {
  Provisioner provisioner(shell("exec sleep 1000"), 3, [] {});
  for (const char* uid : {"a", "b", "c", "d"}) provisioner.start({uid, "ns", uid, ""});
}

}  // namespace
}  // namespace provisioning
