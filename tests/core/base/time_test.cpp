#include "core/base/time.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace sluice {
namespace {

std::string text_of(int year, int month, int day, int hour, int minute, int second) {
  char out[64];
  std::snprintf(out, sizeof(out), "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, hour, minute,
                second);
  return out;
}

/// By the calendar's own rule.
int days_of(int year, int month) {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

TEST(Time, ReadsAndWritesRfc3339) {
  struct Case {
    const char* text;
    Time time;
    const char* canonical;
  };
  for (const Case& each : {
           Case{"1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"},
           // 2026-01-01 is 56 years after the epoch with 14 leap days: 20454 days.
           Case{"2026-01-01T00:00:00Z", 20454 * 86400 * kSecond, "2026-01-01T00:00:00Z"},
           Case{"2026-01-01T02:00:00+02:00", 20454 * 86400 * kSecond, "2026-01-01T00:00:00Z"},
           Case{"2025-12-31T22:30:00-01:30", 20454 * 86400 * kSecond, "2026-01-01T00:00:00Z"},
           Case{"1970-01-01T00:00:01.5Z", 1500 * kMillisecond, "1970-01-01T00:00:01.5Z"},
           Case{"1970-01-01t00:00:00.000000001z", 1, "1970-01-01T00:00:00.000000001Z"},
           Case{"1969-12-31T23:59:59.25Z", -750 * kMillisecond, "1969-12-31T23:59:59.25Z"},
           // The last and the first whole second.
           Case{"2189-03-16T23:50:27Z", 6917529027 * kSecond, "2189-03-16T23:50:27Z"},
           Case{"1896-12-06T00:03:11Z", -2305843009 * kSecond, "1896-12-06T00:03:11Z"},
           Case{"2024-02-29T12:00:00Z", 1709208000 * kSecond, "2024-02-29T12:00:00Z"},
       }) {
    const auto time = parse_time(each.text);
    ASSERT_TRUE(time.has_value()) << each.text;
    EXPECT_EQ(*time, each.time) << each.text;
    EXPECT_EQ(format_time(*time), each.canonical);
  }
}

TEST(Time, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+2:00", "2026-01-01T00:00:00Zx",
        "9999-01-01T00:00:00Z", "2189-03-16T23:50:28Z", "1896-12-06T00:03:10Z",
        "0001-01-01T00:00:00Z", "2026-1-1T00:00:00Z"}) {
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  }
}

TEST(Time, LaterThanTheLastMomentIsNever) {
  EXPECT_EQ(later(5, 7), 12);
  EXPECT_EQ(later(kEarliest, 1), kEarliest + 1);
  EXPECT_EQ(later(kLatest, 0), kLatest);
  EXPECT_EQ(later(kLatest, 1), kNever);
  EXPECT_EQ(later(0, kNever), kNever);
  EXPECT_EQ(later(kNever, 0), kNever);
}

// Half past midnight there, at an offset from UTC.
TEST(Time, OffsetsHaveHoursAndMinutes) {
  const struct {
    const char* offset;
    std::int64_t minutes;  // since 1970
  } rows[] = {{"+00:00", 30},  {"-00:00", 30},   {"+00:30", 0},    {"-00:30", 60},
              {"+01:00", -30}, {"-23:59", 1469}, {"+23:59", -1409}};
  for (const auto& row : rows)
    EXPECT_EQ(parse_time(std::string("1970-01-01T00:30:00") + row.offset),
              row.minutes * 60 * kSecond)
        << row.offset;
  for (const char* wrong : {"+24:00", "+00:60", "+0:30", "+00-30", "+00", "00:30", "+00:3"})
    EXPECT_FALSE(parse_time(std::string("1970-01-01T00:30:00") + wrong)) << wrong;
}

// From 1970 to 2188, with a year that can be divided by 400 and one by 100 alone.
TEST(Time, EachDayFollowsTheOneBefore) {
  Time day = 0;
  for (int year = 1970; year < 2189; ++year)
    for (int month = 1; month <= 12; ++month) {
      for (int date = 1; date <= days_of(year, month); ++date, day += 86400 * kSecond) {
        const std::string text = text_of(year, month, date, 0, 0, 0);
        ASSERT_EQ(parse_time(text), day) << text;
        ASSERT_EQ(format_time(day), text);
      }
      const std::string none = text_of(year, month, days_of(year, month) + 1, 0, 0, 0);
      ASSERT_FALSE(parse_time(none)) << none;
    }
}

TEST(Time, CountsSecondsMinutesAndHours) {
  for (int second = 0; second < 86400; second += 61) {
    const std::string text = text_of(1970, 1, 1, second / 3600, second / 60 % 60, second % 60);
    ASSERT_EQ(parse_time(text), second * kSecond) << text;
    ASSERT_EQ(format_time(second * kSecond), text);
  }
}

TEST(Duration, ReadsGoSyntax) {
  struct Case {
    const char* text;
    Duration duration;
  };
  for (const Case& each :
       {Case{"0", 0}, Case{"0s", 0}, Case{"1500ms", 1500 * kMillisecond}, Case{"90s", 90 * kSecond},
        Case{"2m30s", 150 * kSecond}, Case{"1h", 3600 * kSecond}, Case{"1.5h", 5400 * kSecond},
        Case{".5s", 500 * kMillisecond}, Case{"1.25s", 1250 * kMillisecond}, Case{"1.s", kSecond},
        Case{"+3s", 3 * kSecond}, Case{"1us", 1000}, Case{"1\xC2\xB5s", 1000}, Case{"7ns", 7},
        Case{"1h1m1s1ms1us1ns", 3661 * kSecond + 1'001'001}}) {
    const auto duration = parse_duration(each.text);
    ASSERT_TRUE(duration.has_value()) << each.text;
    EXPECT_EQ(*duration, each.duration) << each.text;
  }
  for (const char* text : {"", "+", "-1s", "1", "s", ".s", "1x", "1s ", "1 s", "10000000h", "1d",
                           "99999999999999999999s"}) {
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace sluice
