// testing.hpp: what an author's unit tests need, without a host and without any library.
//
//   #include <sluice/testing.hpp>
//
//   using namespace sluice::testing;
//
//   SLUICE_TEST(spot_is_not_for_production) {
//     FakeHost host;
//     TestedPlugin plugin(host, R"({"prefix": "spot"})");
//     const auto skips = plugin.filter(FakeWorkload("team-a", "train").label("tier", "production"),
//                                      {"on-demand", "spot"});
//     SLUICE_EXPECT_EQ(skips.size(), 1u);
//     SLUICE_EXPECT_EQ(skips[0].flavor, "spot");
//   }
//   SLUICE_TEST_MAIN()
//
// FakeHost is a host with a virtual clock that records what the plugin does; TestedPlugin asks the
// plugin what a host asks. Any test framework may be used instead of the macros. In CMake:
// sluice_add_plugin_test(NAME test.cpp). docs/plugins/testing.md explains it.
#pragma once

#include "sluice/plugin.hpp"
#include "sluice/testing/capacity.hpp"
#include "sluice/testing/check.hpp"
#include "sluice/testing/host.hpp"
#include "sluice/testing/job.hpp"
#include "sluice/testing/objects.hpp"
#include "sluice/testing/plugin.hpp"
#include "sluice/testing/workload.hpp"
