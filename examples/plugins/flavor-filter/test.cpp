#include <sluice/testing.hpp>

using namespace sluice::testing;

SLUICE_TEST(production_stays_off_spot) {
  FakeHost host;
  TestedPlugin plugin(host);
  const FakeWorkload production = FakeWorkload("team-a", "train").label("tier", "production");
  const auto skips = plugin.filter(production, {"on-demand", "spot", "spot-large"});
  SLUICE_EXPECT_EQ(skips.size(), 2u);
  SLUICE_EXPECT_EQ(skips.at(0).flavor, "spot");
  SLUICE_EXPECT_EQ(skips.at(1).reason, "spot is not for production");
}

SLUICE_TEST(others_run_anywhere_and_are_no_equals_of_production) {
  FakeHost host;
  TestedPlugin plugin(host);
  const FakeWorkload other("team-a", "try");
  SLUICE_EXPECT(plugin.filter(other, {"on-demand", "spot"}).empty());
  SLUICE_EXPECT_EQ(plugin.filter_shape_key(other), "");
}

SLUICE_TEST_MAIN()
