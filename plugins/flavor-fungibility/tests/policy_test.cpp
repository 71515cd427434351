// The decision table of KEP-582, cell by cell, in both letters, and the orders of preference.
#include "../policy.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace fungibility {
namespace {

using sluice::Mode;
using sluice::Outcome;
using sluice::Search;

constexpr Search kGoOn = Search::kGoOn;
constexpr Search kHere = Search::kStopHere;
constexpr Search kBest = Search::kStopBest;

// One row: what the flavor gave, and the verdict for each combination of the two fields.
//   columns: whenCanBorrow/whenCanPreempt = Borrow/Preempt, Borrow/TryNext, TryNext/Preempt,
//            TryNext/TryNext
struct Row {
  Outcome tried;
  Search borrow_preempt, borrow_next, next_preempt, next_next;
};

void expect_table(Letter letter, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE("mode " + std::to_string(static_cast<int>(row.tried.mode)) + " level " +
                 std::to_string(row.tried.borrow_level));
    const auto verdict = [&](bool stop_when_borrowing, bool stop_when_preempting) {
      // The preference decides which result is better, never whether to stop.
      const Search with =
          after_flavor({stop_when_borrowing, stop_when_preempting, true}, letter, row.tried);
      const Search without =
          after_flavor({stop_when_borrowing, stop_when_preempting, false}, letter, row.tried);
      EXPECT_EQ(with, without);
      return without;
    };
    EXPECT_EQ(verdict(true, true), row.borrow_preempt);
    EXPECT_EQ(verdict(true, false), row.borrow_next);
    EXPECT_EQ(verdict(false, true), row.next_preempt);
    EXPECT_EQ(verdict(false, false), row.next_next);
  }
}

TEST(DecisionTable, Measured) {
  expect_table(Letter::kMeasured, {
                                      {{Mode::kNoFit, 0}, kGoOn, kGoOn, kGoOn, kGoOn},
                                      {{Mode::kNoFit, 2}, kGoOn, kGoOn, kGoOn, kGoOn},
                                      {{Mode::kNoCandidates, 0}, kGoOn, kGoOn, kGoOn, kGoOn},
                                      {{Mode::kNoCandidates, 1}, kGoOn, kGoOn, kGoOn, kGoOn},
                                      {{Mode::kPreempt, 0}, kHere, kGoOn, kHere, kGoOn},
                                      {{Mode::kPreempt, 1}, kHere, kGoOn, kGoOn, kGoOn},
                                      {{Mode::kReclaim, 0}, kHere, kGoOn, kHere, kGoOn},
                                      {{Mode::kReclaim, 3}, kHere, kGoOn, kGoOn, kGoOn},
                                      {{Mode::kFit, 0}, kHere, kHere, kHere, kHere},
                                      {{Mode::kFit, 1}, kHere, kHere, kGoOn, kGoOn},
                                      {{Mode::kFit, 2}, kHere, kHere, kGoOn, kGoOn},
                                  });
}

TEST(DecisionTable, Proposal) {
  expect_table(Letter::kProposal,
               {
                   {{Mode::kNoFit, 0}, kGoOn, kGoOn, kGoOn, kGoOn},
                   {{Mode::kNoCandidates, 0}, kGoOn, kGoOn, kGoOn, kGoOn},
                   {{Mode::kPreempt, 0}, kBest, kGoOn, kBest, kGoOn},
                   // The proposal's table says nothing of preemption while borrowing. With
                   // whenCanBorrow: TryNextFlavor the search goes on (B13): once the victims are
                   // gone the flavor is (Fit, Borrow), and would be left for the next one.
                   {{Mode::kPreempt, 1}, kBest, kGoOn, kGoOn, kGoOn},
                   {{Mode::kReclaim, 0}, kBest, kGoOn, kBest, kGoOn},
                   {{Mode::kReclaim, 1}, kBest, kGoOn, kGoOn, kGoOn},
                   {{Mode::kFit, 0}, kBest, kBest, kBest, kBest},
                   {{Mode::kFit, 1}, kBest, kBest, kGoOn, kGoOn},
               });
}

// B13: a search that stops at a flavor to preempt there still stops at it when the victims are
// gone, so that no workload is evicted for a flavor that is then left.
TEST(B13NobodyIsEvictedForNothing, AStopForPreemptionStaysAStopWhenItFits) {
  for (const Letter letter : {Letter::kMeasured, Letter::kProposal})
    for (const bool borrow : {false, true})
      for (const bool preempt : {false, true})
        for (const Mode mode : {Mode::kPreempt, Mode::kReclaim})
          for (const std::int32_t level : {0, 1, 2}) {
            const Policy policy{borrow, preempt, false};
            if (after_flavor(policy, letter, {mode, level}) == sluice::Search::kGoOn) continue;
            EXPECT_NE(after_flavor(policy, letter, {Mode::kFit, level}), sluice::Search::kGoOn)
                << "borrow " << borrow << " preempt " << preempt << " level " << level;
          }
}

// Each list is in order of preference, best first: every earlier one beats every later one.
void expect_order(const Policy& policy, const std::vector<Outcome>& best_first) {
  for (std::size_t i = 0; i < best_first.size(); ++i) {
    for (std::size_t j = 0; j < best_first.size(); ++j)
      EXPECT_EQ(better(policy, best_first[i], best_first[j]), i < j) << i << " against " << j;
  }
}

TEST(Preference, BorrowingOverPreemptionIsTheDefault) {
  expect_order({}, {{Mode::kFit, 0},
                    {Mode::kFit, 1},
                    {Mode::kFit, 2},
                    {Mode::kReclaim, 0},
                    {Mode::kReclaim, 1},
                    {Mode::kPreempt, 0},
                    {Mode::kPreempt, 1}});
}

TEST(Preference, PreemptionOverBorrowingComparesTheLevelFirst) {
  expect_order({false, false, true}, {{Mode::kFit, 0},
                                      {Mode::kReclaim, 0},
                                      {Mode::kPreempt, 0},
                                      {Mode::kFit, 1},
                                      {Mode::kReclaim, 1},
                                      {Mode::kPreempt, 1},
                                      {Mode::kFit, 2}});
}

Policy parsed(const char* fungibility, bool implicit_preference = false) {
  const std::string object = std::string(R"({"spec":{"flavorFungibility":)") + fungibility + "}}";
  return policy_of(sluice::Json::parse(object), implicit_preference);
}

TEST(PolicyOf, DefaultsAreBorrowAndTryNextFlavor) {
  const Policy defaults{true, false, false};
  EXPECT_EQ(policy_of(sluice::Json::parse(R"({"spec":{}})"), false), defaults);
  EXPECT_EQ(policy_of(sluice::Json::parse(R"({"spec":{}})"), true), defaults);
  EXPECT_EQ(parsed("{}"), defaults);
}

TEST(PolicyOf, BothSpellingsOfTheStopValues) {
  EXPECT_EQ(parsed(R"({"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"})"),
            (Policy{true, true, false}));
  EXPECT_EQ(parsed(R"({"whenCanBorrow":"MayStopSearch","whenCanPreempt":"MayStopSearch"})"),
            (Policy{true, true, false}));
  EXPECT_EQ(parsed(R"({"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor"})"),
            (Policy{false, false, false}));
}

TEST(PolicyOf, ExplicitPreferenceWinsOverTheImplicitSwitch) {
  const char* avoid =
      R"({"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor",
          "preference":"PreemptionOverBorrowing"})";
  const char* borrow =
      R"({"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor",
          "preference":"BorrowingOverPreemption"})";
  for (const bool implicit_preference : {false, true}) {
    EXPECT_TRUE(parsed(avoid, implicit_preference).avoid_borrowing_first);
    EXPECT_FALSE(parsed(borrow, implicit_preference).avoid_borrowing_first);
  }
}

TEST(PolicyOf, ImplicitSwitchAppliesInTheProposalsTwoCasesOnly) {
  const auto avoids = [](const std::string& borrow, const std::string& preempt, bool on) {
    return parsed((R"({"whenCanBorrow":")" + borrow + R"(","whenCanPreempt":")" + preempt + "\"}")
                      .c_str(),
                  on)
        .avoid_borrowing_first;
  };
  EXPECT_TRUE(avoids("TryNextFlavor", "Preempt", true));        // case 1
  EXPECT_TRUE(avoids("TryNextFlavor", "TryNextFlavor", true));  // case 2
  EXPECT_FALSE(avoids("Borrow", "Preempt", true));
  EXPECT_FALSE(avoids("Borrow", "TryNextFlavor", true));
  for (const char* borrow : {"Borrow", "TryNextFlavor"})
    for (const char* preempt : {"Preempt", "TryNextFlavor"})
      EXPECT_FALSE(avoids(borrow, preempt, false)) << borrow << " " << preempt;
}

TEST(ScanPosition, MeasuredHoldsForOneCycleOrUntilTheOwnQueueChanges) {
  // cycles since it was recorded, generations of the queue, of the tree → does it hold?
  const std::vector<std::tuple<sluice::PositionAge, bool, bool>> rows = {
      {{0, 1, 0, 0}, true, true},
      {{0, 1, 1, 1}, true, false},  // in the very next cycle a change does not count
      {{0, 2, 0, 0}, true, true},
      {{0, 2, 0, 1}, true, false},  // what other queues free does not count
      {{0, 2, 1, 1}, false, false},
      {{0, 9, 3, 4}, false, false},
  };
  for (const auto& [age, measured, proposal] : rows) {
    SCOPED_TRACE(std::to_string(age.cycles) + " " + std::to_string(age.queue_generations) + " " +
                 std::to_string(age.tree_generations));
    EXPECT_EQ(keep_position(Letter::kMeasured, age), measured);
    EXPECT_EQ(keep_position(Letter::kProposal, age), proposal);
  }
}

}  // namespace
}  // namespace fungibility
