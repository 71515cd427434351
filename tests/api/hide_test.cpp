// Fields of contributions that are absent: kept with their places, put back when they are known.
#include <gmock/gmock.h>

#include "tests/api/objects.hpp"

namespace sluice::api {
namespace {

using testing::core_scheme;
using testing::equal;
using testing::object;

constexpr const char* kContribution = R"({
  "kind": "Workload", "group": "kueue.x-k8s.io",
  "versions": [{"version": "v1beta2", "fields": [
    {"path": "spec.paint", "type": "object"},
    {"path": "spec.paint.colour", "type": "string"},
    {"path": "spec.podSets[].shade", "type": "integer"},
    {"path": "status.painted", "type": "boolean"}]}]})";

const Scheme& painted_scheme() {
  static const Scheme scheme = [] {
    Scheme made;
    EXPECT_TRUE(made.add(kContribution, "paint").ok());
    return made;
  }();
  return scheme;
}

const KindInfo& workload(const Scheme& scheme) { return *scheme.find_by_name("Workload"); }

const std::string kHead = R"("apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",)"
                          R"("metadata":{"name":"x","strange":1})";

TEST(HideUnknown, TakesFieldsOutAndPutsThemBack) {
  struct Case {
    std::string name, whole, shown, hidden;
  };
  const std::vector<Case> cases = {
      {"nothing unknown", R"("spec":{"queueName":"q"})", R"("spec":{"queueName":"q"})", ""},
      {"an object as a whole", R"("spec":{"paint":{"colour":"red"},"queueName":"q"})",
       R"("spec":{"queueName":"q"})", R"([{"at":["spec","paint"],"value":{"colour":"red"}}])"},
      {"in an element, found by its key",
       R"("spec":{"podSets":[{"name":"a"},{"name":"b","shade":3}]})",
       R"("spec":{"podSets":[{"name":"a"},{"name":"b"}]})",
       R"([{"at":["spec","podSets",{"name":"b"},"shade"],"value":3}])"},
      {"all of the status", R"("status":{"painted":true})", R"("status":{})",
       R"([{"at":["status","painted"],"value":true}])"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string whole = "{" + kHead + "," + c.whole + "}";
    auto it = object(whole);
    EXPECT_EQ(core_scheme().hide_unknown(workload(core_scheme()), it, ""), c.hidden);
    EXPECT_TRUE(equal(it, "{" + kHead + "," + c.shown + "}"));
    // Again: nothing more to hide, and nothing is lost.
    EXPECT_EQ(core_scheme().hide_unknown(workload(core_scheme()), it, c.hidden), c.hidden);
    EXPECT_EQ(painted_scheme().hide_unknown(workload(painted_scheme()), it, c.hidden), "");
    EXPECT_TRUE(equal(it, whole));
  }
}

TEST(HideUnknown, WhatWasChangedMeanwhileStays) {
  const std::string hidden = R"([{"at":["spec","paint"],"value":{"colour":"red"}},)"
                             R"({"at":["spec","podSets",{"name":"gone"},"shade"],"value":3},)"
                             R"({"at":["spec","podSets",{"name":"b"},"shade"],"value":4},)"
                             R"({"at":["status","painted"],"value":true}])";
  auto it = object("{" + kHead +
                   R"(,"spec":{"paint":{"colour":"blue"},"podSets":[{"name":"c"},{"name":"b"}]}})");
  const std::string left = painted_scheme().hide_unknown(workload(painted_scheme()), it, hidden);
  EXPECT_TRUE(equal(it, "{" + kHead +
                            R"(,"spec":{"paint":{"colour":"blue"},)"
                            R"("podSets":[{"name":"c"},{"name":"b","shade":4}]},)"
                            R"("status":{"painted":true}})"));
  EXPECT_EQ(left, R"([{"at":["spec","paint"],"value":{"colour":"red"}},)"
                  R"({"at":["spec","podSets",{"name":"gone"},"shade"],"value":3}])");
}

TEST(HideUnknown, WhatIsNoKeptFieldIsLeftAlone) {
  const std::string head = "{" + kHead + R"(,"spec":{"podSets":[{"name":"a"}]}})";
  for (const char* hidden : {R"([5])", R"([{"at":[],"value":1}])", R"([{"at":[1],"value":1}])",
                             R"([{"at":["spec","podSets",7,"shade"],"value":1}])",
                             R"([{"at":["spec","podSets",-1,"shade"],"value":1}])",
                             R"([{"at":["spec","podSets","a","shade"],"value":1}])",
                             R"([{"at":["spec","podSets",{"name":"a"},{"b":1}],"value":1}])"}) {
    auto it = object(head);
    EXPECT_EQ(painted_scheme().hide_unknown(workload(painted_scheme()), it, hidden), hidden);
    EXPECT_TRUE(equal(it, head)) << hidden;
  }
}

TEST(FieldsMark, DiffersWhereTheFieldsOfTheKindDo) {
  const Scheme other;
  EXPECT_EQ(core_scheme().fields_mark(workload(core_scheme())), other.fields_mark(workload(other)));
  EXPECT_NE(core_scheme().fields_mark(workload(core_scheme())),
            painted_scheme().fields_mark(workload(painted_scheme())));
  EXPECT_EQ(core_scheme().fields_mark(*core_scheme().find_by_name("Cohort")),
            painted_scheme().fields_mark(*painted_scheme().find_by_name("Cohort")));
  EXPECT_EQ(core_scheme().fields_mark(workload(core_scheme())).substr(0, 8), "v1beta2/");
}

}  // namespace
}  // namespace sluice::api
