// Reviews: what is asked and what comes back.
#include "host/access/reviews.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "api/json/json.hpp"
#include "host/access/bootstrap.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

class Reviews : public testing::Test {
 protected:
  Reviews() {
    auto objects = bootstrap_objects();
    objects.push_back(
        json::parse(R"({"kind":"RoleBinding","metadata":{"name":"b","namespace":"team-a"},
                        "roleRef":{"kind":"ClusterRole","name":"view"},
                        "subjects":[{"kind":"Group","name":"dev"}]})")
            .get_object());
    for (const auto& object : objects) {
      index_.add(std::make_shared<const RbacObject>(
          RbacObject::parse(api::find_text(object, "kind"), object)));
    }
    index_.finish();
  }

  ApiResult<json::object> ask(const std::string& kind, const std::string& spec,
                              const std::string& version = "v1", const std::string& ns = "") {
    for (const auto& each : review_kinds()) {
      if (each.kind != kind || each.version != version) continue;
      const ReviewContext context{who_, ns, index_,
                                  [](std::string_view token) -> std::optional<Identity> {
                                    if (token != "secret") return std::nullopt;
                                    return Identity{"tom", "5", {"ops"}};
                                  }};
      return answer_review(each, json::parse(R"({"spec":)" + spec + "}").get_object(), context);
    }
    ADD_FAILURE() << "no " << kind;
    return ApiError{};
  }
  std::string status(const std::string& kind, const std::string& spec, const std::string& ns = "") {
    const auto answer = ask(kind, spec, "v1", ns);
    if (!answer) return std::to_string(answer.error().code) + " " + answer.error().text;
    return api::to_json(answer->at("status"));
  }

  RbacIndex index_;
  Identity who_{"jane", "7", {"dev", "system:authenticated"}};
};

TEST_F(Reviews, MayI) {
  EXPECT_EQ(
      status("SelfSubjectAccessReview",
             R"({"resourceAttributes":{"verb":"list","resource":"pods","namespace":"team-a"}})"),
      R"({"allowed":true,"reason":"RBAC: allowed by RoleBinding \"team-a/b\" of ClusterRole )"
      R"(\"view\" to Group \"dev\""})");
  EXPECT_EQ(status("SelfSubjectAccessReview",
                   R"({"resourceAttributes":{"verb":"list","resource":"pods"}})"),
            R"({"allowed":false})");
  EXPECT_EQ(status("SelfSubjectAccessReview",
                   R"({"nonResourceAttributes":{"verb":"get","path":"/apis"}})")
                .substr(0, 15),
            R"({"allowed":true)");
  EXPECT_EQ(status("SelfSubjectAccessReview", "{}").substr(0, 3), "422");
  EXPECT_EQ(status("SelfSubjectAccessReview", "{}").find("exactly one of") != std::string::npos,
            true);
}

TEST_F(Reviews, AnswersRepeatTheQuestion) {
  const auto answer =
      ask("SelfSubjectAccessReview",
          R"({"resourceAttributes":{"verb":"list","resource":"pods","namespace":"team-a"}})");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(api::find_text(*answer, "apiVersion"), "authorization.k8s.io/v1");
  EXPECT_EQ(api::find_text(*answer, "kind"), "SelfSubjectAccessReview");
  EXPECT_TRUE(answer->contains("metadata"));
  EXPECT_TRUE(answer->at("spec").get_object().contains("resourceAttributes"));
}

TEST_F(Reviews, WhatMayI) {
  const auto answer = ask("SelfSubjectRulesReview", R"({"namespace":"team-a"})");
  ASSERT_TRUE(answer.ok());
  const json::object& says = answer->at("status").as_object();
  EXPECT_NE(api::to_json(says.at("resourceRules")).find("rayclusters"), std::string::npos);
  EXPECT_NE(api::to_json(says.at("nonResourceRules")).find(R"("nonResourceURLs":["/api")"),
            std::string::npos);
  EXPECT_EQ(says.at("incomplete"), json::value(false));
  const std::string elsewhere = status("SelfSubjectRulesReview", R"({"namespace":"team-b"})");
  EXPECT_EQ(elsewhere.find("rayclusters"), std::string::npos);
  EXPECT_EQ(status("SelfSubjectRulesReview", "{}"), "400 no namespace on request");
}

TEST_F(Reviews, WhoAmI) {
  for (const char* version : {"v1", "v1beta1", "v1alpha1"}) {
    const auto answer = ask("SelfSubjectReview", "{}", version);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(api::to_json(answer->at("status")), R"({"userInfo":{"username":"jane","uid":"7",)"
                                                  R"("groups":["dev","system:authenticated"]}})");
    EXPECT_EQ(api::find_text(*answer, "apiVersion"),
              std::string("authentication.k8s.io/") + version);
  }
}

TEST_F(Reviews, MayOthers) {
  const std::string pods = R"("resourceAttributes":{"verb":"list","resource":"pods",)"
                           R"("namespace":"team-a"})";
  EXPECT_EQ(status("SubjectAccessReview", R"({"user":"joe",)" + pods + "}"),
            R"({"allowed":false})");
  EXPECT_EQ(status("SubjectAccessReview", R"({"groups":["dev"],)" + pods + "}").substr(0, 15),
            R"({"allowed":true)");
  EXPECT_EQ(status("SubjectAccessReview", "{" + pods + "}").substr(0, 3), "422");
  EXPECT_EQ(status("LocalSubjectAccessReview", R"({"groups":["dev"],)" + pods + "}", "team-a")
                .substr(0, 15),
            R"({"allowed":true)");
  EXPECT_EQ(status("LocalSubjectAccessReview", R"({"groups":["dev"],)" + pods + "}", "team-b")
                .substr(0, 3),
            "422");
}

TEST_F(Reviews, WhatIsAskedWronglyIsSaid) {
  const std::string pods = R"("resourceAttributes":{"verb":"list","resource":"pods",)"
                           R"("namespace":"team-a"})";
  const std::string path = R"("nonResourceAttributes":{"verb":"get"})";
  const struct {
    const char* kind;
    std::string spec, says;
  } rows[] = {
      {"SelfSubjectAccessReview", "{" + pods + "," + path + "}",
       "exactly one of nonResourceAttributes or resourceAttributes must be specified"},
      {"LocalSubjectAccessReview", R"({"user":"joe",)" + path + "}",
       "spec.nonResourceAttributes: Invalid value: disallowed on this kind of request"},
      {"LocalSubjectAccessReview", R"({"user":"joe",)" + pods + "}",
       "spec.resourceAttributes.namespace: Invalid value: \"team-a\": must match the namespace of "
       "the request"},
      {"SubjectAccessReview", R"({"groups":[5],)" + pods + "}",
       "spec.user: Invalid value: \"\": at least one of user or group must be specified"},
  };
  for (const auto& row : rows) {
    const std::string answer = status(row.kind, row.spec, "team-b");
    EXPECT_EQ(answer.substr(0, 3), "422") << row.says;
    EXPECT_NE(answer.find(row.says), std::string::npos) << answer;
  }
}

// A path that is not said is the root, which nobody may read here.
TEST_F(Reviews, APathThatIsNotSaidIsTheRoot) {
  EXPECT_EQ(status("SelfSubjectAccessReview", R"({"nonResourceAttributes":{"verb":"get"}})"),
            R"({"allowed":false})");
  index_.add(std::make_shared<const RbacObject>(RbacObject::parse(
      "ClusterRole", json::parse(R"({"metadata":{"name":"root"},"rules":[{"verbs":["get"],
          "nonResourceURLs":["/"]}]})")
                         .get_object())));
  index_.add(std::make_shared<const RbacObject>(RbacObject::parse(
      "ClusterRoleBinding",
      json::parse(R"({"metadata":{"name":"root"},"roleRef":{"kind":"ClusterRole","name":"root"},
          "subjects":[{"kind":"User","name":"jane"}]})")
          .get_object())));
  index_.finish();
  EXPECT_EQ(status("SelfSubjectAccessReview", R"({"nonResourceAttributes":{"verb":"get"}})")
                .substr(0, 15),
            R"({"allowed":true)");
}

TEST_F(Reviews, WhoseTokenIsIt) {
  EXPECT_EQ(status("TokenReview", R"({"token":"secret"})"),
            R"({"authenticated":true,"user":{"username":"tom","uid":"5","groups":["ops"]}})");
  EXPECT_EQ(status("TokenReview", R"({"token":"guess"})"),
            R"({"authenticated":false,"error":"the token is not known"})");
  EXPECT_EQ(status("TokenReview", "{}"), R"({"authenticated":false,"error":"the token is empty"})");
  const auto answer = ask("TokenReview", R"({"token":"secret"})");
  EXPECT_EQ(api::to_json(*answer).find("secret"), std::string::npos);
}

}  // namespace
}  // namespace sluice::host
