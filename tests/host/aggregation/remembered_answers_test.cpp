// What is remembered of what a cluster answered about access: for how long, how many, and what
// makes two questions the same.
#include <gmock/gmock.h>

#include "host/aggregation/access_reviews.hpp"

namespace sluice::host {
namespace {

using ::testing::HasSubstr;

constexpr Duration kAge = 10 * kSecond;

TEST(RememberedAnswers, AreForgottenWhenTheyAreOld) {
  RememberedAnswers answers(2, kAge);
  answers.put("a", {true, "by a role"}, 5 * kSecond);  // until 15 s
  ASSERT_TRUE(answers.find("a", 15 * kSecond - 1));
  EXPECT_TRUE(answers.find("a", 15 * kSecond - 1)->allowed);
  EXPECT_EQ(answers.find("a", 15 * kSecond - 1)->reason, "by a role");
  EXPECT_FALSE(answers.find("a", 15 * kSecond));
  EXPECT_FALSE(answers.find("b", 5 * kSecond));
}

TEST(RememberedAnswers, TheOldestGoesWhenThereAreTooMany) {
  RememberedAnswers answers(2, kAge);
  answers.put("a", {true, ""}, 0);
  answers.put("b", {false, ""}, 0);
  answers.put("a", {false, ""}, 1);  // another answer, and no third one
  EXPECT_EQ(answers.size(), 2U);
  EXPECT_FALSE(answers.find("a", 1)->allowed);
  answers.put("c", {true, ""}, 2);
  EXPECT_EQ(answers.size(), 2U);
  EXPECT_FALSE(answers.find("a", 2));
  EXPECT_TRUE(answers.find("b", 2));
  EXPECT_TRUE(answers.find("c", 2));
}

TEST(AccessReview, AsksForTheUserWithAllThatIsKnownOfHim) {
  ProxiedUser user;
  user.who = {"ann", "7", {"a", "b"}};
  user.extra["scopes"] = {"read"};
  AccessRequest wish;
  wish.verb = "get";
  wish.group = "visibility.kueue.x-k8s.io";
  wish.resource = "localqueues";
  wish.subresource = "pendingworkloads";
  wish.ns = "team-a";
  wish.name = "main";
  const std::string review = access_review(user, wish, "v1beta2");
  for (const char* part :
       {R"("kind":"SubjectAccessReview")", R"("user":"ann","uid":"7","groups":["a","b"])",
        R"("extra":{"scopes":["read"]})", R"("verb":"get","group":"visibility.kueue.x-k8s.io")",
        R"("version":"v1beta2","resource":"localqueues","subresource":"pendingworkloads")",
        R"("namespace":"team-a","name":"main")"})
    EXPECT_THAT(review, HasSubstr(part));
  user.extra["scopes"] = {"write"};
  EXPECT_NE(review, access_review(user, wish, "v1beta2"));
}

}  // namespace
}  // namespace sluice::host
