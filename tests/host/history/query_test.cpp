#include "host/history/query.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace sluice::host::test {
namespace {

using Given = std::map<std::string, std::string>;

Result<HistoryQuery> parse(const Given& given) {
  return parse_query("team-a", [&](std::string_view name) -> const std::string* {
    const auto found = given.find(std::string(name));
    return found == given.end() ? nullptr : &found->second;
  });
}

TEST(HistoryQuery, ReadsEveryParameter) {
  const auto query = parse({{"from", "2026-01-01T00:00:00Z"},
                            {"to", "2026-01-02T00:00:00Z"},
                            {"groupBy", "user,flavor,day"},
                            {"user", "ann"},
                            {"queue", "main"},
                            {"clusterQueue", "cq"},
                            {"flavor", "spot"}});
  ASSERT_TRUE(query.ok()) << query.error().text;
  EXPECT_EQ(query->ns, "team-a");
  EXPECT_EQ(query->to - query->from, 86'400'000);
  EXPECT_TRUE(query->sums);
  EXPECT_EQ(query->by, (std::vector{GroupBy::kUser, GroupBy::kFlavor, GroupBy::kDay}));
  EXPECT_EQ(query->user + query->queue + query->cluster_queue + query->flavor, "annmaincqspot");
}

TEST(HistoryQuery, WithoutGroupsItIsTheRuns) {
  const auto query = parse({{"limit", "7"}, {"continue", "99"}});
  ASSERT_TRUE(query.ok()) << query.error().text;
  EXPECT_FALSE(query->sums);
  EXPECT_EQ(query->limit, 7);
  EXPECT_EQ(query->after, 99);
  EXPECT_TRUE(parse({{"groupBy", ""}})->sums) << "one sum of all";
}

TEST(HistoryQuery, NamesWhatItDoesNotUnderstand) {
  const std::pair<Given, const char*> cases[] = {
      {{{"from", "yesterday"}},
       "from: Invalid value: \"yesterday\": must be an RFC 3339 time, such as "
       "2026-01-01T00:00:00Z"},
      {{{"from", "2026-01-02T00:00:00Z"}, {"to", "2026-01-01T00:00:00Z"}},
       "from: must be before to"},
      {{{"groupBy", "users"}},
       "groupBy: Invalid value: \"users\": must be a list, with commas, of user, namespace, queue, "
       "clusterQueue, flavor, priorityClass, outcome, reason, minute, tenMinutes, hour, day, "
       "month; or empty for one sum"},
      {{{"groupBy", "day,hour"}},
       "groupBy: Invalid value: \"day,hour\": must be a list with one of minute, tenMinutes, "
       "hour, day and month at most"},
      {{{"groupBy", "user,namespace,queue,flavor,reason"}},
       "groupBy: Invalid value: \"user,namespace,queue,flavor,reason\": must be a list of 4 at "
       "most"},
      {{{"limit", "0"}}, "limit: Invalid value: \"0\": must be an integer of 1 or more"},
      {{{"continue", "x"}}, "continue: Invalid value: \"x\": must be an integer of 1 or more"},
  };
  for (const auto& [given, error] : cases) {
    const auto query = parse(given);
    ASSERT_FALSE(query.ok()) << error;
    EXPECT_EQ(query.error().text, error);
  }
}

TEST(HistoryQuery, HoursDaysAndMonthsAreThoseOfUtc) {
  const auto millis = [](const char* text) { return to_millis(*parse_time(text)); };
  const Millis moment = millis("2028-02-29T23:59:59Z");
  EXPECT_EQ(begin_of(GroupBy::kMinute, moment), millis("2028-02-29T23:59:00Z"));
  EXPECT_EQ(end_of(GroupBy::kMinute, moment), millis("2028-03-01T00:00:00Z"));
  EXPECT_EQ(begin_of(GroupBy::kTenMinutes, moment), millis("2028-02-29T23:50:00Z"));
  EXPECT_EQ(end_of(GroupBy::kTenMinutes, moment), millis("2028-03-01T00:00:00Z"));
  EXPECT_EQ(begin_of(GroupBy::kHour, moment), millis("2028-02-29T23:00:00Z"));
  EXPECT_EQ(end_of(GroupBy::kHour, moment), millis("2028-03-01T00:00:00Z"));
  EXPECT_EQ(begin_of(GroupBy::kDay, moment), millis("2028-02-29T00:00:00Z"));
  EXPECT_EQ(end_of(GroupBy::kDay, moment), millis("2028-03-01T00:00:00Z"));
  EXPECT_EQ(begin_of(GroupBy::kMonth, moment), millis("2028-02-01T00:00:00Z"));
  EXPECT_EQ(end_of(GroupBy::kMonth, moment), millis("2028-03-01T00:00:00Z"));
  EXPECT_EQ(end_of(GroupBy::kMonth, millis("2027-12-31T00:00:00Z")),
            millis("2028-01-01T00:00:00Z"));
}

// A run that lasts all the time is spread over each of them.
TEST(HistoryQuery, MinutesHaveAWindowThatIsNotTooLong) {
  const Millis now = to_millis(*parse_time("2026-02-01T00:00:00Z"));
  HistoryQuery query;
  query.by = {GroupBy::kFlavor, GroupBy::kMinute};
  query.from = now - 10'000 * 60'000;
  EXPECT_TRUE(check_window(query, now).ok()) << "that goes on until now";
  query.from -= 60'000;
  const auto refused = check_window(query, now);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text,
            "from: by minute a window of 10000 of them is possible at most; this one has 10001");
  query.to = now - 60'000;
  EXPECT_TRUE(check_window(query, now).ok());
  query = {};
  query.by = {GroupBy::kTenMinutes};
  EXPECT_FALSE(check_window(query, now).ok()) << "since 1970";
  query.by = {GroupBy::kHour};
  EXPECT_TRUE(check_window(query, now).ok());
}

}  // namespace
}  // namespace sluice::host::test
