#include <sluice/testing.hpp>

using namespace sluice::testing;
using namespace std::chrono_literals;

constexpr std::int64_t kSecond = 1'000'000'000;

FakeWorkload running(const char* name, std::int64_t since) {
  return FakeWorkload("team-b", name).admitted("cq", "default", since);
}

SLUICE_TEST(who_ran_long_enough_may_be_preempted) {
  FakeHost host;
  TestedPlugin plugin(host, R"({"seconds": 100})");
  const auto young = running("young", host.now() - 99 * kSecond);
  const auto old = running("old", host.now() - 100 * kSecond);
  const auto given = plugin.veto(FakeWorkload("team-a", "urgent"), {&young, &old});
  SLUICE_EXPECT_EQ(given.protects.size(), 1u);
  SLUICE_EXPECT_EQ(given.because.at(0), "they run for less than 100 s");
  SLUICE_EXPECT(!given.may_not_preempt);
}

SLUICE_TEST(who_waits_gets_a_turn_when_the_first_is_old_enough) {
  FakeHost host;
  TestedPlugin plugin(host, R"({"seconds": 100})");
  const auto first = running("first", host.now() - 70 * kSecond);
  const auto second = running("second", host.now() - 10 * kSecond);
  plugin.veto(FakeWorkload("team-a", "urgent"), {&second, &first});
  plugin.veto(FakeWorkload("team-a", "later"), {&second});
  plugin.advance(29s);
  SLUICE_EXPECT(host.requeued().empty());
  plugin.advance(1s);  // 70 + 30
  SLUICE_EXPECT_EQ(host.requeued().size(), 1u);
  SLUICE_EXPECT_EQ(host.requeued().back(), "team-a/urgent");
  plugin.advance(60s);  // 10 + 90
  SLUICE_EXPECT_EQ(host.requeued().back(), "team-a/later");
}

SLUICE_TEST_MAIN()
