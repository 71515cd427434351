#include "tests/crash/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tests/crash/history_order.hpp"

namespace sluice::host::test {
namespace {

using Type = Operation::Type;

// What is wrong by itself, whatever the order: told and never watched, made by nobody.
class Check {
 public:
  Check(const std::vector<WatchedState>& states, const std::vector<Operation>& operations,
        const std::vector<Gap>& gaps)
      : states_(states), operations_(operations), gaps_(gaps) {
    for (const WatchedState& state : states_) by_version_.emplace(state.version, &state);
  }

  std::vector<std::string> run() {
    check_states();
    for (const Operation& operation : operations_) check_answer(operation);
    check_makers();
    return std::move(wrong_);
  }

 private:
  template <typename... Args>
  void wrong(fmt::format_string<Args...> text, Args&&... args) {
    wrong_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void check_states() {
    for (std::size_t i = 1; i < states_.size(); ++i)
      if (states_[i].version <= states_[i - 1].version)
        wrong("version {} was watched after {}", states_[i].version, states_[i - 1].version);
  }

  /// What an answer tells of the object was watched, where it could be.
  void check_answer(const Operation& operation) {
    if (!is_done(operation) || operation.type == Type::kDelete) return;
    const auto [told, first] = told_.emplace(operation.version, &operation);
    check_same(operation, told->second->uid, told->second->mark);
    const auto found = by_version_.find(operation.version);
    if (found != by_version_.end())
      check_same(operation, found->second->uid, found->second->mark);
    else if (first && !is_in(gaps_, operation.version))
      wrong("version {} was told and never watched", operation.version);
  }

  void check_same(const Operation& operation, const std::string& uid, const std::string& mark) {
    if (mark != operation.mark || uid != operation.uid)
      wrong("version {} is {} of {}, and {} of {}", operation.version, mark, uid, operation.mark,
            operation.uid);
  }

  /// Each state was written by one operation, and that wrote nothing else.
  void check_makers() {
    std::unordered_map<std::string, const Operation*> writers;
    for (const Operation& operation : operations_) {
      const bool writes = operation.type == Type::kCreate || operation.type == Type::kUpdate;
      if (writes && (is_done(operation) || operation.status == 0))
        writers.emplace(operation.mark, &operation);
    }
    std::unordered_map<std::string, std::uint64_t> made;
    for (const WatchedState& state : states_) {
      if (!state.exists) continue;
      const auto writer = writers.find(state.mark);
      if (writer == writers.end())
        wrong("version {} was made by nobody", state.version);
      else if (is_done(*writer->second) && writer->second->version != state.version)
        wrong("version {} was made by what was told {}", state.version, writer->second->version);
      const auto [before, first] = made.emplace(state.mark, state.version);
      if (!first)
        wrong("{} was written twice: {} and {}", state.mark, before->second, state.version);
    }
  }

  const std::vector<WatchedState>& states_;
  const std::vector<Operation>& operations_;
  const std::vector<Gap>& gaps_;
  std::unordered_map<std::uint64_t, const WatchedState*> by_version_;
  std::unordered_map<std::uint64_t, const Operation*> told_;
  std::vector<std::string> wrong_;
};

}  // namespace

bool is_done(const Operation& operation) {
  return operation.status >= 200 && operation.status <= 299;
}

bool is_in(const std::vector<Gap>& gaps, std::uint64_t version) {
  return std::any_of(gaps.begin(), gaps.end(),
                     [&](const Gap& gap) { return version > gap.after && version <= gap.upto; });
}

std::vector<std::string> check_history(const std::vector<WatchedState>& states,
                                       const std::vector<Operation>& operations,
                                       const std::vector<Gap>& gaps) {
  std::vector<std::string> wrong = Check(states, operations, gaps).run();
  if (!wrong.empty()) return wrong;
  std::string why = why_there_is_no_order(states, operations, gaps);
  if (!why.empty()) wrong.push_back(std::move(why));
  return wrong;
}

std::vector<std::string> check_versions(std::vector<Operation> operations) {
  std::erase_if(operations, [](const Operation& operation) {
    return !is_done(operation) || operation.version == 0 || operation.type == Type::kRead;
  });
  std::vector<Operation> by_answer = operations;
  const auto earlier = [](std::int64_t Operation::*moment) {
    return [moment](const Operation& a, const Operation& b) { return a.*moment < b.*moment; };
  };
  std::sort(operations.begin(), operations.end(), earlier(&Operation::called));
  std::sort(by_answer.begin(), by_answer.end(), earlier(&Operation::answered));
  std::vector<std::string> wrong;
  std::uint64_t last = 0;
  auto answered = by_answer.begin();
  for (const Operation& operation : operations) {
    for (; answered != by_answer.end() && answered->answered < operation.called; ++answered)
      last = std::max(last, answered->version);
    if (operation.version <= last)
      wrong.push_back(fmt::format("version {} came after {} was told", operation.version, last));
  }
  return wrong;
}

}  // namespace sluice::host::test
