// Lists: pages, versions, selectors.
#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <set>

#include "tests/host/apiserver/api_fixture.hpp"

namespace sluice::host {
namespace {

using test::Answer;
using test::kMaps;
using test::names;

class Lists : public test::ApiFixture {
 protected:
  explicit Lists(ApiLimits limits = {}, HistoryLimits history = {})
      : test::ApiFixture(limits, history) {}

  static std::string token(const boost::json::object& list) {
    const auto& metadata = list.at("metadata").as_object();
    return metadata.contains("continue") ? std::string(metadata.at("continue").as_string()) : "";
  }
  static std::string version(const boost::json::object& list) {
    return std::string(list.at("metadata").at("resourceVersion").as_string());
  }
};

TEST_F(Lists, HaveTheirFormWhenEmpty) {
  const Answer answer = get(kMaps);
  EXPECT_NE(answer.body.find(R"("items":[])"), std::string::npos);
  const auto list = json(answer);
  EXPECT_EQ(list.at("kind"), "ConfigMapList");
  EXPECT_EQ(list.at("apiVersion"), "v1");
  EXPECT_EQ(version(list), std::to_string(store_.version()));
}

TEST_F(Lists, ComeInPagesOfOneMoment) {
  std::string all;
  for (int i = 100; i < 150; ++i) {
    writes_.put("configmaps", "open/n" + std::to_string(i));
    all += (all.empty() ? "n" : " n") + std::to_string(i);
  }
  auto page = json(get(kMaps + "?limit=7"));
  const std::string at = version(page);
  EXPECT_EQ(page.at("metadata").at("remainingItemCount"), 43);
  std::string seen = names(page);
  int changes = 0;
  while (!token(page).empty()) {
    // What happens meanwhile is not seen, wherever it is.
    writes_.put("configmaps", "open/n100x" + std::to_string(++changes));
    writes_.put("configmaps", "open/n999" + std::to_string(changes));
    if (changes == 2) writes_.erase("configmaps", "open/n149");
    page = json(get(kMaps + "?limit=7&continue=" + token(page)));
    EXPECT_EQ(version(page), at);
    seen += " " + names(page);
  }
  EXPECT_EQ(seen, all);
  EXPECT_EQ(changes, 7);
}

// How long labels are is up to who makes the objects: 60 of 50 KB are 3 MB, of which one is looked
// at on the thread that others wait for.
TEST_F(Lists, WhatIsMuchToLookThroughIsLookedThroughBesideTheThread) {
  std::string labels = R"({"a":"1")";
  for (int i = 0; i < 2'500; ++i) labels += ",\"k" + std::to_string(10'000 + i) + "\":\"value\"";
  for (int i = 100; i < 160; ++i)
    writes_.put("configmaps", "open/n" + std::to_string(i),
                labels + (i == 158 ? R"(,"z":"1"})" : "}"));
  EXPECT_EQ(names(json(get(kMaps + "?limit=1&labelSelector=a"))), "n100");
  EXPECT_EQ(writes_.asides(), 0) << "little was looked at";
  for (const char* query : {"?labelSelector=z", "?limit=5&labelSelector=z"})
    EXPECT_EQ(names(json(get(kMaps + query))), "n158") << query;
  EXPECT_GT(writes_.asides(), 0);
  writes_.take_none_aside();
  EXPECT_EQ(get(kMaps + "?labelSelector=z").status, 429);
  EXPECT_EQ(send("DELETE", kMaps + "?labelSelector=z", "").status, 429);
}

TEST_F(Lists, ComeInPagesOfMatches) {
  for (int i = 100; i < 160; ++i)
    writes_.put("configmaps", "open/n" + std::to_string(i),
                i % 3 == 0 ? R"({"third":"yes"})" : "{}");
  std::string seen;
  std::string next;
  int pages = 0;
  do {
    const auto page = json(get(kMaps + "?limit=6&labelSelector=third%3Dyes" +
                               (next.empty() ? "" : "&continue=" + next)));
    EXPECT_FALSE(page.at("metadata").as_object().contains("remainingItemCount"));
    seen += names(page) + " ";
    next = token(page);
    ++pages;
  } while (!next.empty());
  EXPECT_EQ(seen,
            "n102 n105 n108 n111 n114 n117 n120 n123 n126 n129 n132 n135 n138 n141 n144 n147 n150 "
            "n153 n156 n159 ");
  EXPECT_EQ(pages, 4);
}

TEST_F(Lists, AreSelected) {
  writes_.put("configmaps", "open/a", R"({"app":"x"})");
  writes_.put("configmaps", "open/b", R"({"app":"y"})");
  writes_.put("configmaps", "other/a", R"({"app":"x"})");
  const struct {
    std::string path, expected;
  } cases[] = {
      {"/api/v1/configmaps", "a b a"},
      {kMaps, "a b"},
      {kMaps + "?labelSelector=app+in+%28x%2Cz%29", "a"},
      {kMaps + "?labelSelector=%21app", ""},
      {kMaps + "?fieldSelector=metadata.name%3Db", "b"},
      {kMaps + "?fieldSelector=metadata.name%3Db&labelSelector=app%3Dx", ""},
      {kMaps + "?fieldSelector=metadata.name%21%3Db", "a"},
      {"/api/v1/configmaps?fieldSelector=metadata.name%3Da", "a a"},
      {"/api/v1/configmaps?fieldSelector=metadata.namespace%3Dother", "a"},
      {"/api/v1/configmaps?fieldSelector=metadata.name%3Da,metadata.namespace%3Dother", "a"},
      {kMaps + "?fieldSelector=metadata.name%3Da,metadata.namespace%3Dother", ""},
      {kMaps + "?fieldSelector=metadata.name%3Da&resourceVersion=0&limit=500", "a"},
  };
  for (const auto& one : cases) EXPECT_EQ(names(json(get(one.path))), one.expected) << one.path;
}

TEST_F(Lists, ObeyVersions) {
  const std::string one = std::to_string(writes_.put("configmaps", "open/a"));
  const std::string two = std::to_string(writes_.put("configmaps", "open/b"));
  const std::string later = std::to_string(std::stoull(two) + 100);
  const struct {
    std::string query;
    int status;
    std::string expected;
  } cases[] = {
      {"?resourceVersion=0", 200, "a b"},
      {"?resourceVersion=" + one, 200, "a b"},
      {"?resourceVersion=" + one + "&resourceVersionMatch=NotOlderThan", 200, "a b"},
      {"?resourceVersion=" + one + "&resourceVersionMatch=Exact", 200, "a"},
      {"?resourceVersion=" + two + "&resourceVersionMatch=Exact", 200, "a b"},
      {"?resourceVersion=" + later, 504, ""},
      {"?resourceVersion=" + later + "&resourceVersionMatch=Exact", 504, ""},
      {"?resourceVersion=x", 400, ""},
      {"?resourceVersion=-1", 400, ""},
      {"?resourceVersionMatch=Exact", 422, ""},
      {"?resourceVersion=0&resourceVersionMatch=Exact", 422, ""},
      {"?resourceVersion=1&resourceVersionMatch=Somehow", 400, ""},
      {"?sendInitialEvents=true", 422, ""},
      {"?limit=x", 400, ""},
      {"?limit=-1", 400, ""},
      {"?continue=nonsense", 400, ""},
      {"?continue=%00%ff", 400, ""},
      {"?labelSelector=%28%28", 400, ""},
      {"?fieldSelector=spec.colour%3Dred", 400, ""},
  };
  for (const auto& test : cases) {
    const Answer answer = get(kMaps + test.query);
    EXPECT_EQ(answer.status, test.status) << test.query << answer.body;
    if (test.status == 200) {
      EXPECT_EQ(names(json(answer)), test.expected) << test.query;
    }
  }
  EXPECT_NE(get(kMaps + "?resourceVersion=" + later).body.find("ResourceVersionTooLarge"),
            std::string::npos);
}

class ShortLists : public Lists {
 protected:
  ShortLists() : Lists({.chunk_objects = 10}, {.changes = 20}) {}
};

TEST_F(ShortLists, ExpireWithTheirHistory) {
  for (int i = 0; i < 5; ++i) writes_.put("configmaps", "open/a" + std::to_string(i));
  const auto page = json(get(kMaps + "?limit=2"));
  for (int i = 0; i < 60; ++i) writes_.put("configmaps", "open/b");
  const Answer answer = get(kMaps + "?limit=2&continue=" + token(page));
  EXPECT_EQ(answer.status, 410);
  EXPECT_NE(answer.body.find("\"Expired\""), std::string::npos);
}

TEST_F(ShortLists, ThatAreLongAreSentInPieces) {
  const std::string filler(50'000, 'f');
  for (int i = 100; i < 200; ++i)
    writes_.put("configmaps", "open/n" + std::to_string(i), "{}",
                R"({"data":{"f":")" + filler + "\"}}");
  const Answer answer = get(kMaps);
  EXPECT_EQ(answer.headers.at("transfer-encoding"), "chunked");
  const auto list = json(answer);
  EXPECT_EQ(list.at("items").as_array().size(), 100U);
  EXPECT_GT(answer.body.size(), 5'000'000U);
}

}  // namespace
}  // namespace sluice::host
