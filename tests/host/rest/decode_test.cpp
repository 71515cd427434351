// Request bodies: what is read, what is refused and how, media types.
#include "host/rest/decode.hpp"

#include <gtest/gtest.h>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

std::string error_of(const ApiResult<DecodedBody>& result, int code = 400) {
  EXPECT_FALSE(result.ok());
  if (result.ok()) return {};
  EXPECT_EQ(result.error().code, code);
  return result.error().text;
}

TEST(DecodeJson, ReadsNumbersExactly) {
  const auto body = decode_json(R"( {"a":0.3,"b":12345678901234567,"c":[true,null,"x"]} )");
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(api::to_json(body->value), R"({"a":0.3,"b":12345678901234567,"c":[true,null,"x"]})");
  EXPECT_TRUE(body->problems.empty());
}

TEST(DecodeJson, NamesRepeatedKeysWithTheirPath) {
  const auto body = decode_json(
      R"({"spec":{"x":1,"list":[{"a":1},{"a":1,"b":{"c":2,"c":3},"a":2}],"x":2},"spec":{"y":1}})");
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(body->problems,
            (std::vector<std::string>{"duplicate field \"spec.list[1].b.c\"",
                                      "duplicate field \"spec.list[1].a\"",
                                      "duplicate field \"spec.x\"", "duplicate field \"spec\""}));
  EXPECT_EQ(api::to_json(body->value), R"({"spec":{"y":1}})");
}

TEST(DecodeJson, TheSameKeyThreeTimesIsOneProblem) {
  const auto body = decode_json(R"({"a":1,"a":2,"a":3})");
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(body->problems, std::vector<std::string>{"duplicate field \"a\""});
}

TEST(DecodeJson, RefusesWhatIsNoJson) {
  EXPECT_EQ(error_of(decode_json("")), "the body is empty where JSON is expected");
  EXPECT_EQ(
      error_of(decode_json("{\n \"a\": tru}")).find("the body is not valid JSON: line 2, column "),
      0u);
  EXPECT_NE(error_of(decode_json(R"({"a":)")).find("the text ends inside a value"),
            std::string::npos);
  EXPECT_NE(error_of(decode_json("{} {}")).find("something stands behind the value"),
            std::string::npos);
  error_of(decode_json("{\"a\":\"\xff\"}"));
  error_of(decode_json(R"({"a":1e999})"));
  error_of(decode_json(R"({'a':1})"));
}

TEST(DecodeJson, LimitsDepthAndLength) {
  const std::string deep(100'000, '[');
  EXPECT_NE(error_of(decode_json(deep)).find("nested deeper than 100 levels"), std::string::npos);
  std::string object;
  for (int i = 0; i < 100'000; ++i) object += R"({"a":)";
  EXPECT_NE(error_of(decode_json(object)).find("nested deeper"), std::string::npos);
  EXPECT_TRUE(decode_json(std::string(100, '[') + std::string(100, ']')).ok());
  EXPECT_FALSE(decode_json(std::string(101, '[') + std::string(101, ']')).ok());
  DecodeLimits limits;
  limits.bytes = 10;
  EXPECT_EQ(error_of(decode_json(std::string(11, ' '), limits), 413),
            "Request entity too large: limit is 10 bytes");
}

TEST(DecodeYaml, ReadsOneDocument) {
  const auto body = decode_yaml("spec:\n  count: 3\n  name: \"yes\"\n");
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(api::to_json(body->value), R"({"spec":{"count":3,"name":"yes"}})");
}

TEST(DecodeYaml, RefusesWhatItCannotMean) {
  EXPECT_NE(error_of(decode_yaml("a: 1\n---\nb: 2\n")).find("more than one"), std::string::npos);
  EXPECT_NE(error_of(decode_yaml("a: 1\na: 2\n")).find("duplicate key"), std::string::npos);
  EXPECT_NE(error_of(decode_yaml("# nothing\n")).find("empty"), std::string::npos);
  EXPECT_NE(error_of(decode_yaml("a: \xff")).find("UTF-8"), std::string::npos);
  error_of(decode_yaml(std::string(100'000, '[')));
  std::string nested;
  for (std::size_t i = 0; i < 200; ++i) nested += std::string(i, ' ') + "a:\n";
  EXPECT_NE(error_of(decode_yaml(nested)).find("nested deeper"), std::string::npos);
  error_of(decode_yaml("a: [1"));
}

TEST(DecodePatch, AppliedConfigurationsMayBeYaml) {
  for (const std::string text : {R"({"a":1})", "a: 1\n", "{a: 1}"}) {
    const auto body = decode_patch(text, PatchType::kApply);
    ASSERT_TRUE(body.ok()) << text;
    EXPECT_EQ(api::to_json(body->value), R"({"a":1})");
  }
  EXPECT_FALSE(decode_patch("a: 1\n", PatchType::kMerge).ok());
}

TEST(MediaTypes, OfBodies) {
  EXPECT_EQ(*body_format(""), BodyFormat::kJson);
  EXPECT_EQ(*body_format("Application/JSON; charset=utf-8"), BodyFormat::kJson);
  EXPECT_EQ(*body_format("application/yaml"), BodyFormat::kYaml);
  EXPECT_EQ(*body_format("application/vnd.kubernetes.protobuf"), BodyFormat::kProtobuf);
  EXPECT_EQ(body_format("text/plain").error().code, 415);
}

TEST(MediaTypes, OfPatches) {
  EXPECT_EQ(*patch_type("application/json-patch+json", false), PatchType::kJson);
  EXPECT_EQ(*patch_type("application/merge-patch+json", false), PatchType::kMerge);
  EXPECT_EQ(*patch_type("application/apply-patch+yaml", false), PatchType::kApply);
  EXPECT_EQ(*patch_type("application/strategic-merge-patch+json", true), PatchType::kStrategic);
  const auto custom = patch_type("application/strategic-merge-patch+json", false);
  ASSERT_FALSE(custom.ok());
  EXPECT_EQ(custom.error().code, 415);
  EXPECT_EQ(custom.error().reason, "UnsupportedMediaType");
  EXPECT_FALSE(patch_type("application/json", true).ok());
  EXPECT_FALSE(patch_type("", true).ok());
}

TEST(StrictDecoding, ListsAllProblems) {
  EXPECT_EQ(strict_decoding_error({"duplicate field \"a\"", "unknown field \"b\""}).text,
            "strict decoding error: duplicate field \"a\", unknown field \"b\"");
}

}  // namespace
}  // namespace sluice::host
