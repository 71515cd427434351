// A plugin's configuration against its schema: defaults, and every mistake at once.
#include "host/plugins/config_schema.hpp"

#include <boost/json.hpp>

#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSchema = R"({
  "type": "object",
  "required": ["url"],
  "properties": {
    "url": {"type": "string", "minLength": 3},
    "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 10},
    "share": {"type": "number"},
    "names": {"type": "array", "minItems": 1, "items": {"type": "string"}},
    "inner": {"type": "object", "properties": {"on": {"type": "boolean", "default": true}}},
    "labels": {"type": "object"}
  }
})";

/// The checked configuration as JSON, or the error.
std::string checked(std::string_view config, std::string_view schema = kSchema) {
  const auto compiled = ConfigSchema::parse(schema);
  if (!compiled.ok()) return "schema: " + compiled.error().text;
  const auto value = compiled->check(config);
  return value.ok() ? boost::json::serialize(*value) : value.error().text;
}

TEST(ConfigSchema, FillsDefaultsIn) {
  EXPECT_EQ(checked(R"({"url":"http"})"), R"({"url":"http","mode":"a"})");
  EXPECT_EQ(checked(R"({"url":"http","inner":{}})"),
            R"({"url":"http","inner":{"on":true},"mode":"a"})");
}

// What is given counts, then the host's setting, then the schema's default.
TEST(ConfigSchema, ADefaultMayBeASettingOfTheHost) {
  const auto schema = ConfigSchema::parse(
      R"({"type":"object","properties":{"all":{"type":"boolean","default":false,
          "defaultFrom":"manageAll"}}})");
  ASSERT_TRUE(schema.ok());
  const auto all = [&](const char* config, const char* host) {
    const auto value = schema->check(config, host);
    return value.ok() ? boost::json::serialize(*value) : value.error().text;
  };
  EXPECT_EQ(all("{}", ""), R"({"all":false})");
  EXPECT_EQ(all("{}", R"({"other":true})"), R"({"all":false})");
  EXPECT_EQ(all("{}", R"({"manageAll":true})"), R"({"all":true})");
  EXPECT_EQ(all(R"({"all":false})", R"({"manageAll":true})"), R"({"all":false})");
  EXPECT_THAT(all("{}", R"({"manageAll":1})"), HasSubstr("config.all: must be of type boolean"));
}

TEST(ConfigSchema, NamesPathFoundAndAllowed) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({})", "config.url: is required"},
      {R"({"url":7})", "config.url: must be of type string, found 7 (integer)"},
      {R"({"url":"ab"})", "config.url: found a length of 2, at least 3 is allowed"},
      {R"({"url":"ab","mode":"a"})", "at least 3 is allowed"},
      {R"({"url":"éé"})", "found a length of 2"},  // characters, not bytes
      {R"({"url":"abc","mode":"c"})", R"(config.mode: found "c" (string), allowed are "a", "b")"},
      {R"({"url":"abc","limit":0})", "config.limit: found 0 (integer), at least 1 is allowed"},
      {R"({"url":"abc","limit":11})", "config.limit: found 11 (integer), at most 10 is allowed"},
      {R"({"url":"abc","limit":1.5})", "config.limit: must be of type integer, found 1.5"},
      {R"({"url":"abc","limit":true})", "must be of type integer, found true (boolean)"},
      {R"({"url":"abc","names":[]})", "config.names: found 0 items, at least 1 is allowed"},
      {R"({"url":"abc","names":["a",3]})", "config.names[1]: must be of type string, found 3"},
      {R"({"url":"abc","inner":{"off":1}})", "config.inner.off: unknown key; allowed are on"},
      {R"({"url":"abc","ulr":1})", "config.ulr: unknown key; allowed are url, mode, limit"},
      {R"([])", "config: must be of type object, found [] (array)"},
      {R"({"url")", "config: it is not valid JSON"},
  };
  for (const auto& [config, error] : rows) EXPECT_THAT(checked(config), HasSubstr(error)) << config;
}

TEST(ConfigSchema, AllMistakesAtOnce) {
  EXPECT_EQ(checked(R"({"limit":0,"x":1})"),
            "config.url: is required; config.limit: found 0 (integer), at least 1 is allowed; "
            "config.x: unknown key; allowed are url, mode, limit, share, names, inner, labels");
}

TEST(ConfigSchema, WhatIsFineStaysAsItIs) {
  EXPECT_EQ(checked(R"({"url":"abc","mode":"b","share":1,"labels":{"any":["thing"]}})"),
            R"({"url":"abc","mode":"b","share":1,"labels":{"any":["thing"]}})");
}

TEST(ConfigSchema, WithoutASchemaNothingIsTaken) {
  EXPECT_EQ(checked("{}", ""), "{}");
  EXPECT_EQ(checked("", ""), "{}");
  EXPECT_EQ(checked(R"({"a":1})", ""), "config.a: unknown key; no keys are allowed here");
}

TEST(ConfigSchema, SchemasThatAreNotUnderstoodAreRefused) {
  EXPECT_THAT(checked("{}", "no json"), HasSubstr("schema: it is not valid JSON"));
  EXPECT_EQ(checked("{}", R"({"oneOf":[]})"), "schema: /oneOf: this keyword is not supported");
  EXPECT_EQ(checked("{}", R"({"type":"thing","properties":{"a":{"min":1},"b":{"enum":7}}})"),
            "schema: /type: not the name of a type; /properties/a/min: this keyword is not "
            "supported; /properties/b/enum: not an array");
  EXPECT_EQ(checked("{}", R"({"properties":{"a":{"type":"text"}}})"),
            "schema: /properties/a/type: not the name of a type");
  EXPECT_THAT(checked("{}", R"({"properties":{"a":7}})"), HasSubstr("a schema is an object"));
}

}  // namespace
}  // namespace sluice::host
