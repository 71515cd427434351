// Kinds of others that are called as one of ours: a kind is its group and its name.
#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "core/model/model.hpp"
#include "host/objects/kinds.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

/// A page of `example.com` for each name of a kind that the engine is told of.
boost::json::object page_of_others(const std::string& plural, const std::string& kind) {
  return boost::json::parse(R"({"apiVersion":"sluice.dev/v1alpha1","kind":"JobKind",
    "metadata":{"name":")" + plural +
                            R"(.example.com"},"spec":{"group":"example.com","kind":")" + kind +
                            R"(","versions":["v1"],
    "podSets":[{"name":"worker","template":".spec.template"}],
    "succeeded":[{"condition":"Complete"}],"failed":[{"condition":"Failed"}]}})")
      .get_object();
}

TEST(ForeignKinds, AreNotThoseOfTheEngine) {
  HostFixture host({}, nullptr, true,
                   pages_of({page_of_others("workloads", "Workload"),
                             page_of_others("localqueues", "LocalQueue")}));
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
                 "metadata":{"name":"q","namespace":"default"},"spec":{"clusterQueue":"cq"}})");
  host.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
                 "metadata":{"name":"w","namespace":"default"},"spec":{"queueName":"q",
                 "podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[
                 {"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  const Engine& engine = host.kernel.engine();
  ASSERT_TRUE(engine.find("default/w"));
  for (const auto& [plural, kind, name] :
       {std::tuple("workloads", "Workload", "w"), std::tuple("localqueues", "LocalQueue", "q")}) {
    const std::string named = std::string(R"({"apiVersion":"example.com/v1","kind":")") + kind +
                              R"(","metadata":{"name":")" + name +
                              R"(","namespace":"default"},"spec":{"template":{"spec":{}}}})";
    host.apply(named);
    const std::string resource = std::string(plural) + ".example.com";
    EXPECT_FALSE(engine_kind(host.kind(resource))) << resource;
    ASSERT_TRUE(host.remove(resource, name)) << resource;
    EXPECT_FALSE(host.exists(resource, "default/" + std::string(name)));
  }
  EXPECT_TRUE(engine.find("default/w"));
  EXPECT_EQ(engine.model().local_queues.count("default/q"), 1u);
}

TEST(ForeignKinds, EveryKindOfTheEngineHasItsOwnName) {
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
  for (const auto& [plural, kind] : kinds) EXPECT_EQ(engine_kind(host.kind(plural)), kind);
  for (const char* other : {"jobs", "pods", "workloadpriorityclasses"})
    EXPECT_FALSE(engine_kind(host.kind(other))) << other;
}

}  // namespace
}  // namespace sluice::host::test
