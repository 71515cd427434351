// The plugin as the host sees it: loaded from its library, asked through the C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plugins/plugin_set.hpp"

namespace sluice::host {
namespace {

using hooks::Mode;
using hooks::SearchVerdict;
using ::testing::HasSubstr;

class StillClock final : public PluginClock {
 public:
  Time now() const override { return 0; }
  Duration steady() const override { return 0; }
};

class LoadedFungibility : public ::testing::Test {
 protected:
  Result<std::unique_ptr<PluginSet>> load(const std::string& config) {
    PluginSetConfig set;
    set.directory = SLUICE_PLUGINS;
    set.plugins = {{"flavor-fungibility", true, FailurePolicy::kClosed, "", config}};
    set.clock = &clock_;
    return PluginSet::load(set);
  }

  /// A set that is active, with queue 0 saying `fungibility`.
  std::unique_ptr<PluginSet> with_queue(const std::string& config, const std::string& fungibility) {
    auto set = load(config);
    EXPECT_TRUE(set.ok());
    EXPECT_TRUE((*set)->activate().ok());
    api::ClusterQueue queue;
    queue.meta.name = "cq";
    queue.json = R"({"spec":{"flavorFungibility":)" + fungibility + "}}";
    (*set)->hooks().queue_watch->queue_changed(0, queue);
    return std::move(set).value();
  }

  static SearchVerdict verdict(PluginSet& set, hooks::FlavorOutcome tried) {
    hooks::Fault fault;
    const auto answer = set.hooks().flavor_search->after_flavor({0, tried, false, {}}, fault);
    EXPECT_FALSE(fault) << fault.text;
    return answer.value();
  }

  StillClock clock_;
};

TEST_F(LoadedFungibility, AnswersByTheQueuesOwnPolicy) {
  const auto set = with_queue("{}", R"({"whenCanBorrow":"TryNextFlavor"})");
  EXPECT_EQ(verdict(*set, {Mode::kFit, 1}), SearchVerdict::kGoOn);
  EXPECT_EQ(verdict(*set, {Mode::kFit, 0}), SearchVerdict::kStopHere);

  api::ClusterQueue changed;
  changed.json = R"({"spec":{"flavorFungibility":{"whenCanBorrow":"MayStopSearch"}}})";
  set->hooks().queue_watch->queue_changed(0, changed);
  EXPECT_EQ(verdict(*set, {Mode::kFit, 1}), SearchVerdict::kStopHere);
}

TEST_F(LoadedFungibility, SearchProposalStopsWithTheBestSoFar) {
  const auto set = with_queue(R"({"search":"proposal"})", R"({"whenCanPreempt":"MayStopSearch"})");
  EXPECT_EQ(verdict(*set, {Mode::kPreempt, 1}), SearchVerdict::kStopBest);
}

TEST_F(LoadedFungibility, ImplicitPreferenceIsASwitchOfTheConfiguration) {
  for (const bool on : {false, true}) {
    const auto set =
        with_queue(std::string(R"({"implicitPreferenceDefault":)") + (on ? "true}" : "false}"),
                   R"({"whenCanBorrow":"TryNextFlavor"})");
    hooks::Fault fault;
    EXPECT_EQ(set->hooks().flavor_search->better(0, {Mode::kPreempt, 0}, {Mode::kFit, 1}, fault),
              on);
  }
}

TEST_F(LoadedFungibility, WrongConfigurationIsRefusedWithPathAndChoices) {
  const auto wrong_value = load(R"({"search":"fast"})");
  ASSERT_FALSE(wrong_value.ok());
  EXPECT_EQ(wrong_value.error().text,
            "plugin flavor-fungibility: config.search: found \"fast\" (string), allowed are "
            "\"measured\", \"proposal\"");
  const auto wrong_key = load(R"({"serach":"proposal"})");
  ASSERT_FALSE(wrong_key.ok());
  EXPECT_THAT(wrong_key.error().text,
              HasSubstr("config.serach: unknown key; allowed are implicitPreferenceDefault, "
                        "search"));
}

TEST_F(LoadedFungibility, ContributesItsFieldsOnce) {
  const auto set = load("{}");
  ASSERT_TRUE(set.ok());
  ASSERT_EQ((*set)->schema_contributions().size(), 1u);
  EXPECT_EQ((*set)->schema_contributions()[0].plugin, "flavor-fungibility");
  EXPECT_THAT((*set)->schema_contributions()[0].json, HasSubstr("spec.flavorFungibility"));
}

}  // namespace
}  // namespace sluice::host
