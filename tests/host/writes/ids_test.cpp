// UIDs of a live host: each is greater than those before, whatever its clock does.
#include "host/writes/ids.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice::host {
namespace {

constexpr Time kNow = 1'800'000'000 * kSecond;

TEST(LiveIds, GrowWithinAnInstantAndWhenTheClockGoesBack) {
  LiveIds ids;
  std::string last = ids.uid(kNow);
  for (int i = 0; i < 5000; ++i) {  // more than the counter of one millisecond holds
    const std::string next = ids.uid(kNow);
    ASSERT_GT(next, last);
    last = next;
  }
  EXPECT_GT(ids.uid(kNow - 3600 * kSecond), last);
}

TEST(LiveIds, GrowWithTheTime) {
  LiveIds ids;
  const std::string first = ids.uid(kNow);
  EXPECT_GT(ids.uid(kNow + kMillisecond), first);
  LiveIds others;  // of another host
  EXPECT_GT(others.uid(kNow + kMillisecond), first);
}

TEST(LiveIds, AreUuidsOfVersion7) {
  const std::string uid = LiveIds().uid(kNow);
  // 1,800,000,000,000 ms = 0x1a3185c5000
  EXPECT_EQ(uid.substr(0, 15), "01a3185c-5000-7") << uid;
  EXPECT_EQ(uid.size(), 36U);
  EXPECT_NE(std::string("89ab").find(uid[19]), std::string::npos) << uid;
}

// A host that starts anew, with a clock that is behind that of the one before.
TEST(LiveIds, GoPastWhatAnotherDrew) {
  for (const Time ahead : {kMillisecond, kSecond, 86'400 * kSecond}) {
    LiveIds before;
    std::string last;
    for (int i = 0; i < 300; ++i) last = before.uid(kNow + ahead);
    LiveIds after;
    after.go_past(last);
    EXPECT_GT(after.uid(kNow), last);
  }
}

// By one: the counter is the three digits behind the 7, and runs over into the time.
TEST(LiveIds, GoOnJustBehindIt) {
  const std::pair<const char*, const char*> rows[] = {
      {"fa3185c9-5000-7abc-8000-000000000000", "fa3185c9-5000-7abd"},
      {"fa3185c9-5fff-7fff-8000-000000000000", "fa3185c9-6000-7000"},
      {"fa3185c9-9fff-7009-8000-000000000000", "fa3185c9-9fff-700a"},
  };
  for (const auto& [last, next] : rows) {
    LiveIds ids;
    ids.go_past(last);
    EXPECT_EQ(ids.uid(kNow).substr(0, 18), next);
  }
  LiveIds ids;
  ids.go_past("00000000-0001-7abc-8000-000000000000");  // long ago: it is the time that counts
  EXPECT_EQ(ids.uid(kNow).substr(0, 18), "01a3185c-5000-7000");
}

TEST(LiveIds, SuffixesDiffer) {
  LiveIds ids;
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(ids.suffix());
  EXPECT_GT(seen.size(), 95U);  // of 27^5 = 14,348,907
}

}  // namespace
}  // namespace sluice::host
