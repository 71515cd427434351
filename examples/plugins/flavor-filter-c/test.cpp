// The plugin is C; its test is C++, because the fake host is.
#include <sluice/testing.hpp>

using namespace sluice::testing;

static std::size_t skipped(FakeHost& host, const char* config, std::int32_t pods) {
  TestedPlugin plugin(host, config);
  FakeWorkload workload("team-a", "train");
  workload.pod_sets[0].count = pods;
  return plugin.filter(workload, {"on-demand", "spot"}).size();
}

SLUICE_TEST(large_pod_sets_stay_off_spot) {
  FakeHost host;
  SLUICE_EXPECT_EQ(skipped(host, R"({"maxPods": 2})", 2), 0u);
  SLUICE_EXPECT_EQ(skipped(host, R"({"maxPods": 2})", 3), 1u);
}

SLUICE_TEST(the_default_is_four_with_an_old_host_too) {
  FakeHost host;
  SLUICE_EXPECT_EQ(skipped(host, "{}", 4), 0u);
  host.without(SLUICE_SVC_CONFIG);
  SLUICE_EXPECT_EQ(skipped(host, "{}", 5), 1u);
}

SLUICE_TEST_MAIN()
