// Who looks again and again: after its pause, when asked, and not after its end.
#include "host/base/lookout.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

namespace sluice::host::test {
namespace {

constexpr Duration kNeverComes = 24 * 3600 * kSecond;

/// Counts looks, each of which answers the same pause.
struct Counted {
  explicit Counted(Duration pause) : lookout("test", [this, pause] { return look(pause); }) {}

  Duration look(Duration pause) {
    const std::lock_guard lock(mutex);
    ++looks;
    came.notify_all();
    return pause;
  }
  void wait_for(int wanted) {
    std::unique_lock lock(mutex);
    came.wait(lock, [&] { return looks >= wanted; });
  }

  std::mutex mutex;
  std::condition_variable came;
  int looks = 0;
  Lookout lookout;
};

TEST(Lookout, LooksAtOnceAndAgainAfterItsPause) {
  Counted counted(1);
  counted.lookout.start();
  counted.wait_for(3);
}

TEST(Lookout, LooksWhenAskedHoweverLongItsPauseIs) {
  Counted counted(kNeverComes);
  counted.lookout.start();
  counted.wait_for(1);
  counted.lookout.look_now();
  counted.wait_for(2);
}

TEST(Lookout, ItsFirstLookMayWait) {
  Counted counted(kNeverComes);
  counted.lookout.start(kNeverComes);
  counted.lookout.stop();
  EXPECT_EQ(counted.looks, 0);
}

TEST(Lookout, AfterItsEndItDoesNotLook) {
  Counted counted(kNeverComes);
  counted.lookout.start();
  counted.wait_for(1);
  counted.lookout.stop();
  counted.lookout.look_now();
  EXPECT_EQ(counted.looks, 1);
}

TEST(Lookout, OneThatWasNotStartedEnds) { Counted(1).lookout.stop(); }

}  // namespace
}  // namespace sluice::host::test
