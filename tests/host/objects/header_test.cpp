// What a header says of a metadata text: each question, and what is absent or of another type.
#include "host/objects/header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Header header(std::string_view text) { return Header(std::string(text)); }

std::vector<std::string> texts(std::span<const std::string_view> of) {
  return {of.begin(), of.end()};
}

TEST(Header, AnObjectWithoutAnythingIsFreeForAll) {
  for (const Header& each : {Header(), header("{}"), header(R"({"name":"a","namespace":"b"})")}) {
    EXPECT_EQ(each.uid(), "");
    EXPECT_THAT(each.owners(), IsEmpty());
    EXPECT_EQ(each.controller(), nullptr);
    EXPECT_THAT(each.finalizers(), IsEmpty());
    EXPECT_THAT(each.claims(), IsEmpty());
    EXPECT_FALSE(each.terminating());
    EXPECT_EQ(each.grace_seconds(), 0);
  }
}

TEST(Header, OwnersAreInTheirOrder) {
  const Header of = header(
      R"({"uid":"u-1","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"1"},)"
      R"({"uid":"2","name":"j","kind":"Job","apiVersion":"batch/v1","controller":true,"x":[{}]})"
      "]}");
  EXPECT_EQ(of.uid(), "u-1");
  ASSERT_EQ(of.owners().size(), 2U);
  EXPECT_EQ(of.owners()[0].group(), "");
  EXPECT_EQ(of.owners()[0].kind, "Pod");
  EXPECT_FALSE(of.owners()[0].controller);
  ASSERT_EQ(of.controller(), &of.owners()[1]);
  EXPECT_EQ(of.controller()->group(), "batch");
  EXPECT_EQ(of.controller()->api_version, "batch/v1");
  EXPECT_EQ(of.controller()->name, "j");
  EXPECT_EQ(of.controller()->uid, "2");
}

TEST(Header, DeletionWaitsForFinalizersAndGrace) {
  const Header of =
      header(R"({"finalizers":["a/b","c"],"deletionTimestamp":"2026-01-01T00:00:00Z",)"
             R"("deletionGracePeriodSeconds":30})");
  EXPECT_THAT(texts(of.finalizers()), ElementsAre("a/b", "c"));
  EXPECT_TRUE(of.has_finalizer("c"));
  EXPECT_FALSE(of.has_finalizer("a"));
  EXPECT_TRUE(of.terminating());
  EXPECT_EQ(of.grace_seconds(), 30);
}

TEST(Header, ClaimsAreTheNamesInTheirAnnotation) {
  const Header of = header(R"({"annotations":{"x":"p","sluice.dev/claimed-by":"a,b-c"}})");
  EXPECT_THAT(texts(of.claims()), ElementsAre("a", "b-c"));
  EXPECT_TRUE(of.claimed_by("b-c"));
  EXPECT_FALSE(of.claimed_by("b"));
  EXPECT_THAT(header(R"({"labels":{"sluice.dev/claimed-by":"a"}})").claims(), IsEmpty());
}

// Found by searching the text, each of these would be an owner, a deletion or a claim.
TEST(Header, WordsInOtherPlacesMeanNothing) {
  const Header of =
      header(R"({"annotations":{"deletionTimestamp":"x","note":"\"sluice.dev/claimed-by\":\"a\"",)"
             R"("uid":"u","ownerReferences":"[]"},"labels":{"finalizers":"y"}})");
  EXPECT_EQ(of.uid(), "");
  EXPECT_FALSE(of.terminating());
  EXPECT_THAT(of.claims(), IsEmpty());
  EXPECT_THAT(of.owners(), IsEmpty());
  EXPECT_THAT(of.finalizers(), IsEmpty());
}

TEST(Header, WhatIsOfAnotherTypeIsAbsent) {
  const Header of =
      header(R"({"uid":7,"ownerReferences":{},"finalizers":[1,null,"f"],"deletionTimestamp":null,)"
             R"("deletionGracePeriodSeconds":"soon","annotations":[]})");
  EXPECT_EQ(of.uid(), "");
  EXPECT_THAT(of.owners(), IsEmpty());
  EXPECT_THAT(texts(of.finalizers()), ElementsAre("f"));
  EXPECT_FALSE(of.terminating());
  EXPECT_EQ(of.grace_seconds(), 0);
}

TEST(Header, EscapesAreRead) {
  Header copy;
  {
    const Header of = header(R"({"uid":"a\"b","ownerReferences":[{"name":"\u00e4\\","uid":""}]})");
    copy = of;
  }
  EXPECT_EQ(copy.uid(), "a\"b");
  ASSERT_EQ(copy.owners().size(), 1U);
  EXPECT_EQ(copy.owners()[0].name, "ä\\");
  EXPECT_EQ(copy.owners()[0].uid, "");
}

TEST(Header, EqualTextsAreEqualAndACopyIsTheSame) {
  const Header one = header(R"({"uid":"u"})"), same = header(R"({"uid":"u"})"), copy = one;
  EXPECT_EQ(one, same);
  EXPECT_FALSE(one.shares(same));
  EXPECT_TRUE(one.shares(copy));
  EXPECT_FALSE(one == header("{}"));
}

}  // namespace
}  // namespace sluice::host
