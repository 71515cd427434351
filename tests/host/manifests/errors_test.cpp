// Bad input: one clear sentence with its place, never a crash.
#include <gmock/gmock.h>

#include "tests/host/manifests/documents.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::read;
using ::testing::StartsWith;

std::string only(const std::vector<std::string>& lines) {
  return lines.size() == 1 ? lines[0] : "not one line";
}

TEST(Errors, Syntax) {
  EXPECT_THAT(only(read("{\n  \"a\": 1,\n  \"b\" 2\n}", "a.json")),
              StartsWith("error: a.json:3:7: not valid JSON: "));
  EXPECT_THAT(only(read("{\"a\": [1, 2", "a.json")),
              StartsWith("error: a.json:1:12: not valid JSON: the text ends inside a value"));
  EXPECT_THAT(only(read("{\"a\": 1e5555}", "a.json")), StartsWith("error: a.json:1:"));
  EXPECT_EQ(only(read("", "a.json")), "error: a.json: the file is empty");
  EXPECT_THAT(only(read("a: 1\nb: [1, 2\nc: 3\n")), StartsWith("error: in.yaml:"));
  EXPECT_THAT(only(read("a: 1\n\tb: 2\n")), StartsWith("error: in.yaml:2:"));
}

TEST(Errors, AStrayMarkEndsTheReading) {
  // The YAML library makes no progress here; the reading must end all the same.
  for (const char* text : {", ap{\"", "kind: A\n---\n, x", "]", "}", ": ]"}) {
    const auto lines = read(text);
    ASSERT_FALSE(lines.empty()) << text;
    EXPECT_THAT(lines.back(), StartsWith("error: in.yaml:")) << text;
  }
}

TEST(Errors, DuplicateKeys) {
  EXPECT_EQ(only(read("{\"a\": {\n \"x\": 1,\n \"y\": {\"x\": 1},\n \"x\": 2}}", "a.json")),
            "error: a.json:4:2: duplicate key \"x\"");
  EXPECT_EQ(only(read("a:\n  x: 1\n  y: {x: 1}\n  x: 2\n")),
            "error: in.yaml:4:3: duplicate key \"x\"");
}

TEST(Errors, OnlyObjectsAreDocuments) {
  EXPECT_EQ(only(read("- a\n- b\n")),
            "error: in.yaml:1: must be an object with apiVersion and kind, found a list");
  EXPECT_EQ(only(read("\n\nhello\n")),
            "error: in.yaml:3: must be an object with apiVersion and kind, found a text");
  EXPECT_EQ(only(read("{\"kind\":\"List\",\n\"items\":[\n{},\n1]}", "a.json")),
            "not one line");  // the first item went to the sink
  EXPECT_EQ(read("{\"kind\":\"List\",\n\"items\":[\n{},\n1]}", "a.json").back(),
            "error: a.json:4: must be an object with apiVersion and kind, found a number");
}

TEST(Errors, BinaryGarbage) {
  EXPECT_EQ(only(read(std::string("a: 1\nb: \0", 9))),
            "error: in.yaml:2:4: not a text file: a NUL byte");
  EXPECT_EQ(only(read("a: \xFF\xFE")),
            "error: in.yaml:1:4: not a text file: bytes that are not UTF-8");
  EXPECT_EQ(only(read("\x7F"
                      "ELF\x02\x01\x01\x80",
                      "x.json")),
            "error: x.json:1:8: not a text file: bytes that are not UTF-8");
  // Overlong, surrogate, beyond Unicode, cut off.
  for (const char* bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_THAT(only(read("aaaaaaaaaaaaaaaaa: " + std::string(bad))), HasSubstr("not UTF-8"));
  }
  EXPECT_THAT(read("a: \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"),
              ElementsAre("{\"a\":\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"}"));
}

TEST(Errors, EscapesThatAreNoCharacters) {
  EXPECT_THAT(only(read("a: \"\\ud800\"")), StartsWith("error: in.yaml:1:"));
  EXPECT_EQ(only(read("\"\\0\": 1")), "error: in.yaml:1:1: an escape that is no character");
  EXPECT_THAT(read("a: \"\\u00e4\""), ElementsAre("{\"a\":\"\xC3\xA4\"}"));
}

TEST(Errors, Depth) {
  std::string json, yaml;
  for (int i = 0; i < 200; ++i) {
    json += "{\"a\":";
    yaml += "{a: ";
  }
  yaml += "1" + std::string(200, '}');
  EXPECT_THAT(only(read(json, "a.json")), HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(only(read(yaml)), HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(only(read(std::string(100'000, '[') + std::string(100'000, ']'), "a.yaml")),
              HasSubstr("nested deeper than"));
  std::string blocks;
  for (int i = 0; i < 300; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(only(read(blocks)), HasSubstr("nested deeper than"));
}

TEST(Errors, AliasBombs) {
  // Ten levels of ten aliases: 10^10 values.
  std::string bomb = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*l" + std::to_string(i - 1);
    bomb += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  ManifestLimits limits;
  limits.max_yaml_nodes = 100'000;
  EXPECT_THAT(only(read(bomb, "in.yaml", limits)),
              HasSubstr("expands to more than 100000 values through its aliases"));
  EXPECT_THAT(only(read("a: &a [*a]\n")), HasSubstr("alias"));
  // Few values, and each of them long: 1,000 bytes and 100 copies of them. An anchor is one, too.
  limits.max_yaml_copies_bytes = 100'000;
  const auto copies = [](int count) {
    std::string text = "a: &a " + std::string(1'000, 'x') + "\n";
    for (int i = 0; i < count; ++i) text += "b" + std::to_string(i) + ": *a\n";
    return text;
  };
  EXPECT_THAT(only(read(copies(100), "in.yaml", limits)),
              HasSubstr("in.yaml:101:6: the document expands to more than 100000 bytes through "
                        "its aliases"));
  EXPECT_THAT(only(read(copies(99), "in.yaml", limits)), ::testing::Not(HasSubstr("bytes")));
}

TEST(Errors, LargeAndMissingFiles) {
  const Folder folder;
  const std::string file = folder.add("a.yaml", "kind: A # " + std::string(100, 'x'));
  ManifestLimits limits;
  limits.max_file_bytes = 50;
  const auto sink = [](Document&&) -> Result<void> { return {}; };
  EXPECT_EQ(load_manifests({file}, limits, sink).error().text,
            file + ": the file has 110 bytes, more than the 50 that are allowed");
  EXPECT_EQ(load_manifests({folder.path() + "/none.yaml"}, {}, sink).error().text,
            folder.path() + "/none.yaml: No such file or directory");
  const Folder empty;
  std::filesystem::remove(file);
  EXPECT_THAT(load_manifests({folder.path()}, {}, sink).error().text,
              HasSubstr("no file in this folder ends in .yaml, .yml or .json"));
}

}  // namespace
}  // namespace sluice::host
