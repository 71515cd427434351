// Kinds of others that are called as one of ours: a kind is its group and its name.
#include <gtest/gtest.h>

#include <utility>

#include "host/objects/kinds.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

TEST(ForeignKinds, AreNotThoseOfTheEngine) {
  const HostFixture host;
  const std::pair<const char*, api::ObjectKind> kinds[] = {
      {"namespaces", api::ObjectKind::kNamespace},
      {"resourceflavors", api::ObjectKind::kResourceFlavor},
      {"clusterqueues", api::ObjectKind::kClusterQueue},
      {"cohorts", api::ObjectKind::kCohort},
      {"localqueues", api::ObjectKind::kLocalQueue},
      {"admissionchecks", api::ObjectKind::kAdmissionCheck},
      {"workloads", api::ObjectKind::kWorkload},
  };
  for (const auto& [plural, kind] : kinds) {
    EXPECT_EQ(engine_kind(host.kind(plural)), kind);
    api::KindInfo foreign = host.kind(plural);
    foreign.group = "example.com";
    EXPECT_FALSE(engine_kind(foreign)) << plural;
    EXPECT_FALSE(is_workload(foreign) || is_namespace(foreign)) << plural;
  }
  for (const char* other : {"jobs", "pods", "workloadpriorityclasses"})
    EXPECT_FALSE(engine_kind(host.kind(other))) << other;
}

}  // namespace
}  // namespace sluice::host::test
