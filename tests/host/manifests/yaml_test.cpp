// YAML as Kubernetes' tools read it.
#include <gmock/gmock.h>

#include "tests/host/manifests/documents.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using testing::read;

TEST(Yaml, PlainScalarsHaveTypes) {
  struct Case {
    const char* yaml;
    const char* json;
  };
  for (const Case& each : {
           Case{"1", "1"},
           Case{"-7", "-7"},
           Case{"+7", "7"},
           Case{"010", "8"},
           Case{"0x1F", "31"},
           Case{"0b11", "3"},
           Case{"0o17", "15"},
           Case{"1_000", "1000"},
           Case{"08", "8E0"},
           Case{"9223372036854775807", "9223372036854775807"},
           Case{"9223372036854775808", "9223372036854775808"},
           Case{"-9223372036854775808", "-9223372036854775808"},
           Case{"1.5", "1.5E0"},
           Case{".5", "5E-1"},
           Case{"1e+3", "1E3"},
           // Without a sign in the exponent it is a text: so "1e3" as a quantity stays one.
           Case{"1e3", "\"1e3\""},
           Case{"100m", "\"100m\""},
           Case{"1Gi", "\"1Gi\""},
           Case{"1.2.3", "\"1.2.3\""},
           Case{"- ", "[null]"},
           Case{"true", "true"},
           Case{"False", "false"},
           Case{"yes", "true"},
           Case{"on", "true"},
           Case{"NO", "false"},
           Case{"y", "true"},
           Case{"n", "false"},
           Case{"yEs", "\"yEs\""},
           Case{"null", "null"},
           Case{"~", "null"},
           Case{"", "null"},
           Case{"'1'", "\"1\""},
           Case{"\"true\"", "\"true\""},
           Case{"!!str 1", "\"1\""},
           Case{"!!int 1", "1"},
           Case{"2026-01-01T00:00:00Z", "\"2026-01-01T00:00:00Z\""},
           Case{"2026-01-01", "\"2026-01-01\""},
           Case{"a: b", "{\"a\":\"b\"}"},
           Case{"|\n  x\n  y\n", "\"x\\ny\\n\""},
       }) {
    const std::string text = each.yaml;
    const std::string yaml =
        text.find(": ") != std::string::npos ? "v: {" + text + "}" : "v: " + text;
    EXPECT_THAT(read(text == "- " ? "v:\n- " : yaml),
                ElementsAre("{\"v\":" + std::string(each.json) + "}"))
        << text;
  }
}

TEST(Yaml, KeysAreTexts) {
  EXPECT_THAT(read("1: a\ntrue: b\n1.5: c\n'2': d\n"),
              ElementsAre(R"({"1":"a","true":"b","1.5":"c","2":"d"})"));
  EXPECT_THAT(read("~: a\n"), ElementsAre("error: in.yaml:1:1: a key must be a text, not null"));
  EXPECT_THAT(read("? [a]\n: b\n"),
              ElementsAre("error: in.yaml:1:3: a key must be a text, not a list or a map"));
}

TEST(Yaml, AliasesAndMerges) {
  EXPECT_THAT(read("a: &x {k: 1}\nb: *x\n"), ElementsAre(R"({"a":{"k":1},"b":{"k":1}})"));
  EXPECT_THAT(read("a: &x {k: 1, m: 2}\nb:\n  <<: *x\n  k: 3\n"),
              ElementsAre(R"({"a":{"k":1,"m":2},"b":{"k":3,"m":2}})"));
  EXPECT_THAT(read("a: &x {k: 1}\nb: &y {k: 2, m: 2}\nc: {<<: [*x, *y]}\n"),
              ElementsAre(R"({"a":{"k":1},"b":{"k":2,"m":2},"c":{"k":1,"m":2}})"));
  EXPECT_THAT(read("a:\n  <<: 1\n"), ElementsAre("error: in.yaml:2:3: << merges maps only"));
}

}  // namespace
}  // namespace sluice::host
