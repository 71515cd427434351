// What a plugin asked a remote, and when the answer is handed out.
#include "host/remotes/remote_questions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::host {
namespace {

using ::testing::ElementsAre;

const RemoteChange kName{"r", "sluice.dev/v1alpha1", "WhatIf", "", "q"};

ClusterAnswer answer(std::uint64_t id, int status, const std::string& body) {
  ClusterAnswer out;
  out.id = id;
  out.status = status;
  out.body = body;
  return out;
}

TEST(Questions, ArePostedAndTheirAnswerIsHandedOutOnce) {
  RemoteQuestions questions;
  const ClusterRequest request = questions.ask(kName, "/apis/x", "{}");
  EXPECT_EQ(std::string(request.method) + " " + request.path + " " + request.body,
            "POST /apis/x {}");
  EXPECT_NE(request.id & RemoteQuestions::kId, 0U);
  EXPECT_TRUE(questions.take(kName)->waiting);
  EXPECT_EQ(questions.answered(answer(request.id, 201, "it is")), kName);
  EXPECT_EQ(questions.size(), 1U);
  const auto reply = questions.take(kName);
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->waiting);
  EXPECT_EQ(reply->code, 201);
  EXPECT_EQ(reply->body, "it is");
  EXPECT_FALSE(questions.take(kName));
  EXPECT_EQ(questions.size(), 0U);
}

TEST(Questions, WithoutABodyItIsRead) {
  RemoteQuestions questions;
  const ClusterRequest request = questions.ask(kName, "/apis/x/explain", "");
  EXPECT_EQ(std::string(request.method) + " " + request.path, "GET /apis/x/explain");
  EXPECT_EQ(questions.answered(answer(request.id, 200, "why")), kName);
  EXPECT_EQ(questions.take(kName)->body, "why");
}

TEST(Questions, TheOneBeforeOfTheNameIsForgotten) {
  RemoteQuestions questions;
  const std::uint64_t first = questions.ask(kName, "/a", "{}").id;
  const std::uint64_t second = questions.ask(kName, "/a", "{}").id;
  EXPECT_EQ(questions.answered(answer(first, 201, "old")), std::nullopt);
  EXPECT_EQ(questions.answered(answer(second, 201, "new")), kName);
  EXPECT_EQ(questions.take(kName)->body, "new");
}

TEST(Questions, ARefusalHasItsSentence) {
  RemoteQuestions questions;
  const std::uint64_t id = questions.ask(kName, "/a", "{}").id;
  questions.answered(answer(id, 403, R"({"kind":"Status","message":"you may not"})"));
  const auto reply = questions.take(kName);
  EXPECT_EQ(reply->code, 403);
  EXPECT_THAT(reply->message, ::testing::HasSubstr("you may not"));
  EXPECT_EQ(reply->body, "");
}

TEST(Questions, OfAConnectionThatIsGivenUpNoAnswerComes) {
  RemoteQuestions questions;
  const std::uint64_t id = questions.ask(kName, "/a", "{}").id;
  std::vector<RemoteChange> about;
  questions.give_up("it is cut", about);
  EXPECT_THAT(about, ElementsAre(kName));
  EXPECT_EQ(questions.answered(answer(id, 201, "too late")), std::nullopt);
  const auto reply = questions.take(kName);
  EXPECT_FALSE(reply->waiting);
  EXPECT_EQ(reply->code, 0);
  EXPECT_EQ(reply->message, "it is cut");
}

}  // namespace
}  // namespace sluice::host
