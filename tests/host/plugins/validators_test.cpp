// Validators: defaults in load order, all errors joined, faults refuse when closed.
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Validating : public PluginTest {
 protected:
  static ObjectWrite write(std::string_view object) {
    return {WriteOperation::kCreate, "kueue.x-k8s.io/v1beta2", "Workload", object, ""};
  }
  static std::string fine(const boost::json::object&) { return {}; }
  static std::vector<std::string> errors(const PluginSet& set, const ObjectWrite& write) {
    std::vector<std::string> texts;
    for (const FieldError& error : set.validators().validate(write)) texts.push_back(error.text());
    return texts;
  }
};

TEST_F(Validating, SeesTheKindsItAskedFor) {
  const auto set = load({plugin("rules")});
  EXPECT_TRUE(set->validators().wants("kueue.x-k8s.io/v1beta1", "Workload"));
  EXPECT_TRUE(set->validators().wants("v1", "Namespace"));
  EXPECT_FALSE(set->validators().wants("kueue.x-k8s.io/v1beta2", "Namespace"));
  EXPECT_FALSE(set->validators().wants("v1", "Pod"));
  ObjectWrite pod = write("not even an object");
  pod.kind = "Pod";
  EXPECT_THAT(errors(*set, pod), ElementsAre());
}

TEST_F(Validating, DefaultsAndErrors) {
  const auto set = load({plugin("rules")});
  const auto filled = set->validators().set_defaults(write(R"({"spec":{"queueName":"q"}})"), fine);
  ASSERT_TRUE(filled.ok());
  EXPECT_EQ(*filled, R"({"spec":{"queueName":"q","priority":5}})");
  const std::string_view as_it_is = R"({"spec":{"priority":1}})";
  EXPECT_EQ(*set->validators().set_defaults(write(as_it_is), fine), as_it_is);

  EXPECT_THAT(errors(*set, write(R"({"spec":{"queueName":"q","priority":100}})")), ElementsAre());
  EXPECT_THAT(errors(*set, write(R"({"spec":{"priority":101}})")),
              ElementsAre("spec.priority: Invalid value: 101: must be at most 100",
                          "spec.queueName: Required value"));
}

TEST_F(Validating, AHundredMistakesOfAPluginAreTold) {
  const auto set = load({plugin("rules", R"({"mode":"many"})")});
  const auto told = errors(*set, write(R"({"spec":{"queueName":"q"}})"));
  ASSERT_EQ(told.size(), 101u);
  EXPECT_EQ(told[99], "spec.x: Invalid value: 1: no");
  EXPECT_EQ(told[100], "Forbidden: 50 more mistakes are not shown");
}

TEST_F(Validating, ItKnowsWhoWrites) {
  const auto set = load({plugin("sees")});
  ObjectWrite by_ann{WriteOperation::kUpdate, "v1", "ConfigMap", "{}", "{}"};
  by_ann.user = "ann";
  EXPECT_THAT(errors(*set, by_ann), ElementsAre("data: Forbidden: not for ann"));
}

TEST_F(Validating, AFaultRefusesTheWriteWhenClosed) {
  const auto closed = load({plugin("rules")});
  EXPECT_THAT(errors(*closed, write("garbage")),
              ElementsAre(HasSubstr("plugin rules, validator.validate: it failed: JSON, byte 0")));
  const auto open = load({plugin("rules", "{}", FailurePolicy::kOpen)});
  EXPECT_THAT(errors(*open, write("garbage")), ElementsAre());
}

TEST_F(Validating, DefaultsThatAreNoObjectAreAFault) {
  const auto closed = load({plugin("rules", R"({"mode":"garbage"})")});
  const auto refused = closed->validators().set_defaults(write("{}"), fine);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text, HasSubstr("validator.set_defaults: its answer makes no sense"));
  const auto open = load({plugin("rules", R"({"mode":"garbage"})", FailurePolicy::kOpen)});
  EXPECT_EQ(*open->validators().set_defaults(write("{}"), fine), "{}");
}

// A user leaves no room for what the plugin adds: his write is refused, also where faults let
// writes through, and the plugin goes on.
TEST_F(Validating, DefaultsThatTheApiRefusesRefuseTheWriteAndAreNoFault) {
  const auto too_long = [](const boost::json::object&) {
    return std::string("metadata.annotations: Too long");
  };
  for (const FailurePolicy policy : {FailurePolicy::kClosed, FailurePolicy::kOpen}) {
    const auto set = load({plugin("rules", "{}", policy)});
    for (int i = 0; i < limits.quarantine_faults; ++i) {
      const auto refused = set->validators().set_defaults(write("{}"), too_long);
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.error().text,
                "with what plugin rules adds to it: metadata.annotations: Too long");
    }
    EXPECT_EQ(set->status()[0].faults, 0u);
    EXPECT_FALSE(set->status()[0].quarantined);
  }
}

}  // namespace
}  // namespace sluice::host
