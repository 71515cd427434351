// What becomes of a parent and its options: a function of what they are now, the queue's policy and
// the time. Nothing here knows of objects or of the host; keeping.cpp reads, asks and writes.
//
// Everything that has to outlive a restart is in the Record, which the parent carries. Deciding
// again on what came of a decision decides nothing. Times are nanoseconds since 1970.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy.hpp"

namespace options {

using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kSecondNs = 1'000'000'000;

/// An option that is inactive because of us says since when: what first turned it off. Anything
/// else made inactive was rejected. What keeps it off now is in the status.
inline constexpr std::string_view kHeldByDelay = "CreateDelay";
inline constexpr std::string_view kHeldByPolicy = "Policy";
inline constexpr std::string_view kHeldByParent = "Parent";

/// The eviction of the option that a better one replaces.
inline constexpr std::string_view kMigration = "FlavorMigration";

struct Option {
  enum class State : std::uint8_t { kPending, kReserved, kAdmitted, kInactive, kFinished };
  std::string name;                  ///< of its Workload
  std::string spec_name;             ///< of its OptionSpec
  std::vector<std::string> flavors;  ///< that it may use
  std::int32_t rank = 0;             ///< as its Workload says
  State state = State::kPending;
  Placement placement;             ///< what it got, while it holds quota
  std::string held;                ///< kHeldBy…; empty: not by us
  std::string evicted;             ///< reason of its last eviction, while it lasts
  Nanoseconds preempted_at = 0;    ///< while its preemption lasts
  bool waits_for_victims = false;  ///< its preemptions are under way
  bool outdated = false;           ///< its pod sets or its queue are no more those of the parent
  std::string message;             ///< why it is where it is, in the host's words
  bool active() const { return state != State::kInactive && state != State::kFinished; }
  bool operator==(const Option&) const = default;
};

/// What the parent carries.
struct Record {
  Nanoseconds since = 0;  ///< delays of creation count from here: its creation, or the last reset
  /// The first two different options that were admitted since then, by their spec's name, and when.
  std::vector<std::pair<std::string, Nanoseconds>> first;
  std::string admitted;  ///< the Workload of the option by which the parent is admitted
  std::string preempts;  ///< the Workload of the option that has the right to preempt
  bool off = false;      ///< the parent was inactive
  bool operator==(const Record&) const = default;
};

struct Situation {
  std::string parent;  ///< name
  bool active = true;
  bool finished = false;
  bool marked = false;               ///< it is a parent already
  std::vector<std::string> allowed;  ///< flavors that the parent itself is limited to; empty: all
  Record record;
  const Policy* policy = nullptr;  ///< nullptr: none (any more)
  std::vector<Option> options;     ///< that exist
  std::vector<std::string> taken;  ///< names that belong to others
  Nanoseconds now = 0;
};

struct Creation {
  std::string name;  ///< of the Workload
  OptionSpec spec;
  std::int32_t rank = 0;
  std::string held;  ///< empty: active
};

struct Change {
  std::string name;
  bool active = true;
  std::string held;
  std::string why;
  bool operator==(const Change&) const = default;
};

struct OptionStatus {
  std::string name;
  std::vector<std::string> flavors;
  std::string state;  ///< Pending, Admitted, Deactivated, Finished
  std::string message;
  bool operator==(const OptionStatus&) const = default;
};

struct Plan {
  std::vector<Creation> create;
  std::vector<std::string> remove;
  std::vector<Change> change;
  std::vector<std::pair<std::string, std::int32_t>> rerank;
  std::vector<std::pair<std::string, std::string>> why_off;  ///< of each that is off because of us
  Record record;
  bool collapse = false;      ///< from now on the parent is a workload like any other
  std::string lost;           ///< the option by which it was admitted, and is no more
  std::string lost_reason;    ///< reason of that eviction
  std::string migrated_from;  ///< it moved from this option to record.admitted
  std::string no_option;      ///< why it can have none, and what would help
  std::string rejected;       ///< all options were rejected: the parent is, with this message
  std::vector<OptionStatus> status;  ///< best first; of options that stay
  std::optional<Nanoseconds> next;   ///< to be decided again at the latest
};

Plan decide(const Situation& now);

/// As the sentence that people read.
std::string off_because(const std::string& why);

}  // namespace options
