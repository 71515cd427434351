#include <sluice/testing.hpp>

using namespace sluice::testing;

constexpr std::int64_t kMinute = 60'000'000'000;

FakeWorkload waiting(const char* name, std::int64_t since, std::int32_t priority = 0) {
  FakeWorkload out("team-a", name);
  out.created_at = since;
  out.priority = priority;
  return out;
}

SLUICE_TEST(the_older_one_is_first_whatever_its_priority) {
  FakeHost host;
  TestedPlugin plugin(host);
  const auto older = plugin.order_workload(waiting("older", 1 * kMinute));
  const auto newer = plugin.order_workload(waiting("newer", 2 * kMinute, 1000));
  SLUICE_EXPECT(older.key < newer.key);
  SLUICE_EXPECT_EQ(older.because, "it counts as waiting since 1970-01-01T00:01:00Z");
}

SLUICE_TEST(priority_counts_as_time_where_the_configuration_says_so) {
  FakeHost host;
  TestedPlugin plugin(host, R"({"minutesPerPriority": 10})");
  // 40 min - 3 * 10 min = 10 min, which is before 15 min.
  const auto urgent = plugin.order_workload(waiting("urgent", 40 * kMinute, 3));
  const auto plain = plugin.order_workload(waiting("plain", 15 * kMinute));
  SLUICE_EXPECT_EQ(urgent.key, 10 * kMinute);
  SLUICE_EXPECT(urgent.key < plain.key);
}

SLUICE_TEST_MAIN()
