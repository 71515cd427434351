#include "host/executor/process/line_log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "host/executor/process/files.hpp"

namespace sluice::host {
namespace {

const Time kNow = *parse_time("2026-01-01T00:00:01Z") + 5;

std::string logged(const std::vector<std::string>& writes) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "line.log";
  std::filesystem::remove(path);
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
