#include "host/executor/process/line_log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "host/base/files.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host {
namespace {

const Time kNow = *parse_time("2026-01-01T00:00:01Z") + 5;

std::string logged(const std::vector<std::string>& writes) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "line.log";
  LineLog log(path);
  for (const std::string& bytes : writes) log.write(LineLog::Stream::kOut, bytes, kNow);
  log.finish(LineLog::Stream::kOut, kNow);
  EXPECT_EQ(log.lost(), 0U);
  return read_file(path).value_or("none");
}

TEST(LineLog, EachLineHasItsStamp) {
  const std::string stamp = "2026-01-01T00:00:01.000000005Z stdout ";
  EXPECT_EQ(logged({"a\nb\n"}), stamp + "F a\n" + stamp + "F b\n");
  EXPECT_EQ(logged({"a", "b", "c\n"}), stamp + "F abc\n");
  EXPECT_EQ(logged({"\n"}), stamp + "F \n");
  EXPECT_EQ(logged({"no end"}), stamp + "P no end\n");
  EXPECT_EQ(logged({}), "");
}

TEST(LineLog, LongLinesAreCutIntoParts) {
  const std::string stamp = "2026-01-01T00:00:01.000000005Z stdout ";
  const std::string part(LineLog::kMaxLine, 'x');
  EXPECT_TRUE(logged({part + "y\n"}) == stamp + "P " + part + "\n" + stamp + "F y\n");
  EXPECT_TRUE(logged({part + "\n"}) == stamp + "F " + part + "\n");
  EXPECT_TRUE(logged({part, "\n"}) == stamp + "P " + part + "\n" + stamp + "F \n");
}

// A10: `yes` filled the disk. 100 lines of 42 bytes ("STAMP stdout F line NN"), of which the file
// and the one before it keep at most 1,000 bytes: FILE.1 and FILE of up to 500 each.
TEST(LineLog, A10_ALogKeepsToItsBudgetAndKeepsTheLatest) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "budget.log";
  LineLog log(path, {1000, 0, {}});
  for (int i = 0; i < 100; ++i)
    log.write(LineLog::Stream::kOut, "line " + std::to_string(i) + "\n", kNow);
  const std::string now = read_file(path).value_or("");
  const std::string before = read_file(LineLog::earlier(path)).value_or("");
  EXPECT_LE(now.size() + before.size(), 1000U);
  EXPECT_GE(now.size() + before.size(), 500U);
  EXPECT_TRUE(now.ends_with(" line 99\n"));
  EXPECT_EQ(log.lost(), 0U);
}

TEST(LineLog, A10_WhereThereIsNoRoomOutputIsDroppedAndTheLogSaysSo) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "room.log", full = folder / "logs-full";
  ASSERT_TRUE(write_durably(full, ""));
  LineLog log(path, {0, 0, full});
  log.write(LineLog::Stream::kOut, "lost\n", kNow);
  const std::string line = log_stamp(kNow) + " stdout F lost\n";
  EXPECT_EQ(read_file(path).value_or("none"), "");
  EXPECT_EQ(log.lost(), line.size());
  std::filesystem::remove(full);
  log.write(LineLog::Stream::kOut, "there\n", kNow);
  EXPECT_EQ(read_file(path).value_or(""),
            log_stamp(kNow) + " stderr F sluice: " + std::to_string(line.size()) +
                " bytes of output were dropped: there was no room for logs\n" + log_stamp(kNow) +
                " stdout F there\n");
  // No disk has so much: what is to stay free is never there.
  LineLog never(folder / "never.log", {0, std::int64_t{1} << 60, {}});
  never.write(LineLog::Stream::kOut, "lost\n", kNow);
  EXPECT_EQ(never.lost(), line.size());
}

TEST(LineLog, LinesAreReadBack) {
  const auto line = parse_log_line("2026-01-01T00:00:01.000000005Z stderr F a b");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->time, kNow);
  EXPECT_EQ(line->text, "a b");
  EXPECT_TRUE(line->whole);
  for (const char* bad : {"", "x", "2026-01-01T00:00:01Z", "2026-01-01T00:00:01Z stdin F a",
                          "2026-01-01T00:00:01Z stdout Q a", "yesterday stdout F a"}) {
    EXPECT_FALSE(parse_log_line(bad)) << bad;
  }
}

}  // namespace
}  // namespace sluice::host
