// The SDK's small JSON: what goes in comes out, and what is wrong says where.
#include <gtest/gtest.h>

#include <sluice/cpp/json.hpp>

namespace sluice {
namespace {

TEST(SdkJson, WritesWhatItRead) {
  for (const char* text :
       {"null", "true", "false", "0", "-1.50e+3", "12345678901234567890123", R"("a\"b\\c")", "[]",
        "[1,[2,{}],\"x\"]", "{}", R"({"b":1,"a":{"c":[null]}})", "\"\xC3\xA9\"", "\"\\u0001\""})
    EXPECT_EQ(Json::parse(text).dump(), text);
  EXPECT_EQ(Json::parse(" { \"a\" : [ 1 , 2 ] } ").dump(), R"({"a":[1,2]})");
  EXPECT_EQ(Json::parse(R"("\u00e9\ud83d\ude00\/\n\t")").as_string(),
            "\xC3\xA9\xF0\x9F\x98\x80/\n\t");
}

TEST(SdkJson, SaysWhereItIsWrong) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"", "byte 0: no value"},
      {"tru", "byte 0: no value"},
      {"01", "byte 1: something follows"},
      {"-", "byte 1: no value"},
      {"1.", "byte 2: digits are missing"},
      {"1e", "byte 2: digits are missing"},
      {"[1,]", "byte 3: no value"},
      {"[1 2]", "byte 3: `,` or `]` is missing"},
      {"{\"a\" 1}", "byte 5: `:` is missing"},
      {"{a:1}", "byte 1: a member name must be in quotes"},
      {"\"abc", "byte 4: a text does not end"},
      {"\"\n\"", "byte 2: a control character"},
      {R"("\x")", "byte 3: an unknown escape"},
      {R"("\u12")", "byte 3: a \\u escape needs four digits"},
      {R"("\ud800")", "half a surrogate pair"},
      {R"("\udc00")", "half a surrogate pair"},
  };
  for (const auto& [text, error] : rows) {
    try {
      Json::parse(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const JsonError& e) {
      EXPECT_NE(std::string(e.what()).find(error), std::string::npos) << text << ": " << e.what();
    }
  }
  EXPECT_THROW(Json::parse(std::string(100'000, '[')), JsonError);
}

TEST(SdkJson, FindsByPath) {
  const Json json = Json::parse(R"({"spec":{"n":7,"s":"x","on":true,"list":[{"k":"v"}],"f":1.5}})");
  EXPECT_EQ(json.int_or("spec.n", 0), 7);
  EXPECT_EQ(json.string_or("spec.s", ""), "x");
  EXPECT_TRUE(json.bool_or("spec.on", false));
  EXPECT_EQ(json.string_or("spec.list.0.k", ""), "v");
  // Absent, or of another type: the second argument.
  EXPECT_EQ(json.int_or("spec.s", 3), 3);
  EXPECT_EQ(json.int_or("spec.f", 3), 3);
  EXPECT_EQ(json.string_or("spec.n", "d"), "d");
  EXPECT_FALSE(json.bool_or("spec.off", false));
  EXPECT_EQ(json.find("spec.list.1"), nullptr);
  EXPECT_EQ(json.find("spec.list.x"), nullptr);
  EXPECT_EQ(json.find(""), &json);
}

TEST(SdkJson, IsBuiltByHand) {
  Json json;
  json["spec"]["name"] = "x";
  json["spec"]["count"] = 3;
  json["items"].push_back(true);
  json["spec"]["name"] = "y";
  EXPECT_EQ(json.dump(), R"({"spec":{"name":"y","count":3},"items":[true]})");
}

}  // namespace
}  // namespace sluice
