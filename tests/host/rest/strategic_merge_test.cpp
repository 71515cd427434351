// Strategic merge patches of a Job: lists by key, values, directives, order.
#include "host/rest/strategic_merge.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

const api::SchemaNode& pod_schema() {
  static const api::Scheme scheme;
  return *scheme.schema("v1", "Pod");
}

std::string merged(const std::string& target, const std::string& patch) {
  auto object = json::parse(target).get_object();
  const auto done = strategic_merge(object, json::parse(patch).get_object(), pod_schema());
  if (!done) return std::to_string(done.error().code) + " " + done.error().text;
  return api::to_json(object);
}

/// Inside `spec`, with containers a, b and c.
std::string containers_after(const std::string& spec_patch) {
  const std::string done =
      merged(R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"},)"
             R"({"name":"c","image":"3"}]}})",
             R"({"spec":)" + spec_patch + "}");
  const std::string head = R"({"spec":{"containers":)";
  return done.starts_with(head) ? done.substr(head.size(), done.size() - head.size() - 2) : done;
}

TEST(StrategicMerge, MergesMapsAsAMergePatchDoes) {
  EXPECT_EQ(merged(R"({"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"x":1}})",
                   R"({"metadata":{"labels":{"a":null,"c":"3"}},"spec":{"y":{"z":null,"u":1}}})"),
            R"({"metadata":{"labels":{"b":"2","c":"3"}},"spec":{"x":1,"y":{"u":1}}})");
}

TEST(StrategicMerge, MergesListsByKeyOneInTheOther) {
  EXPECT_EQ(containers_after(R"({"containers":[{"name":"b","image":"9"},{"name":"d"}]})"),
            R"([{"name":"a","image":"1"},{"name":"b","image":"9"},{"name":"c","image":"3"},)"
            R"({"name":"d"}])");
  EXPECT_EQ(
      containers_after(R"({"containers":[{"name":"a","image":null,)"
                       R"("env":[{"name":"X","value":"1"},{"name":"Y","$patch":"delete"}]}]})"),
      R"([{"name":"a","env":[{"name":"X","value":"1"}]},{"name":"b","image":"2"},)"
      R"({"name":"c","image":"3"}])");
}

TEST(StrategicMerge, DeletesAndReplacesEntries) {
  EXPECT_EQ(containers_after(R"({"containers":[{"name":"b","$patch":"delete"}]})"),
            R"([{"name":"a","image":"1"},{"name":"c","image":"3"}])");
  EXPECT_EQ(containers_after(R"({"containers":[{"$patch":"replace"},{"name":"z"}]})"),
            R"([{"name":"z"}])");
  EXPECT_EQ(merged(R"({"spec":{"securityContext":{"a":1,"b":2}}})",
                   R"({"spec":{"securityContext":{"$patch":"replace","c":3}}})"),
            R"({"spec":{"securityContext":{"c":3}}})");
  EXPECT_EQ(merged(R"({"spec":{"securityContext":{"a":1}}})",
                   R"({"spec":{"securityContext":{"$patch":"delete"}}})"),
            R"({"spec":{"securityContext":{}}})");
}

TEST(StrategicMerge, HonoursTheOrder) {
  EXPECT_EQ(
      containers_after(R"({"$setElementOrder/containers":[{"name":"c"},{"name":"d"},{"name":"a"}],)"
                       R"("containers":[{"name":"d"}]})"),
      R"([{"name":"b","image":"2"},{"name":"c","image":"3"},{"name":"d"},)"
      R"({"name":"a","image":"1"}])")
      << "b, which the patch does not name, stays before c";
  EXPECT_EQ(containers_after(R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"},)"
                             R"({"name":"c"}]})"),
            R"([{"name":"b","image":"2"},{"name":"a","image":"1"},{"name":"c","image":"3"}])");
}

TEST(StrategicMerge, ListsOfValues) {
  EXPECT_EQ(merged(R"({"metadata":{"finalizers":["a","b"]}})",
                   R"({"metadata":{"finalizers":["b","c"]}})"),
            R"({"metadata":{"finalizers":["a","b","c"]}})");
  EXPECT_EQ(merged(R"({"metadata":{"finalizers":["a","b"]}})",
                   R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],)"
                   R"("$setElementOrder/finalizers":["c","b"],"finalizers":["c"]}})"),
            R"({"metadata":{"finalizers":["c","b"]}})");
  EXPECT_EQ(merged(R"({"spec":{"containers":[{"name":"a","command":["x","y"]}]}})",
                   R"({"spec":{"containers":[{"name":"a","command":["z"]}]}})"),
            R"({"spec":{"containers":[{"name":"a","command":["z"]}]}})");
}

TEST(StrategicMerge, KeepsOnlyTheKeysThatAreRetained) {
  EXPECT_EQ(merged(R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
                   R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],)"
                   R"("hostPath":{"path":"/x"}}]}})"),
            R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/x"}}]}})");
  EXPECT_EQ(merged(R"({"spec":{"volumes":[{"name":"v"}]}})",
                   R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name"],"hostPath":{}}]}})")
                .substr(0, 3),
            "400");
}

TEST(StrategicMerge, RefusesMalformedDirectives) {
  for (const std::string patch :
       {R"({"spec":{"containers":[{"image":"x"}]}})", R"({"spec":{"containers":["x"]}})",
        R"({"spec":{"$patch":"drop"}})", R"({"spec":{"$retainKeys":"x"}})",
        R"({"metadata":{"$deleteFromPrimitiveList/finalizers":"a"}})",
        R"({"metadata":{"$setElementOrder/finalizers":{}}})"}) {
    EXPECT_EQ(merged(R"({"metadata":{"finalizers":["a"]},"spec":{}})", patch).substr(0, 4), "400 ")
        << patch;
  }
}

TEST(StrategicMerge, AnEntryThatIsNoObjectIsReplaced) {
  EXPECT_EQ(merged(R"({"spec":{"containers":"x"}})", R"({"spec":{"containers":[{"name":"a"}]}})"),
            R"({"spec":{"containers":[{"name":"a"}]}})");
}

}  // namespace
}  // namespace sluice::host
