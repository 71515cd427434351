// JSON patches, operation by operation, and what they may not do.
#include "host/rest/json_patch.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::string json_patched(const std::string& target, const std::string& patch) {
  auto value = boost::json::parse(target);
  const auto done = json_patch(value, boost::json::parse(patch));
  if (!done) return std::to_string(done.error().code) + " " + done.error().text;
  return api::to_json(value);
}

TEST(JsonPatch, Operations) {
  struct Case {
    std::string target, patch, result;
  };
  for (const Case& each : std::vector<Case>{
           {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
           {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
           {R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
           {R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
           {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])", R"({"a":[2]})"},
           {R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
           {R"({"a":1})", R"([{"op":"replace","path":"/a","value":null}])", R"({"a":null})"},
           {R"({"a":1})", R"([{"op":"replace","path":"","value":{"c":1}}])", R"({"c":1})"},
           {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])",
            R"({"a":{},"c":1})"},
           {R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/a/c"}])",
            R"({"a":{"b":1,"c":{"b":1}}})"},
           {R"({"a/b":{"c~d":1}})", R"([{"op":"replace","path":"/a~1b/c~0d","value":2}])",
            R"({"a/b":{"c~d":2}})"},
           {R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])", R"({"a":1})"},
           {R"({"a":{"x":1,"y":[2]}})", R"([{"op":"test","path":"/a","value":{"y":[2],"x":1}}])",
            R"({"a":{"x":1,"y":[2]}})"},
           {R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])", R"({"a":1})"},
           {R"({"a":1})", R"([])", R"({"a":1})"},
       }) {
    EXPECT_EQ(json_patched(each.target, each.patch), each.result) << each.patch;
  }
}

TEST(JsonPatch, WhatCannotBeDoneIsUnprocessable) {
  for (const std::string patch :
       {R"([{"op":"remove","path":"/x"}])", R"([{"op":"replace","path":"/x","value":1}])",
        R"([{"op":"test","path":"/a","value":2}])", R"([{"op":"test","path":"/x","value":2}])",
        R"([{"op":"add","path":"/x/y","value":1}])", R"([{"op":"add","path":"/l/3","value":1}])",
        R"([{"op":"add","path":"/l/01","value":1}])", R"([{"op":"add","path":"/a/b","value":1}])",
        R"([{"op":"move","from":"/x","path":"/y"}])", R"([{"op":"move","from":"","path":"/y"}])",
        R"([{"op":"copy","from":"/x","path":"/y"}])", R"([{"op":"remove","path":""}])",
        R"([{"op":"remove","path":"/l/-"}])"}) {
    EXPECT_EQ(json_patched(R"({"a":1,"l":[1,2]})", patch).substr(0, 4), "422 ") << patch;
  }
  EXPECT_EQ(json_patched(R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])"),
            "422 the JSON patch cannot be applied: operation 0 (test /a): the value is 1");
}

TEST(JsonPatch, WhatIsNoPatchIsABadRequest) {
  for (const std::string patch :
       {R"({"a":1})", R"([1])", R"([{"op":"drop","path":"/a"}])", R"([{"op":"add","path":"/a"}])",
        R"([{"op":"remove"}])", R"([{"op":"remove","path":"a"}])",
        R"([{"op":"remove","path":"/~2"}])", R"([{"op":"move","path":"/a"}])", "null"}) {
    EXPECT_EQ(json_patched(R"({"a":1})", patch).substr(0, 4), "400 ") << patch;
  }
}

TEST(JsonPatch, CopiesCannotMultiplyWithoutEnd) {
  std::string patch = "[";
  for (int i = 0; i < 60; ++i)
    patch += std::string(i ? "," : "") + R"({"op":"copy","from":"","path":"/a/-"})";
  EXPECT_EQ(json_patched(R"({"a":[]})", patch + "]").substr(0, 4), "422 ");
  patch = "[";
  for (int i = 0; i < 200; ++i)
    patch += std::string(i ? "," : "") + R"({"op":"move","from":"/a","path":"/b"},)" +
             R"({"op":"add","path":"/a","value":{}},{"op":"move","from":"/b","path":"/a/b"})";
  EXPECT_EQ(json_patched(R"({"a":{}})", patch + "]").substr(0, 4), "422 ");
}

TEST(JsonPatch, LongListsCannotBeMovedWithoutEnd) {
  boost::json::value target = boost::json::object();
  target.get_object()["l"] = boost::json::array(100'000, boost::json::value(1));
  std::string patch = "[";
  for (int i = 0; i < 1000; ++i)
    patch += std::string(i ? "," : "") + R"({"op":"add","path":"/l/0","value":1})";
  const auto done = json_patch(target, boost::json::parse(patch + "]"));
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, 422);
}

/// Counts what a document takes.
class CountedMemory final : public json::memory_resource {
 public:
  std::size_t bytes() const { return bytes_; }

 private:
  void* do_allocate(std::size_t size, std::size_t) override {
    bytes_ += size;
    return ::operator new(size);
  }
  void do_deallocate(void* at, std::size_t, std::size_t) override { ::operator delete(at); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::size_t bytes_ = 0;
};

// A value that changes its place stays where it is in memory, also where a document lies in memory
// of its own: 100 moves of 10,000 entries (over 300 kB of values) would copy 30 MB.
TEST(JsonPatch, AMoveCopiesNothing) {
  CountedMemory memory;
  json::value document(json::object(), &memory);
  document.get_object()["a"] = json::array(10'000, json::value(1), &memory);
  json::array patch;
  for (int i = 0; i < 100; ++i)
    patch.push_back(json::object{
        {"op", "move"}, {"from", i % 2 == 0 ? "/a" : "/b"}, {"path", i % 2 == 0 ? "/b" : "/a"}});
  const std::size_t before = memory.bytes();
  const auto done = json_patch(document, patch);
  ASSERT_TRUE(done.ok()) << done.error().text;
  EXPECT_EQ(document.at("a").as_array().size(), 10'000U);
  EXPECT_LT(memory.bytes() - before, 10'000U);
}

TEST(JsonPatch, LimitsTheNumberOfOperations) {
  std::string patch = "[";
  for (int i = 0; i < 10'001; ++i)
    patch += std::string(i ? "," : "") + R"({"op":"test","path":"/a","value":1})";
  EXPECT_EQ(json_patched(R"({"a":1})", patch + "]").substr(0, 4), "413 ");
}

}  // namespace
}  // namespace sluice::host
