// What a mirror keeps of lists, changes and deletions, and what it counts.
#include "host/remotes/remote_mirror.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;

const api::KindInfo& pods() { return *test::scheme().find("v1", "Pod"); }
const api::KindInfo& nodes() { return *test::scheme().find("v1", "Node"); }

json::object pod(const std::string& name, const std::string& more = {}) {
  return json::parse(R"({"metadata":{"namespace":"a","name":")" + name +
                     R"(","managedFields":[{"manager":"m"}])" + more + "}}")
      .get_object();
}

TEST(RemoteMirror, KeepsObjectsByKindNamespaceAndName) {
  RemoteMirror mirror;
  const RemoteKey key = mirror.put(pods(), "v1", pod("x", R"(,"resourceVersion":"7")")).key;
  EXPECT_EQ(key.key, "a/x");
  ASSERT_NE(mirror.find(key), nullptr);
  EXPECT_EQ(mirror.find(key)->json,
            R"({"metadata":{"namespace":"a","name":"x","resourceVersion":"7"},)"
            R"("apiVersion":"v1","kind":"Pod"})");
  EXPECT_EQ(mirror.find(key)->version, "7");
  EXPECT_EQ(mirror.find({&nodes(), "a/x"}), nullptr);
}

TEST(RemoteMirror, WhatAListDoesNotNameAnyMoreIsGone) {
  RemoteMirror mirror;
  mirror.put(pods(), "v1", pod("old"));
  mirror.put(pods(), "v1", pod("kept"));
  mirror.list_begins(pods());
  mirror.put(pods(), "v1", pod("kept"));
  mirror.put(pods(), "v1", pod("new"));
  std::vector<RemoteKey> gone;
  mirror.list_ends(pods(), gone);
  EXPECT_THAT(gone, ElementsAre(RemoteKey{&pods(), "a/old"}));
  EXPECT_EQ(mirror.size(), 2U);
}

TEST(RemoteMirror, WhatIsListedAgainAsItWasIsNoChange) {
  RemoteMirror mirror;
  EXPECT_TRUE(mirror.put(pods(), "v1", pod("x", R"(,"resourceVersion":"7")")).changed);
  mirror.list_begins(pods());
  EXPECT_FALSE(mirror.put(pods(), "v1", pod("x", R"(,"resourceVersion":"7")")).changed);
  std::vector<RemoteKey> gone;
  mirror.list_ends(pods(), gone);
  EXPECT_THAT(gone, ElementsAre());
  // Of another past under the same version, as a server that went back to a backup has it.
  EXPECT_TRUE(mirror.put(pods(), "v1", pod("x", R"(,"resourceVersion":"7","uid":"u")")).changed);
}

TEST(RemoteMirror, ListsANamespaceByLabels) {
  RemoteMirror mirror;
  mirror.put(pods(), "v1", pod("x", R"(,"labels":{"k":"1"})"));
  mirror.put(pods(), "v1", pod("y", R"(,"labels":{"k":"2"})"));
  const auto one = LabelQuery::parse("k=1");
  EXPECT_EQ(mirror.list(pods(), "a", *one),
            R"([{"metadata":{"namespace":"a","name":"x","labels":{"k":"1"}},)"
            R"("apiVersion":"v1","kind":"Pod"}])");
  EXPECT_EQ(mirror.list(pods(), "b", *LabelQuery::parse("")), "[]");
  EXPECT_EQ(mirror.list(nodes(), "", *LabelQuery::parse("")), "[]");
}

TEST(RemoteMirror, CountsWhatItKeeps) {
  RemoteMirror mirror;
  mirror.put(pods(), "v1", pod("x"));
  const std::size_t one = mirror.bytes();
  mirror.put(pods(), "v1", pod("x"));
  EXPECT_EQ(mirror.bytes(), one);
  mirror.put(pods(), "v1", pod("y"));
  EXPECT_EQ(mirror.bytes(), 2 * one);
  EXPECT_TRUE(mirror.erase({&pods(), "a/x"}));
  EXPECT_FALSE(mirror.erase({&pods(), "a/x"}));
  EXPECT_EQ(mirror.bytes(), one);
  mirror.clear();
  EXPECT_EQ(mirror.bytes(), 0U);
}

TEST(RemoteMirror, TakesNoNameThatAnApiDoesNotHave) {
  RemoteMirror mirror;
  for (const char* name : {"", "a\\u001fb", "\\u0000"}) {
    EXPECT_EQ(mirror.put(pods(), "v1", pod(name)).key.kind, nullptr) << name;
  }
  EXPECT_EQ(
      mirror.put(pods(), "v1", json::object{{"metadata", json::object{{"name", "x"}}}}).key.kind,
      nullptr);  // a pod has a namespace
  EXPECT_EQ(mirror.size(), 0U);
}

}  // namespace
}  // namespace sluice::host
