// From what plugins answer, and the claims that are kept, to what the engine is told.
#include "host/kernel/traits_source.hpp"

#include <gmock/gmock.h>

#include <ostream>

namespace sluice::host {

static void PrintTo(const Claims& claims, std::ostream* out) {
  for (const std::string& plugin : claims.plugins) *out << plugin << ' ';
  if (claims.aside) *out << "aside";
}

namespace {

struct Answers final : hooks::WorkloadTraits {
  hooks::TraitsAnswer answer;
  bool faulty = false;
  void traits(const hooks::TraitsQuery&, hooks::TraitsAnswer& out, hooks::Fault& fault) override {
    if (faulty)
      fault = {"plugin-p", "it threw an exception"};
    else
      out = answer;
  }
};

struct TraitsSourceTest : ::testing::Test {
  Answers plugins;
  std::vector<std::string> loaded = {"p", "q"};
  api::Workload workload;

  TraitsSource::Told ask(const Claims& before, bool anybody = true) {
    hooks::HostHooks hooks;
    if (anybody) hooks.workload_traits = &plugins;
    hooks.plugins = loaded;
    return TraitsSource(hooks).ask({workload, {}, false}, before);
  }
};

TEST_F(TraitsSourceTest, ClaimsFollowTheAnswersOfThoseThatAreLoaded) {
  struct Change {
    Claims before;
    std::vector<std::string> answered;
    Claims after;
  };
  const Change cases[] = {
      {{}, {}, {}},
      {{}, {"q", "p"}, {{"p", "q"}, false}},
      {{{"p"}, false}, {"p"}, {{"p"}, false}},
      {{{"p"}, false}, {}, {}},                          // it was asked and says nothing
      {{{"gone", "p"}, false}, {}, {{"gone"}, false}},   // that plugin cannot be asked
      {{{"gone"}, true}, {"p"}, {{"gone", "p"}, true}},  // it may be why it stands aside
      {{{"p"}, true}, {"p"}, {{"p"}, false}},            // p takes it back
  };
  for (const Change& each : cases) {
    plugins.answer.claimed_by = each.answered;
    EXPECT_EQ(ask(each.before).claims, each.after);
  }
}

TEST_F(TraitsSourceTest, AWorkloadOfAnAbsentPluginWaitsAndSaysForWhom) {
  const char* const why = "Plugin gone, which manages this workload, is not loaded";
  TraitsSource::Told told = ask({{"gone", "p"}, false});
  EXPECT_EQ(told.traits.waits_because, why);
  EXPECT_TRUE(told.traits.takes_part);
  told = ask({{"gone"}, true});
  EXPECT_FALSE(told.traits.takes_part);
  EXPECT_EQ(told.traits.takes_no_part_because, why);
  EXPECT_EQ(ask({{"gone"}, false}, false).traits.waits_because, why) << "nobody is there at all";
  EXPECT_EQ(ask({}, false).traits, hooks::Traits());
}

TEST_F(TraitsSourceTest, WhoStandsAsideForAPluginThatIsThereHasItsReason) {
  plugins.answer.traits.takes_part = false;
  plugins.answer.traits.takes_no_part_because = "its options stand for it";
  plugins.answer.claimed_by = {"p"};
  const TraitsSource::Told told = ask({{"gone"}, false});
  EXPECT_EQ(told.traits.takes_no_part_because, "its options stand for it");
  EXPECT_EQ(told.traits.waits_because, "");
  EXPECT_EQ(told.claims, (Claims{{"gone", "p"}, true}));
}

TEST_F(TraitsSourceTest, AFaultTakesNoClaimAwayAndLetsNobodyIn) {
  plugins.faulty = true;
  const TraitsSource::Told told = ask({{"p"}, true});
  EXPECT_EQ(told.claims, (Claims{{"p"}, true}));
  EXPECT_FALSE(told.traits.takes_part);
  EXPECT_EQ(told.traits.unknown_because, "plugin-p: it threw an exception");
  EXPECT_EQ(ask({}).claims, Claims());
}

}  // namespace
}  // namespace sluice::host
