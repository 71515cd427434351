// FairPool: turns by user, a bound, and an end that loses nothing.
#include "host/base/fair_pool.hpp"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>

namespace sluice::host {
namespace {

TEST(FairPool, WhoKeepsManyWaitingDelaysAnotherByOne) {
  std::string order;
  std::promise<void> began, begin;
  FairPool pool("test", 1, 100);
  ASSERT_TRUE(pool.post("a", [&] {
    began.set_value();
    begin.get_future().wait();
  }));
  began.get_future().wait();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pool.post("a", [&] { order += 'a'; }));
  ASSERT_TRUE(pool.post("b", [&] { order += 'b'; }));
  begin.set_value();
  pool.stop();
  // Both wait when the first is done; a came first, then they take turns.
  EXPECT_EQ(order.find('b'), 1U) << order;
  EXPECT_EQ(order.size(), 4U) << "what waits is run before the end";
}

TEST(FairPool, TakesNoMoreThanItsBoundAndNothingAfterItsEnd) {
  std::promise<void> began, begin;
  FairPool pool("test", 1, 1);
  ASSERT_TRUE(pool.post("a", [&] {
    began.set_value();
    begin.get_future().wait();
  }));
  began.get_future().wait();
  EXPECT_TRUE(pool.post("a", [] {}));
  EXPECT_FALSE(pool.post("b", [] {}));
  begin.set_value();
  pool.stop();
  EXPECT_FALSE(pool.post("a", [] {}));
}

TEST(FairPool, GoesOnAfterATaskThatThrows) {
  bool ran = false;
  FairPool pool("test", 1, 10);
  ASSERT_TRUE(pool.post("a", [] { throw std::runtime_error("no memory"); }));
  ASSERT_TRUE(pool.post("a", [&] { ran = true; }));
  pool.stop();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace sluice::host
