// Names and shapes.
#include "../shape.hpp"

#include <gtest/gtest.h>

namespace pods {
namespace {

using sluice::Json;

// sha1("Pod\n\nfoo\nuid-1") = 41176…, the formula for names of jobs' workloads with kind Pod in the
// core group.
TEST(Names, AreMadeAsKueueMakesThem) {
  EXPECT_EQ(workload_name("foo", "uid-1"), "pod-foo-41176");
  const std::string long_name = workload_name(std::string(253, 'a'), "uid-1");
  EXPECT_EQ(long_name.size(), 253U);
  EXPECT_TRUE(long_name.starts_with("pod-aaa"));
  EXPECT_EQ(long_name[247], '-');
}

constexpr const char* kPlain = R"({"containers":[{"name":"c","image":"x","command":["a"],
  "env":[{"name":"N","value":"1"}],"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]})";

TEST(Shapes, AreOfWhatDecidesWhereAPodFits) {
  struct Row {
    const char* spec;
    bool same;
    const char* what;
  };
  for (const Row& row : {
           Row{R"({"containers":[{"name":"other","image":"y","command":["b"],
               "resources":{"requests":{"memory":"1Gi","cpu":"1"}}}],"volumes":[]})",
               true, "names, images, commands, volumes; the order of members"},
           Row{R"({"containers":[{"resources":{"requests":{"cpu":"2","memory":"1Gi"}}}]})", false,
               "requests"},
           Row{R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],
               "nodeSelector":{"a":"b"}})",
               false, "node selector"},
           Row{R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],
               "initContainers":[{"resources":{"requests":{"cpu":"1"}}}]})",
               false, "containers that run first"},
           Row{R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],
               "overhead":{"cpu":"1"}})",
               false, "overhead"},
       })
    EXPECT_EQ(role_of(Json::parse(kPlain)) == role_of(Json::parse(row.spec)), row.same) << row.what;
  EXPECT_EQ(role_of(Json::parse(kPlain)).size(), 8U);
}

TEST(Shapes, WhatIsAskedForIsPartOfIt) {
  const Json selected = Json::parse(R"({"nodeSelector":{"a":"b"},
    "containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]})");
  EXPECT_EQ(asks_of(Json::parse(kPlain)), asks_of(selected));
  EXPECT_NE(asks_of(Json::parse(kPlain)), asks_of(Json::parse(R"({"containers":[{}]})")));
}

}  // namespace
}  // namespace pods
