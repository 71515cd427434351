// Names and shapes.
#include "../shape.hpp"

#include <gtest/gtest.h>

#include "../digest.hpp"

namespace pods {
namespace {

using sluice::Json;

// Of FIPS 180, and of texts around the end of a block (64 bytes, 8 of them for the length).
TEST(Digest, IsThatOfTheStandard) {
  EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1(std::string(55, 'a')), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
  EXPECT_EQ(sha1(std::string(64, 'a')), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
  EXPECT_EQ(sha1(std::string(1000000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

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
