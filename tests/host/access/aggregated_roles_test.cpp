// What a ClusterRole that is made of others shows.
#include "host/access/aggregated_roles.hpp"

#include <gtest/gtest.h>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

struct Aggregating : HostFixture {
  Aggregating() { controllers.add(roles); }

  void role(const std::string& name, const std::string& label, const std::string& more) {
    apply(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"
          R"("metadata":{"name":")" +
          name + R"(","labels":{"in":")" + label + R"("}},)" + more + "}");
  }
  static std::string selecting(const std::string& label) {
    return R"("aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"in":")" + label +
           R"("}}]},"rules":[])";
  }
  static std::string reading(const std::string& resource) {
    return R"("rules":[{"apiGroups":[""],"resources":[")" + resource + R"("],"verbs":["get"]}])";
  }
  /// The resources of its rules.
  std::string shown(const std::string& name) {
    machine.run_to_rest();
    std::string out;
    const boost::json::value rules = get("clusterroles", name).at("rules");
    for (const auto& rule : rules.as_array())
      out += (out.empty() ? "" : " ") + std::string(rule.at("resources").at(0).as_string());
    return out;
  }

  AggregatedRoles roles{scheme};
};

TEST(AggregatedRoles, ShowTheRulesOfThoseThatTheySelect) {
  Aggregating host;
  host.role("all", "none", Aggregating::selecting("edit"));
  EXPECT_EQ(host.shown("all"), "");
  host.role("b", "edit", Aggregating::reading("pods"));
  host.role("a", "edit", Aggregating::reading("secrets"));
  host.role("c", "edit", Aggregating::reading("pods"));  // which b gives already
  host.role("d", "view", Aggregating::reading("events"));
  EXPECT_EQ(host.shown("all"), "secrets pods");
  ASSERT_TRUE(host.remove("clusterroles", "a").ok());
  EXPECT_EQ(host.shown("all"), "pods");
}

// `all` selects `some`, which selects d: d's rules are in both, and nothing goes round.
TEST(AggregatedRoles, ThroughSeveralSteps) {
  Aggregating host;
  host.role("all", "view", Aggregating::selecting("edit"));
  host.role("some", "edit", Aggregating::selecting("view"));
  host.role("d", "view", Aggregating::reading("events"));
  EXPECT_EQ(host.shown("all") + ", " + host.shown("some"), "events, events");
  const std::uint64_t before = host.version("clusterroles", "all");
  host.role("e", "other", Aggregating::reading("nodes"));
  EXPECT_EQ(host.shown("all"), "events");
  EXPECT_EQ(host.version("clusterroles", "all"), before) << "nothing is written that is there";
}

}  // namespace
}  // namespace sluice::host::test
