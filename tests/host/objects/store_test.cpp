#include "host/objects/store.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

api::KindInfo make_kind(const char* name, bool namespaced) {
  api::KindInfo kind;
  kind.group = "example.com";
  kind.kind = name;
  kind.namespaced = namespaced;
  kind.versions.push_back({"v1", true, false, {}});
  return kind;
}

boost::json::object parse(const char* text) { return boost::json::parse(text).get_object(); }

TEST(StoredObject, SplitsAndJoinsAgain) {
  const auto kind = make_kind("Thing", true);
  TextPool pool;
  const auto object = parse(R"({"apiVersion":"example.com/v1","kind":"Thing",
      "metadata":{"name":"a","namespace":"n","labels":{"x":"é\"\n"}},
      "spec":{"list":[1,-2,true,null]},"data":{},"status":{"ready":false}})");
  const StoredObject stored = to_stored(kind, object, pool);
  EXPECT_EQ(stored.key, "n/a");
  EXPECT_EQ(*stored.body, R"({"spec":{"list":[1,-2,true,null]},"data":{}})");
  EXPECT_EQ(stored.status, R"({"ready":false})");
  EXPECT_EQ(to_object(stored), object);
}

TEST(StoredObject, ObjectsThatAreAlikeShareTheirBody) {
  const auto kind = make_kind("Thing", false);
  TextPool pool;
  const auto a = to_stored(kind, parse(R"({"metadata":{"name":"a"},"spec":{"n":1}})"), pool);
  const auto b = to_stored(kind, parse(R"({"metadata":{"name":"b"},"spec":{"n":1}})"), pool);
  EXPECT_EQ(a.key, "a");
  EXPECT_EQ(a.body, b.body);
  EXPECT_TRUE(a.status.empty());
}

class MemoryStoreTest : public testing::Test {
 protected:
  void put(const api::KindInfo& kind, const std::string& name, int n) {
    store_.put(to_stored(kind, {{"metadata", {{"name", name}}}, {"spec", {{"n", n}}}}, pool_));
  }
  std::string body(const api::KindInfo& kind, const std::string& key) {
    const StoredObject* found = store_.find(kind, key);
    return found ? *found->body : "none";
  }

  api::KindInfo thing_ = make_kind("Thing", false);
  api::KindInfo other_ = make_kind("Other", false);
  TextPool pool_;
  MemoryStore store_;
};

TEST_F(MemoryStoreTest, FindsByKindAndKey) {
  put(thing_, "a", 1);
  put(other_, "a", 2);
  EXPECT_EQ(body(thing_, "a"), R"({"spec":{"n":1}})");
  EXPECT_EQ(body(other_, "a"), R"({"spec":{"n":2}})");
  EXPECT_EQ(body(thing_, "b"), "none");
}

TEST_F(MemoryStoreTest, PutReplacesAndEraseForgets) {
  const std::string lengthy(100, 'x');  // a key that does not fit into a small string
  for (const std::string& name : {std::string("a"), lengthy}) {
    put(thing_, name, 1);
    put(thing_, name, 2);
    EXPECT_EQ(body(thing_, name), R"({"spec":{"n":2}})");
    EXPECT_EQ(store_.count(thing_), 1U);
    EXPECT_TRUE(store_.erase(thing_, name));
    EXPECT_FALSE(store_.erase(thing_, name));
    EXPECT_EQ(body(thing_, name), "none");
  }
  EXPECT_FALSE(store_.erase(other_, "a"));
}

TEST_F(MemoryStoreTest, ListsInOrderOfKeys) {
  for (const char* name : {"c", "a", "b"}) put(thing_, name, 1);
  std::string keys;
  for (const StoredObject* object : store_.list(thing_)) keys += object->key;
  EXPECT_EQ(keys, "abc");
  EXPECT_TRUE(store_.list(other_).empty());
}

}  // namespace
}  // namespace sluice::host
