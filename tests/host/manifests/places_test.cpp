// Where a field stands.
#include <gmock/gmock.h>

#include "tests/host/manifests/documents.hpp"

namespace sluice::host {
namespace {

using testing::Folder;

constexpr const char* kYaml = R"(kind: First
---
kind: List
items:
- kind: A
  metadata:
    labels:
      example.com/team: a
- kind: B
  spec:
    podSets:
    - name: one
    - name: two
      count: -1
)";

constexpr const char* kJson = R"({"kind": "First"}
{"kind": "List",
 "items": [
  {"kind": "A", "metadata": {
    "labels": {"example.com/team": "a"}}},
  {"kind": "B",
   "spec": {"x": "}{][\"",
    "podSets": [
     {"name": "one"},
     {"name": "two",
      "count": -1}]}}]}
)";

std::vector<std::string> places(const std::string& text, const std::string& name,
                                std::size_t document, const std::vector<std::string>& fields) {
  std::vector<std::string> out;
  std::size_t index = 0;
  EXPECT_TRUE(load_text(text, name, {}, [&](Document&& each) -> Result<void> {
                if (index++ == document) {
                  for (const auto& field : fields) out.push_back(each.place(field));
                }
                return {};
              }).ok());
  return out;
}

TEST(Places, OfFieldsInYaml) {
  EXPECT_THAT(places(kYaml, "f", 0, {"", "kind"}), ::testing::ElementsAre("f:1", "f:1"));
  EXPECT_THAT(places(kYaml, "f", 1, {"", "metadata.labels[example.com/team]"}),
              ::testing::ElementsAre("f:5", "f:8"));
  EXPECT_THAT(places(kYaml, "f", 2,
                     {"", "spec.podSets", "spec.podSets[0]", "spec.podSets[1].count",
                      // Not there: the nearest that is.
                      "spec.podSets[1].minCount", "spec.podSets[7].count", "status.x"}),
              ::testing::ElementsAre("f:9", "f:11", "f:12", "f:14", "f:13", "f:11", "f:9"));
}

TEST(Places, OfFieldsInJson) {
  EXPECT_THAT(places(kJson, "f.json", 0, {"", "kind"}),
              ::testing::ElementsAre("f.json:1", "f.json:1"));
  EXPECT_THAT(places(kJson, "f.json", 1, {"", "metadata.labels[example.com/team]"}),
              ::testing::ElementsAre("f.json:4", "f.json:5"));
  EXPECT_THAT(places(kJson, "f.json", 2,
                     {"", "spec.podSets", "spec.podSets[0]", "spec.podSets[1].count",
                      "spec.podSets[1].minCount", "spec.podSets[7].count", "status.x"}),
              ::testing::ElementsAre("f.json:6", "f.json:8", "f.json:9", "f.json:11", "f.json:10",
                                     "f.json:8", "f.json:6"));
}

TEST(Places, AreFoundInFilesAfterwards) {
  const Folder folder;
  const std::string file = folder.add("x.yaml", kYaml);
  std::vector<Document> documents;
  ASSERT_TRUE(load_manifests({file}, {}, [&](Document&& each) -> Result<void> {
                documents.push_back(std::move(each));
                return {};
              }).ok());
  ASSERT_EQ(documents.size(), 3u);
  EXPECT_EQ(documents[2].place("spec.podSets[1].count"), file + ":14");
  std::filesystem::remove(file);
  EXPECT_EQ(documents[2].place("spec.podSets[1].count"), file);
}

}  // namespace
}  // namespace sluice::host
