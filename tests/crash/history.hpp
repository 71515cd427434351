// History: what clients did to one object and when, checked against the order in which its versions
// came: is there one order of all operations that each of them agrees with, in which each took
// effect between its call and its answer?
//
// A watch gives the states of the object in order, without those that came in a Gap. An operation
// that got no answer because the host was killed took effect before that, or never. Plain values,
// pure functions.
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
  /// Nanoseconds of one clock; without an answer, `answered` is when the host was gone.
  std::int64_t called = 0, answered = 0;
  int status = 0;              ///< 409 covers "exists already"; 0: no answer
  std::uint64_t expected = 0;  ///< the version it was made for; 0: any
  std::uint64_t version = 0;   ///< in the answer
  std::string uid;             ///< in the answer
  std::string mark;            ///< in the answer, or of what was written; no two writes have one
};

bool is_done(const Operation& operation);

/// Versions after `after`, up to and with `upto`, whose states no watch saw.
struct Gap {
  std::uint64_t after = 0, upto = 0;
  bool operator==(const Gap&) const = default;
};

bool is_in(const std::vector<Gap>& gaps, std::uint64_t version);

/// What cannot have been; empty when all is well. `states`: all that the object went through, in
/// order of their versions, after it did not exist; but for what came in the gaps.
std::vector<std::string> check_history(const std::vector<WatchedState>& states,
                                       const std::vector<Operation>& operations,
                                       const std::vector<Gap>& gaps = {});

/// The same of versions, over all objects: a write that was called after another was answered has
/// the later one.
std::vector<std::string> check_versions(std::vector<Operation> operations);

}  // namespace sluice::host::test
