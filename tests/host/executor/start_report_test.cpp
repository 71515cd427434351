// What a runner reads of a container's start, in whichever order it was written.
#include "host/executor/process/start_report.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "host/base/files.hpp"

namespace sluice::host {
namespace {

class StartReportTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> fds{};
    ASSERT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
    read_ = Fd(fds[0]);
    write_ = Fd(fds[1]);
  }
  int pipe() const { return write_.get(); }
  StartReport report() {
    write_.reset();
    return read_start_report(read_.get());
  }

  Fd read_, write_;
};

TEST_F(StartReportTest, AStartThatSucceeds) {
  EXPECT_TRUE(tell_first(pipe(), 4711));
  const StartReport told = report();
  EXPECT_EQ(told.first, 4711);
  EXPECT_FALSE(told.failure);
}

// The first process may fail before its keeper has told of it.
TEST_F(StartReportTest, AFailureIsTheSameInBothOrders) {
  for (const bool failure_first : {false, true}) {
    SetUp();
    if (!failure_first) {
      EXPECT_TRUE(tell_first(pipe(), 4711));
    }
    EXPECT_TRUE(tell_failure(pipe(), {StartStage::kProgram, ENOENT}));
    if (failure_first) {
      EXPECT_TRUE(tell_first(pipe(), 4711));
    }
    const StartReport told = report();
    EXPECT_EQ(told.first, 4711) << failure_first;
    ASSERT_TRUE(told.failure) << failure_first;
    EXPECT_EQ(told.failure->stage, StartStage::kProgram) << failure_first;
    EXPECT_EQ(told.failure->error, ENOENT) << failure_first;
  }
}

TEST_F(StartReportTest, AKeeperThatEndedBeforeItTold) {
  const StartReport told = report();
  EXPECT_FALSE(told.first);
  EXPECT_FALSE(told.failure);
}

TEST_F(StartReportTest, NobodyReads) {
  ::signal(SIGPIPE, SIG_IGN);
  read_.reset();
  EXPECT_FALSE(tell_first(pipe(), 4711));
  EXPECT_FALSE(tell_failure(pipe(), {StartStage::kSetup, EAGAIN}));
  ::signal(SIGPIPE, SIG_DFL);
}

}  // namespace
}  // namespace sluice::host
