// Who gets which workload, by what the clusters say of when they would start it.
#include "../forecast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clusters {
namespace {

using sluice::Json;
using When = Forecast::When;

Forecast later(std::int64_t earliest, std::optional<std::int64_t> latest) {
  return {When::kLater, earliest, latest};
}
constexpr Forecast kStarts{When::kNow, {}, {}};
constexpr Forecast kChecks{When::kAfterChecks, {}, {}};
constexpr Forecast kNever{When::kNever, {}, {}};

/// What a cluster says of the workloads x, y and z, as many as are given.
Outlook says(const std::string& cluster, const std::vector<Forecast>& forecasts) {
  Outlook out{cluster, true, false, {}};
  std::string name = "x";
  for (const Forecast& each : forecasts) {
    out.workloads[name] = each;
    ++name[0];
  }
  return out;
}
Outlook silent(const std::string& cluster) { return {cluster, false, false, {}}; }
Outlook with_victims(Outlook outlook) {
  outlook.evicts = true;
  return outlook;
}

/// `x:a+b y:b`
std::string assigned(const std::vector<std::string>& workloads,
                     const std::vector<Outlook>& outlooks, bool final = false) {
  std::string out;
  for (const Assignment& each : assign(workloads, outlooks, final)) {
    out += (out.empty() ? "" : " ") + each.workload + ":";
    for (std::size_t i = 0; i < each.nominated.size(); ++i)
      out += (i > 0 ? "+" : "") + each.nominated[i];
  }
  return out;
}

TEST(Assign, AWorkloadGoesToTheClusterThatStartsItFirst) {
  struct Case {
    const char* what;
    std::vector<Outlook> outlooks;
    const char* goes;
  };
  const Case cases[] = {
      {"now is before later", {says("a", {later(1, 1)}), says("b", {kStarts})}, "x:b"},
      {"of equals the first of the configuration",
       {says("a", {kStarts}), says("b", {kStarts})},
       "x:a"},
      {"where nobody loses what he has",
       {with_victims(says("a", {kStarts})), says("b", {kStarts})},
       "x:b"},
      {"now, if others lose what they have, is before later",
       {says("a", {later(1, 1)}), with_victims(says("b", {kStarts}))},
       "x:b"},
      {"checks are before later", {says("a", {later(1, 1)}), says("b", {kChecks})}, "x:b"},
      {"the latest start counts", {says("a", {later(1, 90)}), says("b", {later(50, 60)})}, "x:b"},
      {"one that may never start is last",
       {says("a", {later(1, {})}), says("b", {later(50, 60)})},
       "x:b"},
      {"of those the one that may start first",
       {says("a", {later(9, {})}), says("b", {later(5, {})})},
       "x:b"},
      {"who starts it never is not asked", {says("a", {kNever}), says("b", {later(5, 6)})}, "x:b"},
      {"unless all say so", {says("a", {kNever}), says("b", {kNever})}, "x:a+b"},
      {"who does not tell gets it too", {silent("a"), says("b", {later(5, 6)})}, "x:a+b"},
      {"unless another starts it now", {silent("a"), says("b", {kStarts})}, "x:b"},
      {"nobody tells", {silent("a"), silent("b")}, "x:a+b"},
  };
  for (const Case& each : cases)
    EXPECT_EQ(assigned({"x"}, each.outlooks, true), each.goes) << each.what;
}

TEST(Assign, AnAnswerCountsThoseBeforeIt) {
  // a has room for two of them, b for one: what is said of z holds no more when y went to a, too.
  const std::vector<Outlook> outlooks = {says("a", {kStarts, kStarts, later(5, 5)}),
                                         says("b", {kStarts, later(5, 5), later(9, 9)})};
  EXPECT_EQ(assigned({"x", "y", "z"}, outlooks), "x:a y:a");
}

TEST(Assign, WhoComesFirstIsNotOvertaken) {
  const std::vector<Outlook> outlooks = {says("a", {later(5, 5), kStarts})};
  EXPECT_EQ(assigned({"x", "y"}, outlooks), "");  // when x would start is to be asked first
  EXPECT_EQ(assigned({"x"}, outlooks, true), "x:a");
}

TEST(Outlooks, AreReadFromTheAnswerByTheClockOfTheCluster) {
  const Outlook read = read_outlook("a", Json::parse(R"({"status":{
    "time":"2026-03-01T23:59:59.500Z","workloads":[
      {"object":{"namespace":"t","name":"w"},"decision":"Starts"},
      {"object":{"namespace":"t","name":"x"},"decision":"WaitsForChecks"},
      {"object":{"namespace":"t","name":"y"},"decision":"Waits","start":{
        "earliest":"2026-03-02T00:00:00Z","latest":"2026-03-02T00:01:00.250Z"}},
      {"object":{"namespace":"t","name":"z"},"decision":"Waits","start":{"because":"unknown"}},
      {"object":{"namespace":"t","name":"u"},"decision":"Inactive"}],
    "changes":{"evicted":[{"workload":"t/v"}]}}})"));
  EXPECT_TRUE(read.told);
  EXPECT_TRUE(read.evicts);
  EXPECT_EQ(read.workloads.at("t/w").when, When::kNow);
  EXPECT_EQ(read.workloads.at("t/x").when, When::kAfterChecks);
  EXPECT_EQ(read.workloads.at("t/y").when, When::kLater);
  EXPECT_EQ(read.workloads.at("t/y").earliest_ms, 500);
  EXPECT_EQ(read.workloads.at("t/y").latest_ms, 60'750);
  EXPECT_EQ(read.workloads.at("t/z").when, When::kLater);
  EXPECT_EQ(read.workloads.at("t/z").latest_ms, std::nullopt);
  EXPECT_EQ(read.workloads.at("t/u").when, When::kNever);
}

TEST(Outlooks, TimesAreReadAsRfc3339WritesThem) {
  struct Case {
    const char* earliest;
    std::optional<std::int64_t> earliest_ms;
  };
  const Case cases[] = {
      {"2026-03-02T00:00:01+00:00", 1'000},
      {"2026-03-02T02:00:01+02:00", 1'000},
      {"2026-03-02T00:00:00.0015Z", 1},  // what is finer than a millisecond is dropped
      {"2026-03-01T23:59:59Z", 0},       // it is past
      {"2026-03-02T00:00:01.xyzZ", std::nullopt},
      {"2026-02-30T00:00:00Z", std::nullopt},
      {"soon", std::nullopt},
  };
  for (const auto& [earliest, earliest_ms] : cases) {
    Json told = Json::parse(R"({"object":{"namespace":"t","name":"w"},"decision":"Waits"})");
    told["start"]["earliest"] = earliest;
    Json answer = Json::parse(R"({"status":{"time":"2026-03-02T00:00:00Z"}})");
    answer["status"]["workloads"].push_back(told);
    EXPECT_EQ(read_outlook("a", answer).workloads.at("t/w").earliest_ms, earliest_ms) << earliest;
  }
}

TEST(Outlooks, OfWhatIsNoAnswerNothingIsTold) {
  EXPECT_FALSE(read_outlook("a", Json::object()).told);
  EXPECT_EQ(read_outlook("a", Json::object()).cluster, "a");
}

TEST(Outlooks, AreAskedForInOneQuestion) {
  EXPECT_EQ(question_about({Json("one"), Json("two")}, false).dump(),
            R"({"apiVersion":"sluice.dev/v1alpha1","kind":"WhatIf",)"
            R"("spec":{"objects":["one","two"],"estimate":false}})");
}

}  // namespace
}  // namespace clusters
