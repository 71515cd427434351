// Which requests leave when, and what is told of a write until the mirror shows what became of it.
#include "host/remotes/remote_writes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct World : ::testing::Test {
  const api::KindInfo& jobs = *test::scheme().find("batch/v1", "Job");
  const RemoteKey key{&jobs, "a/x"};
  RemoteMirror mirror;
  RemoteWrites writes;
  std::vector<ClusterRequest> sent;

  void write(RemoteVerb verb) {
    writes.add(key, {verb, "r", "batch/v1", "Job", "a", "x", {}, "{}", {}});
    writes.release(key, sent);
  }
  void answer(int status, const std::string& body = "{}") {
    ClusterAnswer out;
    out.id = sent.back().id;
    out.status = status;
    out.body = body;
    EXPECT_EQ(writes.answered(out, mirror, sent), key);
  }
  /// The mirror has this version of it.
  void show(int version) {
    mirror.put(jobs, "batch/v1",
               json::parse(R"({"metadata":{"namespace":"a","name":"x","resourceVersion":")" +
                           std::to_string(version) + R"("}})")
                   .get_object());
    writes.shown(key, mirror);
  }
  void show_gone() {
    mirror.erase(key);
    writes.shown(key, mirror);
  }
  std::string told() const {
    const auto state = writes.state(key);
    if (!state) return "nothing";
    if (!state->failed) return "waiting";
    return std::to_string(state->code) + " " + state->message;
  }
};

constexpr const char* kVersion5 = R"({"metadata":{"resourceVersion":"5"}})";

TEST_F(World, AWriteLeavesWhenItIsReleased) {
  writes.add(key, {RemoteVerb::kCreate, "r", "batch/v1", "Job", "a", "x", {}, "{}", {}});
  EXPECT_THAT(sent, IsEmpty());
  EXPECT_EQ(told(), "waiting");
  writes.release(key, sent);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].method, "POST");
  EXPECT_EQ(sent[0].path, "/apis/batch/v1/namespaces/a/jobs");
}

TEST_F(World, ItIsDoneWithWhenTheMirrorShowsIt) {
  write(RemoteVerb::kCreate);
  answer(201, kVersion5);
  EXPECT_EQ(told(), "waiting");
  show(4);  // from before
  EXPECT_EQ(told(), "waiting");
  show(5);
  EXPECT_EQ(told(), "nothing");
  EXPECT_EQ(writes.outstanding(), 0U);
}

TEST_F(World, AnEventBeforeTheAnswerCountsToo) {
  write(RemoteVerb::kPatch);
  show(5);
  answer(200, kVersion5);
  EXPECT_EQ(told(), "nothing");
}

TEST_F(World, OneThatEndsIsDoneWithWhenTheMirrorHasItNoMore) {
  show(1);
  write(RemoteVerb::kErase);
  answer(200);
  EXPECT_EQ(told(), "waiting");
  show_gone();
  EXPECT_EQ(told(), "nothing");
  write(RemoteVerb::kErase);
  answer(404, R"({"message":"not found"})");  // what is not there is erased
  EXPECT_EQ(told(), "nothing");
}

TEST_F(World, AFailureIsToldUntilTheNextWriteOrTheObjectComes) {
  write(RemoteVerb::kCreate);
  answer(403, R"({"kind":"Status","message":"no right"})");
  EXPECT_EQ(told(), "403 no right");
  EXPECT_EQ(writes.failed(), 1U);
  write(RemoteVerb::kCreate);
  EXPECT_EQ(told(), "waiting");
  answer(409, R"({"kind":"Status","message":"it is there"})");
  EXPECT_EQ(told(), "409 it is there");
  show(3);
  EXPECT_EQ(told(), "nothing");
}

TEST_F(World, WritesToOneObjectLeaveOneAfterTheOther) {
  write(RemoteVerb::kCreate);
  write(RemoteVerb::kPatch);
  write(RemoteVerb::kErase);
  ASSERT_THAT(sent, SizeIs(1));
  answer(201, kVersion5);
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[1].method, "PATCH");
  answer(200, kVersion5);
  ASSERT_THAT(sent, SizeIs(3));
  EXPECT_EQ(sent[2].method, "DELETE");
  EXPECT_EQ(writes.outstanding(), 1U);
}

TEST_F(World, WhatHadLeftWhenTheConnectionIsGivenUpHasNoAnswer) {
  write(RemoteVerb::kCreate);
  write(RemoteVerb::kPatch);
  std::vector<RemoteKey> about;
  writes.give_up(about);
  EXPECT_EQ(about, (std::vector<RemoteKey>{key}));
  EXPECT_EQ(told(), "waiting");  // the second one
  writes.resume(sent);
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[1].method, "PATCH");
  ClusterAnswer late;
  late.id = sent[0].id;
  late.status = 201;
  EXPECT_FALSE(writes.answered(late, mirror, sent));
}

TEST_F(World, AWholeListHoldsWhatWasAnsweredBefore) {
  write(RemoteVerb::kCreate);
  answer(201, kVersion5);
  EXPECT_EQ(writes.listed(jobs, 100), (std::vector<RemoteKey>{key}));
  EXPECT_EQ(writes.listed(jobs, 100), std::vector<RemoteKey>());
  EXPECT_EQ(told(), "nothing");
}

TEST(RequestOf, NamesObjectSubresourceAndPrecondition) {
  RemoteWrite write{RemoteVerb::kPatch, "r", "v1", "Pod", "a", "x y", "status", "{}", {}};
  EXPECT_EQ(request_of(write, "pods").path, "/api/v1/namespaces/a/pods/x%20y/status");
  write.verb = RemoteVerb::kErase;
  write.subresource.clear();
  write.uid = "u";
  EXPECT_EQ(request_of(write, "pods").body,
            R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground",)"
            R"("preconditions":{"uid":"u"}})");
}

}  // namespace
}  // namespace sluice::host
