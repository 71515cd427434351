// What is asked next after each answer, as tables under a clock that is a number.
#include "host/kube/reflector.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace sluice::host {
namespace {

using What = Ask::What;

Reflector make(ReflectorLimits limits = {}) {
  return Reflector({"kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1"}, limits, 7);
}

/// One whole list of a single page, at version 10.
void list(Reflector& reflector) {
  reflector.next();
  EXPECT_TRUE(reflector.page("", "10"));
  reflector.ended(0, {Ending::kClosed});
}

bool watches_from(const Ask& ask, const std::string& version) {
  return ask.what == What::kWatch && ask.query.ends_with("&resourceVersion=" + version);
}

TEST(Reflector, ListsPageByPageAndThenWatchesFromTheList) {
  Reflector reflector = make();
  Ask ask = reflector.next();
  EXPECT_EQ(ask.what, What::kList);
  EXPECT_EQ(ask.query, "limit=500");
  EXPECT_TRUE(ask.first_page);
  EXPECT_FALSE(reflector.page("to ken=", "10"));
  reflector.ended(5, {Ending::kClosed});
  EXPECT_FALSE(reflector.synced());
  ask = reflector.next();
  EXPECT_EQ(ask.query, "limit=500&continue=to%20ken%3D");
  EXPECT_FALSE(ask.first_page);
  EXPECT_EQ(ask.from, 5) << "the next page waits for nothing";
  EXPECT_TRUE(reflector.page("", "11"));
  reflector.ended(6, {Ending::kClosed});
  EXPECT_TRUE(reflector.synced());
  ask = reflector.next();
  EXPECT_TRUE(watches_from(ask, "11")) << ask.query;
  EXPECT_NE(ask.query.find("allowWatchBookmarks=true"), std::string::npos);
  EXPECT_EQ(ask.from, 6);
  EXPECT_GE(ask.lasts, 330 * kSecond);
  EXPECT_LE(ask.lasts, 630 * kSecond);
}

TEST(Reflector, WatchesGoOnFromTheLastVersionOrBookmark) {
  Reflector reflector = make();
  list(reflector);
  reflector.next();
  reflector.event("12");
  reflector.event("15");
  reflector.event("");  // an event without a version takes nothing back
  reflector.ended(100, {Ending::kClosed});
  const Ask ask = reflector.next();
  EXPECT_TRUE(watches_from(ask, "15")) << ask.query;
  EXPECT_EQ(ask.from, 100) << "a watch that ended in its time is renewed at once";
}

// Each ending, of a list and of a watch that gave nothing: what follows, from which version, and
// whether it waits.
TEST(Reflector, EachEndingAsksForTheLeastThatLosesNothing) {
  struct Case {
    const char* name;
    Ending how;
    bool while_watching;
    What then;
    const char* query;  // what it ends with
    bool waits;
  };
  for (const Case& c : std::vector<Case>{
           {"a watch that ends at once", Ending::kClosed, true, What::kWatch, "=10", true},
           {"a version that is forgotten", Ending::kGone, true, What::kList, "limit=500", false},
           {"a kind that went away", Ending::kMissing, true, What::kList, "limit=500", false},
           {"rights that were taken", Ending::kRefused, true, What::kWatch, "=10", true},
           {"a server that is busy", Ending::kBusy, true, What::kWatch, "=10", true},
           {"a server that is away", Ending::kAway, true, What::kList, "limit=500", true},
           {"a connection that broke", Ending::kUnreachable, true, What::kList, "limit=500", true},
           {"an event that is too large", Ending::kTooLarge, true, What::kList, "limit=500", true},
           {"an event that is none", Ending::kMalformed, true, What::kList, "limit=500", true},
           {"a list refused", Ending::kRefused, false, What::kList, "limit=500", true},
           {"a list of a busy server", Ending::kBusy, false, What::kList, "limit=500", true},
           {"no server", Ending::kUnreachable, false, What::kList, "limit=500", true},
           {"a list that is none", Ending::kMalformed, false, What::kList, "limit=500", true},
           {"a page that is too large", Ending::kTooLarge, false, What::kList, "limit=125", false},
       }) {
    Reflector reflector = make();
    if (c.while_watching) list(reflector);
    reflector.next();
    reflector.ended(1000 * kSecond, {c.how});
    const Ask ask = reflector.next();
    EXPECT_EQ(ask.what, c.then) << c.name;
    EXPECT_TRUE(ask.query.ends_with(c.query)) << c.name << ": " << ask.query;
    EXPECT_EQ(ask.from > 1000 * kSecond, c.waits) << c.name << ": " << ask.from;
    EXPECT_EQ(reflector.synced(), c.while_watching) << c.name;
  }
}

TEST(Reflector, AFailureInMidListAsksForTheSamePageAgain) {
  Reflector reflector = make();
  reflector.next();
  reflector.page("more", "10");
  reflector.ended(0, {Ending::kClosed});
  reflector.next();
  reflector.ended(0, {Ending::kUnreachable});
  EXPECT_EQ(reflector.next().query, "limit=500&continue=more");
  // A list that is forgotten begins anew.
  reflector.ended(0, {Ending::kGone});
  const Ask ask = reflector.next();
  EXPECT_EQ(ask.query, "limit=500");
  EXPECT_TRUE(ask.first_page);
}

// A server that was away may have gone back to a backup. Times in seconds; a list rests for 30, or
// twenty times as long as it took.
TEST(Reflector, AfterALostConnectionItListsAnewWhenTheLastListIsLongEnoughAgo) {
  struct Case {
    const char* name;
    Duration list_took, lost_after;  // the latter after its end
    Ending how;
    Duration rest;  // so long it goes on watching; 0: it lists at once
  };
  for (const Case& c : std::vector<Case>{
           {"long after the list", 1, 30, Ending::kUnreachable, 0},
           {"soon after it", 1, 10, Ending::kUnreachable, 20},
           {"after a list that took long", 10, 50, Ending::kUnreachable, 150},
           {"a server that is being stopped", 1, 10, Ending::kAway, 20},
           {"a watch that ends before its time", 1, 40, Ending::kClosed, 0},
           {"a server that has enough to do", 1, 40, Ending::kBusy, -1},
       }) {
    Reflector reflector = make();
    reflector.next();
    EXPECT_TRUE(reflector.page("", "9"));
    Duration now = 100'000 * kSecond;
    reflector.ended(now, {Ending::kClosed});
    reflector.next();
    reflector.ended(now, {Ending::kGone});
    reflector.next();
    EXPECT_TRUE(reflector.page("", "10"));
    now += c.list_took * kSecond;
    reflector.ended(now, {Ending::kClosed});
    reflector.next();
    reflector.event("11");
    now += c.lost_after * kSecond;
    reflector.ended(now, {c.how});
    Ask ask = reflector.next();
    EXPECT_EQ(ask.what == What::kList, c.rest == 0) << c.name;
    if (c.rest == 0) {
      EXPECT_TRUE(ask.first_page) << c.name;
      EXPECT_TRUE(reflector.synced()) << c.name << ": what it knows stays";
      continue;
    }
    EXPECT_TRUE(watches_from(ask, "11")) << c.name;
    const Duration lasts = ask.lasts - 30 * kSecond;
    if (c.rest < 0) {
      EXPECT_GE(lasts, 300 * kSecond) << c.name;
      continue;
    }
    EXPECT_GE(ask.from + lasts, now + c.rest * kSecond) << c.name;
    EXPECT_LE(ask.from + lasts, now + (c.rest + 2) * kSecond) << c.name;
    reflector.event("12");
    reflector.ended(ask.from + lasts, {Ending::kClosed});
    EXPECT_EQ(reflector.next().query, "limit=500") << c.name;
    // That was it: the watch of the new list has its usual time.
    EXPECT_TRUE(reflector.page("", "13"));
    reflector.ended(ask.from + lasts, {Ending::kClosed});
    EXPECT_GE(reflector.next().lasts, 330 * kSecond) << c.name;
  }
}

// When the first request left it is not told; its list is not taken for one that took since the
// clock began.
TEST(Reflector, TheFirstListRestsAsOthersDo) {
  Reflector reflector = make();
  reflector.next();
  EXPECT_TRUE(reflector.page("", "10"));
  reflector.ended(100'000 * kSecond, {Ending::kClosed});
  reflector.next();
  reflector.ended(100'031 * kSecond, {Ending::kUnreachable});
  EXPECT_EQ(reflector.next().query, "limit=500");
}

TEST(Reflector, AListInTheMiddleOfWhichTheConnectionWasLostIsReadOnceMore) {
  Reflector reflector = make();
  reflector.next();
  EXPECT_FALSE(reflector.page("more", "10"));
  reflector.ended(0, {Ending::kClosed});
  reflector.next();
  reflector.ended(0, {Ending::kUnreachable});
  reflector.next();
  EXPECT_TRUE(reflector.page("", "10"));
  reflector.ended(kSecond, {Ending::kClosed});
  const Ask ask = reflector.next();
  EXPECT_TRUE(watches_from(ask, "10"));
  EXPECT_LE(ask.lasts, 70 * kSecond);
  reflector.ended(40 * kSecond, {Ending::kClosed});
  EXPECT_EQ(reflector.next().query, "limit=500");
}

TEST(Reflector, WaitsDoubleUpToALimitAndEndWithTheFirstSuccess) {
  Reflector reflector = make();
  Duration now = 0;
  // 0.8 s, 1.6 s, … each by up to a half less or more, at most 30 s and a half.
  const double expected[] = {0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30};
  for (const double seconds : expected) {
    reflector.next();
    reflector.ended(now, {Ending::kBusy});
    const double wait = static_cast<double>(reflector.next().from - now) / kSecond;
    EXPECT_GE(wait, seconds * 0.49);
    EXPECT_LE(wait, seconds * 1.51);
    now += 100 * kSecond;
  }
  list(reflector);
  reflector.next();
  reflector.ended(now, {Ending::kBusy});
  EXPECT_LE(reflector.next().from - now, 1.21 * kSecond);
}

TEST(Reflector, WaitsAtLeastAsLongAsTheServerSays) {
  Reflector reflector = make();
  reflector.next();
  reflector.ended(10 * kSecond, {Ending::kBusy, 20 * kSecond});
  EXPECT_GE(reflector.next().from, 30 * kSecond);
}

TEST(Reflector, AListThatIsAlwaysForgottenIsNotAskedForWithoutEnd) {
  Reflector reflector = make();
  Duration waited = 0;
  for (int i = 0; i < 6; ++i) {
    list(reflector);
    reflector.next();
    reflector.ended(0, {Ending::kGone});
    waited = reflector.next().from;
    EXPECT_EQ(waited > 0, i > 0) << i;
  }
  EXPECT_GT(waited, 3 * kSecond);
}

TEST(Reflector, TakesTheVersionThatTheClusterServes) {
  Reflector reflector = make();
  EXPECT_EQ(reflector.next().api_version, "kueue.x-k8s.io/v1beta2");
  reflector.ended(0, {Ending::kMissing});
  EXPECT_FALSE(reflector.absent());
  Ask ask = reflector.next();
  EXPECT_EQ(ask.api_version, "kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(ask.from, 0);
  // In none of them: there is nothing to list, and it is looked for again later.
  reflector.ended(0, {Ending::kMissing});
  EXPECT_TRUE(reflector.absent());
  EXPECT_TRUE(reflector.synced());
  ask = reflector.next();
  EXPECT_EQ(ask.api_version, "kueue.x-k8s.io/v1beta2");
  EXPECT_GE(ask.from, 30 * kSecond);
  reflector.ended(ask.from, {Ending::kMissing});
  reflector.next();
  EXPECT_TRUE(reflector.page("", "3"));
  EXPECT_FALSE(reflector.absent());
}

TEST(Reflector, PagesGetSmallerUntilTheyFit) {
  Reflector reflector = make();
  std::vector<std::string> asked;
  for (int i = 0; i < 6; ++i) {
    asked.push_back(reflector.next().query);
    reflector.ended(0, {Ending::kTooLarge});
  }
  EXPECT_EQ(asked, (std::vector<std::string>{"limit=500", "limit=125", "limit=31", "limit=7",
                                             "limit=1", "limit=1"}));
}

}  // namespace
}  // namespace sluice::host
