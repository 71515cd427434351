// Samples are objects that the scheme itself takes, of every kind that it has.
#include "api/scheme/sample.hpp"

#include <gmock/gmock.h>

#include "tests/api/objects.hpp"

namespace sluice::api {
namespace {

using ::testing::HasSubstr;

std::string text_of(const Result<boost::json::object>& object) {
  return object.ok() ? boost::json::serialize(*object) : object.error().text;
}

TEST(Sample, OfEveryKindIsTakenByTheScheme) {
  const Scheme& scheme = testing::core_scheme();
  for (const KindInfo* kind : scheme.kinds()) {
    // Code, not a schema, says what they may name.
    if (kind->kind.ends_with("RoleBinding") || kind->kind == "Event") continue;
    for (const SampleSize size : {SampleSize::kLeast, SampleSize::kMost}) {
      auto made = sample(scheme, kind->hub_api_version(), kind->kind, size);
      ASSERT_TRUE(made.ok()) << kind->kind << ": " << text_of(made);
      boost::json::object again = *made;
      EXPECT_EQ(scheme.admit(again).error_text(), "") << kind->kind;
      EXPECT_EQ(again, *made) << kind->kind << ": its defaults are there already";
    }
  }
}

constexpr const char* kMachine = R"({"kind": "Machine", "group": "example.com",
  "plural": "machines", "scope": "Namespaced", "versions": [{"version": "v1", "storage": true,
  "status": true, "fields": [
    {"path": "spec", "type": "object", "required": true},
    {"path": "spec.size", "type": "string", "required": true, "enum": ["Small", "Large"]},
    {"path": "spec.cores", "type": "integer", "required": true, "min": 4, "max": 64},
    {"path": "spec.note", "type": "string", "minLength": 9},
    {"path": "spec.image", "type": "string"}, {"path": "spec.volume", "type": "string"},
    {"path": "spec.racks", "type": "array", "minItems": 2},
    {"path": "spec.racks[].name", "type": "string", "required": true},
    {"path": "spec.tags{}", "type": "string"},
    {"path": "spec.gpu", "type": "boolean"},
    {"path": "status.phase", "type": "string"}],
  "rules": [
    {"at": "spec", "rule": "exactlyOne", "fields": ["image", "volume"], "message": "one of them"},
    {"at": "spec", "rule": "allowedIf", "field": "gpu", "when": {"size": ["Large"]},
     "message": "only large ones"}]}]})";

TEST(Sample, KeepsTheRulesOfAKindThatWasContributed) {
  Scheme scheme;
  ASSERT_TRUE(scheme.add(kMachine, "machines").ok());
  EXPECT_EQ(text_of(sample(scheme, "example.com/v1", "Machine", SampleSize::kLeast)),
            R"({"apiVersion":"example.com/v1","kind":"Machine",)"
            R"("metadata":{"name":"sample","namespace":"team-a"},)"
            R"("spec":{"size":"Small","cores":4,"image":"sample"}})");
  const auto most = sample(scheme, "example.com/v1", "Machine", SampleSize::kMost);
  ASSERT_TRUE(most.ok()) << text_of(most);
  EXPECT_EQ(boost::json::serialize(most->at("spec")),
            R"({"size":"Small","cores":4,"image":"sample","note":"samplexxx",)"
            R"("racks":[{"name":"sample"},{"name":"sample"}],"tags":{"sample":"sample"}})");
  EXPECT_EQ(most->if_contains("status"), nullptr);
}

TEST(Sample, SaysWhyThereIsNone) {
  Scheme scheme;
  ASSERT_TRUE(scheme
                  .add(R"({"kind": "Never", "group": "example.com", "plural": "nevers",
    "scope": "Cluster", "versions": [{"version": "v1", "storage": true, "fields": [
      {"path": "spec", "type": "object", "required": true},
      {"path": "spec.a", "type": "string", "required": true}],
    "rules": [{"at": "spec", "rule": "forbiddenIf", "field": "a", "whenSet": ["a"],
               "message": "neither with nor without"}]}]})",
                       "never")
                  .ok());
  EXPECT_THAT(text_of(sample(scheme, "example.com/v1", "Never", SampleSize::kLeast)),
              HasSubstr("neither with nor without"));
  EXPECT_THAT(text_of(sample(scheme, "example.com/v1", "Other", SampleSize::kLeast)),
              HasSubstr("no kind Other in example.com/v1"));
}

}  // namespace
}  // namespace sluice::api
