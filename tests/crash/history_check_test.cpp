// The checker of histories itself: it takes what can have been, and finds what cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/history.hpp"

namespace sluice::host::test {
namespace {

using Type = Operation::Type;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<WatchedState> three_states() {
  return {{1, true, "u", "a"}, {2, true, "u", "b"}, {3, false, "u", "b"}};
}

std::vector<Operation> good() {
  Operation create{Type::kCreate, 0, 10, 201, 0, 1, "u", "a"};
  Operation update{Type::kUpdate, 20, 30, 200, 1, 2, "u", "b"};
  Operation remove{Type::kDelete, 40, 50, 200, 0, 0, "u", ""};
  return {create, update, remove};
}

std::size_t problems(const Operation& more) {
  std::vector<Operation> all = good();
  all.push_back(more);
  return check_history(three_states(), all).size();
}

TEST(HistoryCheck, TakesWhatCanHaveBeen) {
  EXPECT_THAT(check_history(three_states(), good()), IsEmpty());
  EXPECT_EQ(problems({Type::kRead, 11, 25, 200, 0, 1, "u", "a"}), 0U);
  EXPECT_EQ(problems({Type::kRead, 11, 25, 200, 0, 2, "u", "b"}), 0U);
  EXPECT_EQ(problems({Type::kUpdate, 29, 31, 409, 1, 0, "", "c"}), 0U);
  EXPECT_EQ(problems({Type::kRead, 45, 46, 404, 0, 0, "", ""}), 0U);
}

TEST(HistoryCheck, FindsWhatCannot) {
  // A stale read, one from the future, a torn one.
  EXPECT_GT(problems({Type::kRead, 31, 32, 200, 0, 1, "u", "a"}), 0U);
  EXPECT_GT(problems({Type::kRead, 11, 12, 200, 0, 2, "u", "b"}), 0U);
  EXPECT_GT(problems({Type::kRead, 11, 25, 200, 0, 1, "u", "b"}), 0U);
  // Refusals of what was so all the time.
  EXPECT_GT(problems({Type::kUpdate, 12, 18, 409, 1, 0, "", "c"}), 0U);
  EXPECT_GT(problems({Type::kRead, 12, 18, 404, 0, 0, "", ""}), 0U);
  EXPECT_GT(problems({Type::kCreate, 52, 58, 409, 0, 0, "", "c"}), 0U);
  // An acknowledged write that left nothing, and a version that no write made.
  EXPECT_GT(problems({Type::kUpdate, 12, 18, 200, 0, 9, "u", "c"}), 0U);
  EXPECT_GT(problems({Type::kDelete, 12, 18, 200, 0, 0, "v", ""}), 0U);
  std::vector<Operation> fewer = good();
  fewer.erase(fewer.begin() + 1);
  EXPECT_FALSE(check_history(three_states(), fewer).empty());
  // An update that was made for another version than the one before it.
  std::vector<Operation> lost = good();
  lost[1].expected = 7;
  EXPECT_FALSE(check_history(three_states(), lost).empty());
}

TEST(HistoryCheck, FindsTwoReadsInTheWrongOrder) {
  // Each by itself could have been while version 2 was written; not the newer one before the older.
  std::vector<Operation> all = good();
  all.push_back({Type::kRead, 21, 23, 200, 0, 2, "u", "b"});
  EXPECT_THAT(check_history(three_states(), all), IsEmpty());
  all.push_back({Type::kRead, 24, 26, 200, 0, 1, "u", "a"});
  EXPECT_THAT(check_history(three_states(), all), ElementsAre(HasSubstr("there is no order")));
}

// ---- with crashes. The host is killed at moment 100. All that was watched is version 1.

const Operation kFirst{Type::kCreate, 0, 10, 201, 0, 1, "u", "a"};
const Operation kUnanswered{Type::kUpdate, 90, 100, 0, 0, 0, "", "x"};

Operation read_after(std::uint64_t version, const std::string& mark) {
  return {Type::kRead, 110, 120, 200, 0, version, "u", mark};
}

/// Watches were told to list again where they were at version 1, and did at version 9.
std::vector<std::string> with_gap(std::vector<Operation> operations) {
  operations.insert(operations.begin(), kFirst);
  return check_history({{1, true, "u", "a"}}, operations, {{1, 9}});
}

/// Watches went on from version 1 and saw `more`.
std::vector<std::string> without_gap(std::vector<WatchedState> more,
                                     std::vector<Operation> operations) {
  more.insert(more.begin(), {1, true, "u", "a"});
  operations.insert(operations.begin(), kFirst);
  return check_history(more, operations);
}

TEST(HistoryCheck, OfACrashTakesAWriteWithoutAnAnswerThatIsThereOrNot) {
  EXPECT_THAT(with_gap({kUnanswered, read_after(2, "x")}), IsEmpty());
  EXPECT_THAT(with_gap({kUnanswered, read_after(1, "a")}), IsEmpty());
  EXPECT_THAT(without_gap({{2, true, "u", "x"}}, {kUnanswered, read_after(2, "x")}), IsEmpty());
  EXPECT_THAT(without_gap({}, {kUnanswered, read_after(1, "a")}), IsEmpty());
  // Where it is not, what comes after the restart may overlap as ever.
  const Operation slow{Type::kUpdate, 110, 130, 200, 0, 11, "u", "c"};
  const Operation fast{Type::kUpdate, 111, 120, 200, 1, 10, "u", "b"};
  EXPECT_THAT(without_gap({{10, true, "u", "b"}, {11, true, "u", "c"}}, {kUnanswered, slow, fast}),
              IsEmpty());
  // Also a removal, and one that was made again.
  const Operation removal{Type::kDelete, 90, 100, 0, 0, 0, "", ""};
  const Operation gone{Type::kRead, 110, 120, 404, 0, 0, "", ""};
  EXPECT_THAT(with_gap({removal, gone}), IsEmpty());
  const Operation again{Type::kCreate, 95, 99, 201, 0, 5, "v", "y"};
  EXPECT_THAT(with_gap({removal, again, {Type::kRead, 110, 120, 200, 0, 5, "v", "y"}}), IsEmpty());
}

TEST(HistoryCheck, OfACrashTakesWhatNobodySawWhereItExplainsAnAnswer) {
  // The write without an answer was there for a moment: an update for the version before it was
  // refused, and another write came over it.
  const Operation refused{Type::kUpdate, 92, 93, 409, 1, 0, "", "y"};
  const Operation over{Type::kUpdate, 94, 95, 200, 0, 3, "u", "z"};
  EXPECT_THAT(with_gap({kUnanswered, refused, over, read_after(3, "z")}), IsEmpty());
  EXPECT_FALSE(with_gap({refused, over, read_after(3, "z")}).empty());
  // It cannot have been where watches saw everything.
  EXPECT_FALSE(
      without_gap({{3, true, "u", "z"}}, {kUnanswered, refused, over, read_after(3, "z")}).empty());
  // Made, read by nobody, and removed by another.
  const Operation removed{Type::kDelete, 92, 93, 200, 0, 0, "u", ""};
  const Operation made{Type::kCreate, 92, 100, 0, 0, 0, "", "y"};
  const Operation removed_too{Type::kDelete, 94, 95, 200, 0, 0, "v", ""};
  const Operation gone{Type::kRead, 110, 120, 404, 0, 0, "", ""};
  EXPECT_THAT(with_gap({removed, made, removed_too, gone}), IsEmpty());
  EXPECT_FALSE(with_gap({removed, removed_too, gone}).empty());
}

TEST(HistoryCheck, OfACrashFindsAnAcknowledgedWriteThatIsMissing) {
  const Operation update{Type::kUpdate, 90, 95, 200, 0, 2, "u", "b"};
  const Operation removal{Type::kDelete, 90, 95, 200, 0, 0, "u", ""};
  EXPECT_THAT(with_gap({update, read_after(2, "b")}), IsEmpty());
  EXPECT_THAT(with_gap({update, read_after(1, "a")}), ElementsAre(HasSubstr("there is no order")));
  EXPECT_FALSE(with_gap({removal, read_after(1, "a")}).empty());
  // Where watches went on, they had to see it.
  EXPECT_THAT(without_gap({}, {update}), ElementsAre("version 2 was told and never watched"));
  EXPECT_FALSE(without_gap({}, {removal}).empty());
  // What somebody read before the crash was published, and has to be there, too.
  const Operation seen{Type::kRead, 95, 96, 200, 0, 2, "u", "x"};
  EXPECT_THAT(with_gap({kUnanswered, seen, read_after(2, "x")}), IsEmpty());
  EXPECT_FALSE(with_gap({kUnanswered, seen, read_after(1, "a")}).empty());
}

TEST(HistoryCheck, OfACrashFindsAWriteThatComesTwiceOrTooLate) {
  EXPECT_THAT(without_gap({{2, true, "u", "x"}, {3, true, "u", "x"}}, {kUnanswered}),
              ElementsAre("x was written twice: 2 and 3"));
  // It was not there after the restart, and then it was.
  const Operation later{Type::kRead, 130, 140, 200, 0, 10, "u", "x"};
  EXPECT_FALSE(
      without_gap({{10, true, "u", "x"}}, {kUnanswered, read_after(1, "a"), later}).empty());
  // It was made for a version that was no longer the last.
  Operation conditional = kUnanswered;
  conditional.expected = 1;
  const Operation update{Type::kUpdate, 50, 60, 200, 0, 2, "u", "b"};
  EXPECT_THAT(with_gap({conditional, read_after(2, "x")}), IsEmpty());
  EXPECT_FALSE(
      without_gap({{2, true, "u", "b"}, {3, true, "u", "x"}}, {update, conditional}).empty());
  // It was made over a write that is there.
  const Operation create{Type::kCreate, 90, 100, 0, 0, 0, "", "x"};
  EXPECT_FALSE(without_gap({{2, true, "v", "x"}}, {create}).empty());
}

TEST(HistoryCheck, OfACrashFindsAVersionThatIsGivenTwice) {
  const Operation before{Type::kUpdate, 90, 95, 200, 0, 2, "u", "b"};
  const Operation after{Type::kUpdate, 110, 115, 200, 0, 2, "u", "c"};
  EXPECT_FALSE(with_gap({before, after}).empty());
  EXPECT_FALSE(without_gap({{2, true, "u", "c"}}, {before, after}).empty());
  EXPECT_THAT(check_versions({before, after}), ElementsAre("version 2 came after 2 was told"));
  EXPECT_THAT(check_versions({kFirst, before}), IsEmpty());
  EXPECT_THAT(check_versions({before, read_after(1, "a")}), IsEmpty());
}

}  // namespace
}  // namespace sluice::host::test
