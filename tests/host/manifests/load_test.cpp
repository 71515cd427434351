// Files, folders, lists and documents.
#include <gmock/gmock.h>

#include "tests/host/manifests/documents.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using testing::read;

TEST(Load, JsonAndYamlAreTheSame) {
  const auto expected = ElementsAre(R"({"kind":"A","spec":{"k":1,"t":"x"}})");
  EXPECT_THAT(read(R"({"kind":"A","spec":{"k":1,"t":"x"}})", "a.json"), expected);
  EXPECT_THAT(read(R"({"kind":"A","spec":{"k":1,"t":"x"}})"), expected);
  EXPECT_THAT(read("kind: A\nspec:\n  k: 1\n  t: x\n"), expected);
  // Flow style that is no JSON.
  EXPECT_THAT(read("{kind: A, spec: {k: 1, t: x}}"), expected);
}

TEST(Load, NumbersAreTheNearestOnes) {
  for (const char* number : {"0.3", "0.1", "2.7", "4.35", "1e-7", "123456.789", "5e-23"}) {
    double found = 0;
    ASSERT_TRUE(load_text("{\"n\": " + std::string(number) + "}", "n.json", {},
                          [&](Document&& document) -> Result<void> {
                            found = document.object["n"].as_double();
                            return {};
                          })
                    .ok());
    EXPECT_EQ(found, std::stod(number)) << number;
  }
}

TEST(Load, SeveralDocuments) {
  EXPECT_THAT(read("---\nkind: A\n---\n# nothing\n---\nkind: B\n...\n---\nkind: C\n"),
              ElementsAre(R"({"kind":"A"})", R"({"kind":"B"})", R"({"kind":"C"})"));
  EXPECT_THAT(read("{\"kind\":\"A\"}\n{\"kind\":\"B\"}\n", "a.json"),
              ElementsAre(R"({"kind":"A"})", R"({"kind":"B"})"));
  EXPECT_THAT(read("# only a comment\n"), ElementsAre());
}

TEST(Load, ListsAreUnpacked) {
  EXPECT_THAT(read(R"({"apiVersion":"v1","kind":"List","items":[{"kind":"A"},{"kind":"B"}]})"),
              ElementsAre(R"({"kind":"A"})", R"({"kind":"B"})"));
  EXPECT_THAT(read("apiVersion: g/v1\nkind: ThingList\nitems:\n- metadata: {name: a}\n"),
              ElementsAre(R"({"metadata":{"name":"a"},"kind":"Thing","apiVersion":"g/v1"})"));
  EXPECT_THAT(read("kind: List\nitems: []\n"), ElementsAre());
  // An object that merely has such a kind is one.
  EXPECT_THAT(read("kind: AllowList\nspec: {}\n"),
              ElementsAre(R"({"kind":"AllowList","spec":{}})"));
}

TEST(Load, AFolderStandsForItsManifestsByName) {
  const Folder folder;
  folder.add("b.yaml", "kind: B");
  folder.add("a.json", R"({"kind":"A"})");
  folder.add("c/d.yml", "kind: D");
  folder.add("README.md", "not: [a manifest");
  std::vector<std::string> kinds;
  const auto loaded = load_manifests({folder.path()}, {}, [&](Document&& d) -> Result<void> {
    kinds.emplace_back(d.object["kind"].as_string());
    return {};
  });
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  EXPECT_THAT(kinds, ElementsAre("A", "B", "D"));
}

TEST(Load, AFileIsReadWhateverItsName) {
  const Folder folder;
  const std::string file = folder.add("manifest.txt", "kind: A");
  int count = 0;
  ASSERT_TRUE(load_manifests({file}, {}, [&](Document&&) -> Result<void> {
                ++count;
                return {};
              }).ok());
  EXPECT_EQ(count, 1);
}

TEST(Load, TheSinkCanStop) {
  int count = 0;
  const auto loaded =
      load_text("kind: A\n---\nkind: B\n", "x", {}, [&](Document&&) -> Result<void> {
        ++count;
        return Error{"enough"};
      });
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().text, "enough");
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace sluice::host
