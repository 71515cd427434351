// The authorizer over a LiveStore: changes count from the moment they are durable.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "api/json/json.hpp"
#include "host/access/bootstrap.hpp"
#include "host/access/rbac_authorizer.hpp"
#include "tests/host/store/fixture.hpp"

namespace sluice::host {
namespace {

class RbacStore : public testing::Test {
 protected:
  void put(const boost::json::object& object) {
    const auto* kind =
        test::scheme().find("rbac.authorization.k8s.io/v1", api::find_text(object, "kind"));
    ASSERT_NE(kind, nullptr);
    store_.put(to_stored(*kind, object, pool_));
  }
  bool may_list_pods(const std::string& ns) {
    AccessRequest request;
    request.verb = "list";
    request.resource = "pods";
    request.ns = ns;
    return authorizer_.may({"jane", "", {}}, request).allowed;
  }

  TextPool pool_;
  LiveStore store_{test::scheme(), nullptr};
  RbacAuthorizer authorizer_{test::scheme(), store_};
};

TEST_F(RbacStore, FollowsThePublishedObjects) {
  EXPECT_FALSE(may_list_pods("team-a"));
  for (const auto& object : bootstrap_objects()) put(object);
  put(boost::json::parse(
          R"({"kind":"RoleBinding","metadata":{"name":"b","namespace":"team-a"},
              "roleRef":{"kind":"ClusterRole","name":"view"},
              "subjects":[{"kind":"User","name":"jane"}]})")
          .get_object());
  EXPECT_FALSE(may_list_pods("team-a")) << "not durable yet";
  ASSERT_EQ(test::commit(store_), "");
  EXPECT_TRUE(may_list_pods("team-a"));
  EXPECT_FALSE(may_list_pods("team-b"));
  EXPECT_FALSE(may_list_pods(""));
  const auto& kind = *test::scheme().find("rbac.authorization.k8s.io/v1", "RoleBinding");
  store_.erase(kind, "team-a/b");
  ASSERT_EQ(test::commit(store_), "");
  EXPECT_FALSE(may_list_pods("team-a"));
}

TEST_F(RbacStore, ARoleCountsAsItIsNow) {
  const auto put_role = [this](const std::string& rules) {
    put(boost::json::parse(R"({"kind":"ClusterRole","metadata":{"name":"r"},"rules":)" + rules +
                           "}")
            .get_object());
    ASSERT_EQ(test::commit(store_), "");
  };
  put(boost::json::parse(R"({"kind":"RoleBinding","metadata":{"name":"b","namespace":"team-a"},
              "roleRef":{"kind":"ClusterRole","name":"r"},
              "subjects":[{"kind":"User","name":"jane"}]})")
          .get_object());
  put_role(R"([{"verbs":["list"],"apiGroups":[""],"resources":["pods"]}])");
  EXPECT_TRUE(may_list_pods("team-a"));
  put_role("[]");
  EXPECT_FALSE(may_list_pods("team-a"));
  put_role(R"([{"verbs":["*"],"apiGroups":[""],"resources":["pods"]}])");
  EXPECT_TRUE(may_list_pods("team-a"));
}

TEST_F(RbacStore, KeepsTheIndexWhileNothingChanges) {
  for (const auto& object : bootstrap_objects()) put(object);
  ASSERT_EQ(test::commit(store_), "");
  const auto before = authorizer_.index();
  EXPECT_EQ(authorizer_.index(), before);
  store_.put(test::object(test::kind("Workload"), "a/x"));
  ASSERT_EQ(test::commit(store_), "");
  EXPECT_EQ(authorizer_.index(), before);
}

TEST(Bootstrap, ObjectsAreValid) {
  for (boost::json::object object : bootstrap_objects()) {
    const auto outcome =
        test::scheme().admit(object, nullptr, {api::UnknownFields::kRefuse, false, false});
    EXPECT_TRUE(outcome.ok()) << outcome.error_text();
  }
}

}  // namespace
}  // namespace sluice::host
