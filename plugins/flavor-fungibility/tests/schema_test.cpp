// The fields that the plugin adds, in the schema that the API serves: defaults, choices, versions.
#include "../schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/scheme/scheme.hpp"

namespace fungibility {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

class Schema : public ::testing::Test {
 protected:
  Schema() {
    const auto added = scheme_.add(kSchema, "flavor-fungibility");
    EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().text);
  }

  static json::object queue(const std::string& version, const std::string& spec) {
    return json::parse(R"({"apiVersion":"kueue.x-k8s.io/)" + version +
                       R"(","kind":"ClusterQueue","metadata":{"name":"cq"},"spec":)" + spec + "}")
        .get_object();
  }

  /// The field as it is stored, or the errors.
  std::string stored(const std::string& version, const std::string& spec) {
    json::object object = queue(version, spec);
    const auto outcome = scheme_.admit(object);
    if (!outcome.ok()) return outcome.error_text();
    return json::serialize(object.at("spec").at("flavorFungibility"));
  }

  /// What a reader of v1beta1 sees of what was written.
  std::string in_v1beta1(const std::string& version, const std::string& spec) {
    json::object object = queue(version, spec);
    EXPECT_TRUE(scheme_.admit(object).ok());
    EXPECT_TRUE(scheme_.to_version(object, "v1beta1").ok());
    return json::serialize(object.at("spec").at("flavorFungibility"));
  }

  sluice::api::Scheme scheme_;
};

TEST_F(Schema, DefaultsInBothVersions) {
  const std::string defaults =
      R"({"whenCanBorrow":"MayStopSearch","whenCanPreempt":"TryNextFlavor"})";
  EXPECT_EQ(stored("v1beta2", "{}"), defaults);
  EXPECT_EQ(stored("v1beta2", R"({"flavorFungibility":{}})"), defaults);
  EXPECT_EQ(stored("v1beta1", "{}"), defaults);
  EXPECT_EQ(in_v1beta1("v1beta2", "{}"),
            R"({"whenCanBorrow":"Borrow","whenCanPreempt":"TryNextFlavor"})");
}

TEST_F(Schema, TheProposalsWordsAreKeptForReadersOfV1beta1) {
  const std::string spec =
      R"({"flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"}})";
  EXPECT_EQ(stored("v1beta1", spec),
            R"({"whenCanBorrow":"MayStopSearch","whenCanPreempt":"MayStopSearch"})");
  EXPECT_EQ(in_v1beta1("v1beta1", spec),
            R"({"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"})");
}

TEST_F(Schema, EachVersionHasItsChoices) {
  EXPECT_THAT(stored("v1beta2", R"({"flavorFungibility":{"whenCanBorrow":"Borrow"}})"),
              HasSubstr("spec.flavorFungibility.whenCanBorrow: Unsupported value: \"Borrow\": "
                        "supported values: \"MayStopSearch\", \"TryNextFlavor\""));
  EXPECT_THAT(stored("v1beta1", R"({"flavorFungibility":{"whenCanPreempt":"Borrow"}})"),
              HasSubstr("spec.flavorFungibility.whenCanPreempt: Unsupported value"));
  EXPECT_THAT(stored("v1beta2", R"({"flavorFungibility":{"preference":"Both"}})"),
              HasSubstr("spec.flavorFungibility.preference: Unsupported value"));
}

TEST_F(Schema, PreferenceNeedsTryNextFlavorTwice) {
  const auto with = [](const std::string& borrow, const std::string& preempt) {
    return R"({"flavorFungibility":{"whenCanBorrow":")" + borrow + R"(","whenCanPreempt":")" +
           preempt + R"(","preference":"PreemptionOverBorrowing"}})";
  };
  const auto refusal = HasSubstr(
      "preference can only be set when both whenCanBorrow and whenCanPreempt are "
      "TryNextFlavor");
  EXPECT_EQ(stored("v1beta2", with("TryNextFlavor", "TryNextFlavor")),
            R"({"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor",)"
            R"("preference":"PreemptionOverBorrowing"})");
  EXPECT_THAT(stored("v1beta2", with("MayStopSearch", "TryNextFlavor")), refusal);
  EXPECT_THAT(stored("v1beta2", with("TryNextFlavor", "MayStopSearch")), refusal);
  EXPECT_THAT(stored("v1beta1", with("Borrow", "TryNextFlavor")), refusal);
}

TEST_F(Schema, WithoutThePluginTheFieldIsUnknown) {
  const sluice::api::Scheme plain;
  json::object object = queue("v1beta2", R"({"flavorFungibility":{"whenCanBorrow":"x"}})");
  const auto outcome = plain.admit(object);
  EXPECT_TRUE(outcome.ok()) << outcome.error_text();
  EXPECT_EQ(outcome.warnings.size(), 1u);
  EXPECT_FALSE(object.at("spec").get_object().contains("flavorFungibility"));
}

TEST_F(Schema, TwiceIsAConflict) { EXPECT_FALSE(scheme_.add(kSchema, "another").ok()); }

}  // namespace
}  // namespace fungibility
