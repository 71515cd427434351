#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "host/base/files.hpp"
#include "host/executor/logs.hpp"
#include "host/executor/process/line_log.hpp"
#include "host/executor/process/run_record.hpp"

namespace sluice::host {
namespace {

const Time kStart = *parse_time("2026-01-01T00:00:00Z");

class LogReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "states");
    std::filesystem::create_directories(paths_.folder);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  /// Lines `line 0` … of consecutive seconds.
  void lines(int count) {
    LineLog log(paths_.log("main", 0));
    for (int i = 0; i < count; ++i) {
      log.write(LineLog::Stream::kOut, "line " + std::to_string(i) + "\n", kStart + i * kSecond);
    }
  }
  void state(ContainerRun::State now) {
    RunState state;
    state.phase = RunPhase::kRunning;
    state.containers.push_back({"main", false, {}, {}, 0});
    state.containers[0].now.state = now;
    ASSERT_TRUE(write_durably(paths_.state, to_text(state)));
  }
  std::string all(const LogQuery& query) const {
    auto reader = open_log_file(root_, "u", "main", 0, query);
    std::string out;
    while (reader->read(out, 100) == LogReader::Progress::kMore) {
    }
    return out;
  }

  std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / ("logs-" + std::to_string(::getpid()));
  RunPaths paths_{root_, "u"};
};

TEST_F(LogReaderTest, Selections) {
  lines(4);
  state(ContainerRun::State::kTerminated);
  LogQuery query;
  EXPECT_EQ(all(query), "line 0\nline 1\nline 2\nline 3\n");
  query.tail_lines = 2;
  EXPECT_EQ(all(query), "line 2\nline 3\n");
  query.tail_lines = 0;
  EXPECT_EQ(all(query), "");
  query.tail_lines = 99;
  EXPECT_EQ(all(query), "line 0\nline 1\nline 2\nline 3\n");
  query = {};
  query.since = kStart + 3 * kSecond;
  EXPECT_EQ(all(query), "line 3\n");
  query.timestamps = true;
  EXPECT_EQ(all(query), "2026-01-01T00:00:03.000000000Z line 3\n");
  query = {};
  query.limit_bytes = 10;
  EXPECT_EQ(all(query), "line 0\nlin");
}

TEST_F(LogReaderTest, TailsOfLongFiles) {
  lines(20'000);  // several blocks
  state(ContainerRun::State::kTerminated);
  for (const int tail : {1, 1000, 5000, 19'999, 20'000}) {
    LogQuery query;
    query.tail_lines = tail;
    const std::string out = all(query);
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), tail);
    EXPECT_TRUE(out.starts_with("line " + std::to_string(20'000 - tail) + "\n")) << tail;
  }
}

TEST_F(LogReaderTest, PartsOfALineAreJoined) {
  LineLog log(paths_.log("main", 0));
  const std::string text = std::string(LineLog::kMaxLine + 5, 'x');
  log.write(LineLog::Stream::kOut, "first\n" + text + "\nlast", kStart);
  log.finish(LineLog::Stream::kOut, kStart);
  state(ContainerRun::State::kTerminated);
  EXPECT_TRUE(all({}) == "first\n" + text + "\nlast");
  LogQuery query;
  query.tail_lines = 2;
  EXPECT_TRUE(all(query) == text + "\nlast");
}

// Rotated as it grows, a log reads as one; 20 lines of 42 or 43 bytes in parts of 500.
TEST_F(LogReaderTest, ARotatedLogReadsAsOne) {
  state(ContainerRun::State::kRunning);
  LogQuery follow;
  follow.follow = true;
  auto reader = open_log_file(root_, "u", "main", 0, follow);
  std::string followed, expected;
  LineLog log(paths_.log("main", 0), {1000, 0, {}});
  for (int i = 0; i < 20; ++i) {
    log.write(LineLog::Stream::kOut, "line " + std::to_string(i) + "\n", kStart);
    expected += "line " + std::to_string(i) + "\n";
    while (reader->read(followed, 1000) == LogReader::Progress::kMore) {
    }
  }
  EXPECT_EQ(followed, expected);
  const std::string all_now = all({});
  EXPECT_TRUE(all_now.ends_with("line 18\nline 19\n"));
  EXPECT_TRUE(expected.ends_with(all_now));
  const auto lines = std::count(all_now.begin(), all_now.end(), '\n');
  EXPECT_GT(lines, 11);  // more than one part
  for (const int tail : {1, 2, 10, 12}) {
    LogQuery query;
    query.tail_lines = tail;
    EXPECT_TRUE(all(query).starts_with("line " + std::to_string(20 - tail) + "\n")) << tail;
    EXPECT_TRUE(expected.ends_with(all(query))) << tail;
  }
}

TEST_F(LogReaderTest, FollowsUntilTheContainerEnds) {
  state(ContainerRun::State::kRunning);
  LogQuery query;
  query.follow = true;
  LineLog log(paths_.log("main", 0));
  auto reader = open_log_file(root_, "u", "main", 0, query);
  std::string out;
  EXPECT_EQ(reader->read(out, 100), LogReader::Progress::kWait);
  log.write(LineLog::Stream::kOut, "one\ntw", kStart);
  EXPECT_EQ(reader->read(out, 100), LogReader::Progress::kWait);
  EXPECT_EQ(out, "one\n");
  log.write(LineLog::Stream::kOut, "o\n", kStart);
  state(ContainerRun::State::kTerminated);
  EXPECT_EQ(reader->read(out, 100), LogReader::Progress::kEnd);
  EXPECT_EQ(out, "one\ntwo\n");
}

TEST_F(LogReaderTest, FollowingEndsWhenThePodIsGone) {
  lines(1);
  LogQuery query;
  query.follow = true;
  auto reader = open_log_file(root_, "u", "main", 0, query);
  std::filesystem::remove_all(paths_.folder);
  std::string out;
  EXPECT_EQ(reader->read(out, 100), LogReader::Progress::kEnd);
  EXPECT_EQ(out, "line 0\n");
}

}  // namespace
}  // namespace sluice::host
