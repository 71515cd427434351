// In which namespaces pods are held.
#include "../namespaces.hpp"

#include <gtest/gtest.h>

namespace pods {
namespace {

using sluice::Json;

TEST(Namespaces, AreThoseThatMatch) {
  // Labels of the namespace team: tier=batch.
  const struct {
    const char* selector;
    bool covers_team;
  } cases[] = {
      {"{}", true},
      {R"({"matchLabels":{"tier":"batch"}})", true},
      {R"({"matchLabels":{"tier":"web"}})", false},
      {R"({"matchLabels":{"kubernetes.io/metadata.name":"team"}})", true},
      {R"({"matchExpressions":[{"key":"tier","operator":"In","values":["web","batch"]}]})", true},
      {R"({"matchExpressions":[{"key":"tier","operator":"NotIn","values":["batch"]}]})", false},
      {R"({"matchExpressions":[{"key":"none","operator":"NotIn","values":["batch"]}]})", true},
      {R"({"matchExpressions":[{"key":"tier","operator":"Exists"}]})", true},
      {R"({"matchExpressions":[{"key":"none","operator":"Exists"}]})", false},
      {R"({"matchExpressions":[{"key":"none","operator":"DoesNotExist"}]})", true},
      {R"({"matchLabels":{"tier":"batch"},
           "matchExpressions":[{"key":"tier","operator":"DoesNotExist"}]})",
       false},
  };
  for (const auto& each : cases)
    EXPECT_EQ(Namespaces(Json::parse(each.selector),
                         [](const std::string&) { return Json::parse(R"({"tier":"batch"})"); })
                  .cover("team"),
              each.covers_team)
        << each.selector;
}

// A pod that was let go could not be held any more.
TEST(Namespaces, OneThatIsNotKnownIsCovered) {
  const auto unknown = [](const std::string&) { return std::optional<Json>(); };
  EXPECT_TRUE(Namespaces(Json::parse(R"({"matchLabels":{"tier":"batch"}})"), unknown).cover("new"));
}

// The object is not read for what every namespace's name tells.
TEST(Namespaces, TheNameIsKnownWithoutTheObject) {
  const auto not_read = [](const std::string& ns) {
    ADD_FAILURE() << ns << " is read";
    return std::optional<Json>();
  };
  const Namespaces selector(
      Json::parse(R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn",
                                           "values":["kube-system"]}]})"),
      not_read);
  EXPECT_TRUE(selector.cover("team"));
  EXPECT_FALSE(selector.cover("kube-system"));
}

}  // namespace
}  // namespace pods
