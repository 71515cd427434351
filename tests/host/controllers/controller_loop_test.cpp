// ControllerLoop: which controller runs when, and how long at most.
#include "host/controllers/controller_loop.hpp"

#include <gtest/gtest.h>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

/// Looks at every ConfigMap, and writes down that it did.
class Looks final : public Controller {
 public:
  Looks(std::string name, std::string& log, std::string through = "")
      : name_(std::move(name)), log_(log), through_(std::move(through)) {}
  std::string_view name() const override { return name_; }
  std::vector<std::string> watches() const override { return {"/ConfigMap"}; }
  std::string selector(std::string_view) const override { return through_; }
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override {
    keys.push_back({change.kind, change.key});
  }
  Result<Time> reconcile(const WorkKey&, ObjectAccess&) override {
    log_ += name_;
    return kNever;
  }

 private:
  std::string name_;
  std::string& log_;
  std::string through_;
};

/// Cannot bring anything into line.
class Fails final : public Controller {
 public:
  std::string_view name() const override { return "fails"; }
  std::vector<std::string> watches() const override { return {"/ConfigMap"}; }
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override {
    keys.push_back({change.kind, change.key});
  }
  Result<Time> reconcile(const WorkKey&, ObjectAccess&) override { return Error{"cannot"}; }
};

/// A second passes with each reading.
class Hurrying final : public PluginClock {
 public:
  Time now() const override { return 0; }
  Duration steady() const override { return passed_ += kSecond; }

 private:
  mutable Duration passed_ = 0;
};

struct Loop : testing::Test, HostFixture {
  std::string log;
  Looks a{"a", log}, b{"b", log};
  Hurrying clock;

  Loop() {
    controllers.add(a);
    controllers.add(b);
    for (const char* name : {"1", "2", "3"})
      apply(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")" +
            std::string(name) + R"("}})");
  }
  std::string run() {
    log.clear();
    controllers.run();
    return log;
  }
};

TEST_F(Loop, WithoutALimitAllIsDoneInTheOrderOfTheControllers) {
  EXPECT_EQ(run(), "aaabbb");
  EXPECT_EQ(run(), "");
}

// Large objects take long to be looked at: others' writes wait for one of them, not for all (A7).
TEST_F(Loop, A7_ARunThatTakesLongEndsAndTheNextGoesOnBehindIt) {
  controllers.limit_run(128, kSecond, clock);
  EXPECT_EQ(run(), "a");
  EXPECT_EQ(run(), "b");
  EXPECT_EQ(run(), "a");
  EXPECT_TRUE(controllers.has_work());
  EXPECT_EQ(run() + run() + run(), "bab");
  EXPECT_FALSE(controllers.has_work());
}

// What fails is tried again after 1 s, then 2 s; changes that name it before its time, and let it
// fail again, make that neither later nor longer.
TEST(Retries, AreNotPutOffByChanges) {
  HostFixture host;
  Fails fails;
  host.controllers.add(fails);
  host.apply(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default",)"
             R"("name":"c"}})");
  const auto change = [&](const std::string& to) {
    ASSERT_TRUE(host.merge("configmaps", "c", R"({"data":{"a":")" + to + "\"}}"));
    host.controllers.run();
  };
  for (const char* to : {"1", "2", "3"}) change(to);
  EXPECT_EQ(host.controllers.next_timer(), host.now + kSecond);
  host.kernel.begin_instant(host.now + kSecond);
  host.controllers.run();
  EXPECT_EQ(host.controllers.next_timer(), host.now + 3 * kSecond);
  host.kernel.begin_instant(host.now + 2 * kSecond);
  change("4");
  EXPECT_EQ(host.controllers.next_timer(), host.now + 3 * kSecond);
}

// Of a kind that all look at through one selector, no other objects have to be known.
TEST(Selector, IsThatOfAllWhoWatchTheKind) {
  HostFixture host;
  std::string log;
  Looks one("1", log, "a=b"), same("2", log, "a=b"), other("3", log, "c");
  EXPECT_EQ(host.controllers.selector("/ConfigMap"), "");
  host.controllers.add(one);
  host.controllers.add(same);
  EXPECT_EQ(host.controllers.selector("/ConfigMap"), "a=b");
  EXPECT_EQ(host.controllers.selector("/Secret"), "");
  host.controllers.add(other);
  EXPECT_EQ(host.controllers.selector("/ConfigMap"), "");
}

}  // namespace
}  // namespace sluice::host::test
