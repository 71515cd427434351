// History: what clients did to one object and when, checked against the order in which its versions
// came: is there one order of all operations that each of them agrees with, in which each happened
// between its call and its answer?
//
// A watch gives the states of the object in order. Each state has a moment at which it began; an
// operation bounds the moments of the states that it made or saw. Plain values, pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::host::test {

struct WatchedState {
  std::uint64_t version = 0;
  bool exists = false;
  std::string uid, mark;
  bool operator==(const WatchedState&) const = default;
};

struct Operation {
  enum class Type : std::uint8_t { kCreate, kRead, kUpdate, kDelete };
  Type type = Type::kRead;
  std::int64_t called = 0, answered = 0;  ///< nanoseconds of one clock
  int status = 0;                         ///< 409 covers "exists already"
  std::uint64_t expected = 0;             ///< the version it was made for; 0: any
  std::uint64_t version = 0;              ///< in the answer
  std::string uid, mark;                  ///< in the answer; of what was written
};

/// What cannot have been; empty when all is well. `states`: all that the object went through, in
/// order of their versions, after it did not exist.
std::vector<std::string> check_history(const std::vector<WatchedState>& states,
                                       const std::vector<Operation>& operations);

}  // namespace sluice::host::test
