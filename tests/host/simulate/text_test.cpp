// Texts that the simulation writes: times, UIDs and YAML.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <boost/json/parse.hpp>
#include <string>

#include "host/manifests/yaml_text.hpp"
#include "host/simulate/input.hpp"
#include "host/simulate/record_sink.hpp"
#include "host/simulate/story.hpp"

namespace sluice::host {
namespace {

TEST(SimulateText, SecondsAreTheShortestDecimalWithAFraction) {
  const std::pair<Duration, const char*> kCases[] = {
      {0, "0.0"},
      {kSecond, "1.0"},
      {2500 * kMillisecond, "2.5"},
      {1, "0.000000001"},
      {1000 * kSecond + 120 * kMillisecond, "1000.12"},
      {10 * kMillisecond, "0.01"},
  };
  for (const auto& [offset, text] : kCases) {
    std::string out;
    append_seconds(out, offset);
    EXPECT_EQ(out, text);
  }
}

TEST(SimulateText, OffsetsReadAsDurations) {
  for (const char* text : {"0s", "1.5s", "2m30s", "1h0m5s", "26h0m0s"})
    EXPECT_EQ(offset_text(*parse_duration(text)), text);
}

TEST(SimulateText, GeneratedUidsSortLikeTheirNumbers) {
  EXPECT_EQ(generated_uid(1), "00000000-0000-4000-8000-000000000001");
  EXPECT_LT(generated_uid(9), generated_uid(10));
  EXPECT_LT(generated_uid(999'999), generated_uid(1'000'000));
}

std::string yaml(const char* text) {
  std::string out;
  append_yaml(boost::json::parse(text), out);
  return out;
}

TEST(SimulateText, YamlIsBlockStyle) {
  EXPECT_EQ(yaml(R"({"a":{"b":1,"c":[{"d":true,"e":[1,2]},[3],"x",{}]},"f":null,"g":[]})"),
            "a:\n"
            "  b: 1\n"
            "  c:\n"
            "  - d: true\n"
            "    e:\n"
            "    - 1\n"
            "    - 2\n"
            "  - - 3\n"
            "  - x\n"
            "  - {}\n"
            "f: null\n"
            "g: []\n");
}

TEST(SimulateText, LinesStandAsTheyAre) {
  EXPECT_EQ(yaml(R"({"a":{"text":"one: 1\n  two\n\n# three\n"},"b":["x\ny\n"]})"),
            "a:\n"
            "  text: |\n"
            "    one: 1\n"
            "      two\n"
            "\n"
            "    # three\n"
            "b:\n"
            "- |\n"
            "  x\n"
            "  y\n");
  for (const char* text : {"a\nb\n", "a\n\nb \n", "- a\n  b\n", "a\nb", " a\nb\n", "a\nb\n\n",
                           "\na\nb\n", "a\tb\nc\n", "---\n...\n"}) {
    std::string out;
    append_yaml(boost::json::array{boost::json::object{{"k", text}}}, out);
    EXPECT_EQ(YAML::Load(out)[0]["k"].Scalar(), text) << out;
  }
}

TEST(SimulateText, YamlQuotesWhatIsNotPlainlyText) {
  for (const char* text : {"true", "No", "1", "1e3", "", "2026-01-01", "a: b", "- x", "#", "é",
                           "null", "~", "a\nb", "0x1f", "\"", "a b", "*x", "&x", "y"}) {
    std::string out;
    append_yaml(boost::json::value(boost::json::string(text)), out);
    const YAML::Node node = YAML::Load(out);
    EXPECT_EQ(node.Scalar(), text) << out;
    EXPECT_EQ(node.Tag(), "!") << out;  // quoted
  }
  // Readers of YAML 1.1 take these for the end of a line, and fold it.
  EXPECT_EQ(yaml("[\"c\u0085d\",\"\u2028 e\u2029\"]"), "- \"c\\u0085d\"\n- \"\\u2028 e\\u2029\"\n");
  EXPECT_EQ(yaml(R"({"kueue.x-k8s.io/queue":"team-a","apiVersion":"v1"})"),
            "kueue.x-k8s.io/queue: team-a\napiVersion: v1\n");
}

}  // namespace
}  // namespace sluice::host
