// Questions one after the other: who is asked about, when the next one may be asked.
#include "../asking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clusters {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<std::string> kBoth = {"a", "b"};

Outlook starts(const std::string& cluster, const std::vector<std::string>& workloads) {
  Outlook out{cluster, true, false, {}};
  for (const std::string& each : workloads)
    out.workloads[each] = {Forecast::When::kNow, std::nullopt, std::nullopt};
  return out;
}
Outlook waits(const std::string& cluster, const std::string& workload, std::int64_t ms) {
  Outlook out{cluster, true, false, {}};
  out.workloads[workload] = {Forecast::When::kLater, ms, ms};
  return out;
}

TEST(Questions, AreAboutThoseThatWaitInTheirOrder) {
  Asking asking;
  EXPECT_THAT(asking.next(kBoth, 0).workloads, IsEmpty());
  for (const char* each : {"w", "v", "w"}) asking.want(each);
  EXPECT_THAT(asking.next({}, 0).workloads, IsEmpty());  // nobody can be asked
  EXPECT_THAT(asking.next(kBoth, 0).workloads, ElementsAre("w", "v"));
  EXPECT_THAT(asking.next(kBoth, 0).workloads, IsEmpty());  // one is under way
}

TEST(Questions, AreAboutWhoIsForgottenAndWantedAgainAfterTheOthers) {
  Asking asking;
  for (const char* each : {"w", "v"}) asking.want(each);
  asking.forget("w");
  asking.want("w");
  EXPECT_THAT(asking.next(kBoth, 0).workloads, ElementsAre("v", "w"));
}

TEST(Questions, AreAboutAFewAtATime) {
  Asking asking;
  for (std::size_t i = 0; i < Asking::kPerQuestion + 1; ++i) asking.want(std::to_string(i));
  EXPECT_THAT(asking.next(kBoth, 0).workloads, SizeIs(Asking::kPerQuestion));
}

TEST(Questions, AreOverWhenAllHaveAnswered) {
  Asking asking;
  asking.want("w");
  asking.next(kBoth, 0);
  asking.hear(waits("a", "w", 5));
  EXPECT_THAT(asking.conclude(0), IsEmpty());
  asking.hear(starts("b", {"w"}));
  EXPECT_THAT(asking.conclude(0), ElementsAre("w"));
  EXPECT_THAT(*asking.place_of("w"), ElementsAre("b"));
}

TEST(Questions, AreOverWhenThePatienceIs) {
  Asking asking;
  asking.want("w");
  asking.next(kBoth, 1000);
  asking.hear(waits("a", "w", 5));
  EXPECT_EQ(asking.again_ms(1000 + 1), Asking::kPatienceMs - 1);
  EXPECT_THAT(asking.conclude(1000 + Asking::kPatienceMs), IsEmpty());  // an estimate is missing
  EXPECT_TRUE(asking.next(kBoth, 2000).estimate);
  EXPECT_THAT(asking.conclude(2000 + Asking::kPatienceMs), ElementsAre("w"));
  EXPECT_THAT(*asking.place_of("w"), ElementsAre("a", "b"));  // nobody told
}

TEST(Questions, AskWhenOneWouldStartThatNobodyStartsNow) {
  Asking asking;
  for (const char* each : {"w", "v"}) asking.want(each);
  EXPECT_FALSE(asking.next({"a"}, 0).estimate);
  asking.hear(waits("a", "w", 0));
  EXPECT_THAT(asking.conclude(0), IsEmpty());
  const Asking::Question second = asking.next({"a"}, 0);
  EXPECT_TRUE(second.estimate);
  EXPECT_THAT(second.workloads, ElementsAre("w"));
  asking.hear(waits("a", "w", 700));
  EXPECT_THAT(asking.conclude(0), ElementsAre("w"));
  asking.arrived("w");
  EXPECT_FALSE(asking.next({"a"}, 0).estimate);
}

TEST(Questions, WaitUntilWhatWasPlacedIsThere) {
  Asking asking;
  asking.want("w");
  asking.next({"a"}, 0);
  asking.hear(starts("a", {"w"}));
  asking.conclude(0);
  asking.want("v");
  EXPECT_THAT(asking.next({"a"}, 0).workloads, IsEmpty());
  EXPECT_EQ(asking.again_ms(0), Asking::kPatienceMs);
  asking.arrived("w");
  EXPECT_THAT(asking.next({"a"}, 0).workloads, ElementsAre("v"));
}

TEST(Questions, OfWhatIsForgottenNothingBecomes) {
  Asking asking;
  for (const char* each : {"w", "v"}) asking.want(each);
  asking.next({"a"}, 0);
  asking.forget("w");
  asking.hear(starts("a", {"w", "v"}));
  EXPECT_THAT(asking.conclude(0), ElementsAre("v"));
  EXPECT_EQ(asking.place_of("w"), nullptr);
  asking.forget("v");  // its attempt is over: the next one is asked about anew
  EXPECT_EQ(asking.place_of("v"), nullptr);
  asking.want("v");
  EXPECT_THAT(asking.next({"a"}, 0).workloads, ElementsAre("v"));
}

}  // namespace
}  // namespace clusters
