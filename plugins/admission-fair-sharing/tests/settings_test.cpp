// The configuration, and what is said of a wrong one.
#include "../settings.hpp"

#include <gtest/gtest.h>

namespace afs {
namespace {

TEST(Durations, AreThoseOfGo) {
  EXPECT_EQ(duration_of("168h"), 604800);
  EXPECT_EQ(duration_of("5m"), 300);
  EXPECT_EQ(duration_of("1h30m"), 5400);
  EXPECT_EQ(duration_of("1.5s"), 1.5);
  EXPECT_EQ(duration_of("500ms"), 0.5);
  for (const char* text : {"", "5", "m", "5 m", "5d", "-5m", "1.2.3s"})
    EXPECT_FALSE(duration_of(text)) << text;
}

TEST(Settings, OfAnEmptyConfiguration) {
  const Rates rates = rates_of(sluice::Json::object());
  EXPECT_EQ(rates.half_life_seconds, 604800);
  EXPECT_EQ(rates.sampling_seconds, 300);
  EXPECT_TRUE(rates.weights.empty());
}

TEST(Settings, AreTaken) {
  const Rates rates = rates_of(sluice::Json::parse(
      R"({"usageHalfLifeTime":"1h","usageSamplingInterval":"10s",
          "resourceWeights":{"cpu":2.5,"gpu":"0"}})"));
  EXPECT_EQ(rates.half_life_seconds, 3600);
  EXPECT_EQ(rates.sampling_seconds, 10);
  EXPECT_EQ(rates.weights, (Amounts{{"cpu", 2.5}, {"gpu", 0}}));
}

TEST(Settings, WrongOnesAreNamed) {
  struct Row {
    const char *config, *sentence;
  };
  for (const Row& row :
       {Row{R"({"usageHalfLifeTime":"0s"})",
            "usageHalfLifeTime: \"0s\": must be a duration of at least 1s, such as 5m or 168h"},
        Row{R"({"usageSamplingInterval":"soon"})",
            "usageSamplingInterval: \"soon\": must be a duration of at least 1s, such as 5m or "
            "168h"},
        Row{R"({"resourceWeights":{"cpu":-1}})",
            "resourceWeights.cpu: -1: must be a number that is not negative"},
        Row{R"({"resourceWeights":{"cpu":[]}})",
            "resourceWeights.cpu: []: must be a number that is not negative"}}) {
    try {
      rates_of(sluice::Json::parse(row.config));
      ADD_FAILURE() << row.config;
    } catch (const sluice::Refused& refused) {
      EXPECT_STREQ(refused.what(), row.sentence);
    }
  }
}

}  // namespace
}  // namespace afs
