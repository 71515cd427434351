#include "tests/crash/history_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace sluice::host::test {
namespace {

using Type = Operation::Type;

constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

/// Small numbers for texts; 0 is the empty text.
class Names {
 public:
  std::size_t of(const std::string& text) {
    return text.empty() ? 0 : numbers_.emplace(text, numbers_.size() + 1).first->second;
  }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
};

/// An operation, with what anybody saw of the state that it made.
struct Step {
  Operation operation;
  std::size_t mark = 0, uid = 0;  // uid 0: nobody saw it
  std::uint64_t version = 0;      // 0: nobody saw it

  bool unknown() const { return operation.status == 0; }
  bool writes() const { return operation.type != Type::kRead && (unknown() || is_done(operation)); }
};

/// How far an order is, and the object there.
struct Place {
  std::size_t first = 0;            // all steps before are placed, or never took effect
  std::vector<std::size_t> placed;  // the others that are placed, in order
  std::int64_t moment = std::numeric_limits<std::int64_t>::min();  // it is not before this
  std::size_t watched = 0;                                         // states that have come
  std::uint64_t last = 0;                                          // version that anybody saw
  bool exists = false;
  std::size_t mark = 0, uid = 0;
  std::uint64_t version = 0;
  auto operator<=>(const Place&) const = default;

  std::size_t count() const { return first + placed.size(); }
  bool has(std::size_t step) const {
    return std::binary_search(placed.begin(), placed.end(), step);
  }
};

class Search {
 public:
  Search(const std::vector<WatchedState>& states, const std::vector<Operation>& operations,
         const std::vector<Gap>& gaps)
      : states_(states), gaps_(gaps) {
    for (const Operation& operation : operations)
      if (operation.type != Type::kRead || operation.status != 0) steps_.push_back({operation});
    std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
      return a.operation.called < b.operation.called;
    });
    name_steps();
  }

  std::string run() {
    std::vector<Place> open{Place{}};
    while (!open.empty()) {
      Place place = std::move(open.back());
      open.pop_back();
      while (place_one_that_only_looks(place)) {
      }
      if (is_end(place)) return {};
      if (!tried_.insert(place).second) continue;
      if (place.count() >= farthest_.count()) farthest_ = place;
      add_next(place, open);
    }
    return describe(farthest_);
  }

 private:
  struct Seen {
    std::size_t uid = 0;
    std::uint64_t version = 0;
  };

  void name_steps() {
    Names marks, uids;
    std::unordered_map<std::string, Seen> seen;
    for (const WatchedState& state : states_) {
      state_marks_.push_back(marks.of(state.mark));
      if (state.exists) seen[state.mark] = {uids.of(state.uid), state.version};
    }
    for (const Step& step : steps_)
      if (is_done(step.operation) && step.operation.type != Type::kDelete)
        seen[step.operation.mark] = {uids.of(step.operation.uid), step.operation.version};
    for (Step& step : steps_) {
      if (step.operation.type == Type::kDelete) {
        step.uid = uids.of(step.operation.uid);
        continue;
      }
      step.mark = marks.of(step.operation.mark);
      const auto found = seen.find(step.operation.mark);
      if (found == seen.end()) continue;
      step.uid = found->second.uid;
      step.version = found->second.version;
    }
  }

  /// Steps that may come next by the clock: none that was answered before they were called is left
  /// over. With each, until when it may wait without costing another, unanswered one its chance.
  template <typename F>
  void for_each_candidate(const Place& place, const F& use) const {
    std::int64_t answered = kAlways, all = kAlways;
    for (std::size_t i = place.first; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (step.operation.called > answered) return;
      if (place.has(i) || is_over(step, place)) continue;
      if (!use(i, step.operation.called <= all)) return;
      all = std::min(all, step.operation.answered);
      if (!step.unknown()) answered = std::min(answered, step.operation.answered);
    }
  }

  /// It got no answer, and had not taken effect when the host was gone.
  static bool is_over(const Step& step, const Place& place) {
    return step.unknown() && step.operation.answered < place.moment;
  }

  void note(Place& place, std::size_t number) const {
    place.placed.insert(std::lower_bound(place.placed.begin(), place.placed.end(), number), number);
    place.moment = std::max(place.moment, steps_[number].operation.called);
    while (place.first < steps_.size()) {
      if (!place.placed.empty() && place.placed.front() == place.first)
        place.placed.erase(place.placed.begin());
      else if (!is_over(steps_[place.first], place))
        return;
      ++place.first;
    }
  }

  /// What changes nothing and agrees is placed at once: that keeps nothing else from its place.
  bool place_one_that_only_looks(Place& place) const {
    std::optional<std::size_t> found;
    for_each_candidate(place, [&](std::size_t number, bool costs_nothing) {
      const Step& step = steps_[number];
      if (costs_nothing && !step.writes() && agrees(step, place)) found = number;
      return !found;
    });
    if (found) note(place, *found);
    return found.has_value();
  }

  bool is_end(const Place& place) const {
    if (place.watched != states_.size()) return false;
    for (std::size_t i = place.first; i < steps_.size(); ++i)
      if (!place.has(i) && !steps_[i].unknown()) return false;
    return true;
  }

  /// The likeliest last, which is tried first: that of which nobody saw anything comes at the end.
  void add_next(const Place& place, std::vector<Place>& open) const {
    std::vector<Place> likely;
    for_each_candidate(place, [&](std::size_t number, bool) {
      const Step& step = steps_[number];
      if (!agrees(step, place)) return true;
      std::optional<Place> next = step.writes() ? after(step, place) : place;
      if (!next) return true;
      note(*next, number);
      (step.unknown() && step.version == 0 ? open : likely).push_back(std::move(*next));
      return true;
    });
    std::move(likely.begin(), likely.end(), std::back_inserter(open));
  }

  /// Whether the object as it is explains the answer, or the effect of what got none.
  static bool agrees(const Step& step, const Place& place) {
    const Operation& operation = step.operation;
    const bool as_expected = operation.expected == 0 || operation.expected == place.version;
    if (operation.status == 404) return !place.exists;
    if (operation.status == 409)
      return place.exists && (operation.type == Type::kCreate || !as_expected);
    const bool same_uid = step.uid == 0 || place.uid == 0 || step.uid == place.uid;
    switch (operation.type) {
      case Type::kCreate:
        return !place.exists;
      case Type::kRead:
        return place.exists && place.mark == step.mark && same_uid;
      case Type::kUpdate:
      case Type::kDelete:
        return place.exists && as_expected && same_uid;
    }
    return false;
  }

  /// After a write; nothing where what watches saw leaves no room for it.
  std::optional<Place> after(const Step& step, const Place& place) const {
    Place next = place;
    const bool removes = step.operation.type == Type::kDelete;
    if (!come(step, removes, next)) return std::nullopt;
    next.exists = !removes;
    next.mark = step.mark;
    next.version = step.version;
    if (removes)
      next.uid = 0;
    else if (step.operation.type == Type::kCreate || step.uid != 0)
      next.uid = step.uid;
    return next;
  }

  bool come(const Step& step, bool removes, Place& place) const {
    const WatchedState* next = place.watched < states_.size() ? &states_[place.watched] : nullptr;
    // A removal shows the object as it was before.
    const bool is_next =
        next != nullptr && (removes ? !next->exists && state_marks_[place.watched] == place.mark
                                    : step.version == next->version);
    if (is_next) {
      ++place.watched;
      place.last = next->version;
      return true;
    }
    const std::uint64_t end =
        next == nullptr ? std::numeric_limits<std::uint64_t>::max() : next->version;
    if (step.version == 0 || removes) return gap_between(place.last, end);
    if (step.version <= place.last || step.version >= end || !is_in(gaps_, step.version))
      return false;
    place.last = step.version;
    return true;
  }

  /// Whether a version between these may have come unseen.
  bool gap_between(std::uint64_t after, std::uint64_t before) const {
    return std::any_of(gaps_.begin(), gaps_.end(), [&](const Gap& gap) {
      return std::max(gap.after, after) + 1 < before && gap.upto > after;
    });
  }

  std::string describe(const Place& place) const {
    std::string out =
        fmt::format("there is no order: {} of {} operations fit, up to version {}; then",
                    place.count(), steps_.size(), place.last);
    if (place.watched < states_.size())
      out +=
          fmt::format(" version {} was watched, {}{}", states_[place.watched].version,
                      states_[place.watched].mark, states_[place.watched].exists ? "" : " removed");
    for_each_candidate(place, [&](std::size_t number, bool) {
      constexpr const char* kNames[] = {"create", "read", "update", "delete"};
      const Operation& operation = steps_[number].operation;
      out +=
          fmt::format(", {} {} for {} from {} to {} was told {} {}",
                      kNames[static_cast<int>(operation.type)], operation.mark, operation.expected,
                      operation.called, operation.answered, operation.status, operation.version);
      return true;
    });
    return out;
  }

  const std::vector<WatchedState>& states_;
  const std::vector<Gap>& gaps_;
  std::vector<std::size_t> state_marks_;
  std::vector<Step> steps_;
  std::set<Place> tried_;
  Place farthest_;
};

}  // namespace

std::string why_there_is_no_order(const std::vector<WatchedState>& states,
                                  const std::vector<Operation>& operations,
                                  const std::vector<Gap>& gaps) {
  return Search(states, operations, gaps).run();
}

}  // namespace sluice::host::test
