#include "tests/crash/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace sluice::host::test {
namespace {

constexpr std::int64_t kLong = std::numeric_limits<std::int64_t>::max();

// State 0 is that there is nothing; state i + 1 is states[i].
class Check {
 public:
  Check(const std::vector<WatchedState>& states, const std::vector<Operation>& operations)
      : operations_(operations), states_(1), made_(states.size() + 1, false) {
    states_.insert(states_.end(), states.begin(), states.end());
    not_before_.assign(states_.size(), std::numeric_limits<std::int64_t>::min());
    not_after_.assign(states_.size(), kLong);
  }

  std::vector<std::string> run() {
    for (const Operation& operation : operations_) bound(operation);
    for (std::size_t i = 1; i < states_.size(); ++i) {
      if (!made_[i]) wrong("version {} was made by nobody", states_[i].version);
      not_before_[i] = std::max(not_before_[i], not_before_[i - 1]);
    }
    for (std::size_t i = states_.size() - 1; i-- > 1;)
      not_after_[i] = std::min(not_after_[i], not_after_[i + 1]);
    for (std::size_t i = 1; i < states_.size(); ++i)
      if (not_before_[i] > not_after_[i])
        wrong("version {} cannot have come at any moment", states_[i].version);
    for (const Operation& operation : operations_) check_refusal(operation);
    return std::move(wrong_);
  }

 private:
  template <typename... Args>
  void wrong(fmt::format_string<Args...> text, Args&&... args) {
    wrong_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  std::optional<std::size_t> find(const Operation& operation) const {
    for (std::size_t i = 1; i < states_.size(); ++i) {
      const WatchedState& state = states_[i];
      const bool is = operation.type == Operation::Type::kDelete
                          ? !state.exists && state.uid == operation.uid
                          : state.version == operation.version;
      if (is) return i;
    }
    return std::nullopt;
  }

  /// An operation that succeeded made a state, or saw one.
  void bound(const Operation& operation) {
    if (operation.status < 200 || operation.status > 299) return;
    const auto found = find(operation);
    if (!found) return wrong("version {} was told and never watched", operation.version);
    const WatchedState& state = states_[*found];
    if (operation.type != Operation::Type::kDelete && state.mark != operation.mark)
      wrong("version {} is {} and {}", state.version, state.mark, operation.mark);
    not_after_[*found] = std::min(not_after_[*found], operation.answered);
    if (operation.type == Operation::Type::kRead) {
      if (*found + 1 < states_.size())
        not_before_[*found + 1] = std::max(not_before_[*found + 1], operation.called);
      return;
    }
    not_before_[*found] = std::max(not_before_[*found], operation.called);
    if (made_[*found]) wrong("version {} was made twice", state.version);
    made_[*found] = true;
    const WatchedState& before = states_[*found - 1];
    if (operation.expected != 0 && before.version != operation.expected)
      wrong("version {} was made for {}, after {}", state.version, operation.expected,
            before.version);
    if (before.exists != (operation.type != Operation::Type::kCreate))
      wrong("version {} was made of what {}", state.version,
            before.exists ? "existed" : "did not exist");
  }

  /// A refusal needs one state, at some moment between call and answer, that explains it.
  void check_refusal(const Operation& operation) {
    if (operation.status != 404 && operation.status != 409) return;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const std::int64_t end = i + 1 < states_.size() ? not_after_[i + 1] : kLong;
      const bool may_be = not_before_[i] <= operation.answered && end >= operation.called;
      if (may_be && explains(states_[i], operation)) return;
    }
    wrong("a {} for version {} that nothing explains", operation.status, operation.expected);
  }

  static bool explains(const WatchedState& state, const Operation& operation) {
    if (operation.status == 404) return !state.exists;
    if (operation.type == Operation::Type::kCreate) return state.exists;
    return state.exists && operation.expected != 0 && state.version != operation.expected;
  }

  const std::vector<Operation>& operations_;
  std::vector<WatchedState> states_;
  std::vector<bool> made_;
  std::vector<std::int64_t> not_before_, not_after_;  // of the moment at which a state began
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> check_history(const std::vector<WatchedState>& states,
                                       const std::vector<Operation>& operations) {
  return Check(states, operations).run();
}

}  // namespace sluice::host::test
