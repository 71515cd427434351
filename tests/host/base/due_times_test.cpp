#include "host/base/due_times.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::host {
namespace {

std::string taken(DueTimes<std::string>& due, Time now) {
  std::string out;
  while (const auto key = due.take_due(now)) out += *key;
  return out;
}

TEST(DueTimes, AreTakenByTimeAndThenByKey) {
  DueTimes<std::string> due;
  due.set("c", 2);
  due.set("b", 1);
  due.set("a", 1);
  EXPECT_EQ(due.next(), 1);
  EXPECT_EQ(taken(due, 0), "");
  EXPECT_EQ(taken(due, 1), "ab");
  EXPECT_EQ(due.next(), 2);
  EXPECT_EQ(taken(due, 9), "c");
  EXPECT_EQ(due.next(), kNever);
}

TEST(DueTimes, AKeyHasOneTime) {
  DueTimes<std::string> due;
  due.set("a", 1);
  due.set("a", 3);
  EXPECT_EQ(due.size(), 1U);
  EXPECT_EQ(taken(due, 2), "");
  due.set("a", 2);
  EXPECT_EQ(taken(due, 2), "a");
  EXPECT_FALSE(due.has("a"));
  due.set("a", 2);
  due.erase("a");
  due.erase("b");
  EXPECT_EQ(taken(due, 9), "");
}

}  // namespace
}  // namespace sluice::host
