// HistoryWatch: a watch of a history's objects that goes on from the last version it saw, after
// each few events over a new connection, and after each crash. A host keeps no past from before it
// started: where a watch missed something it is told to list again (410), and the list is one more
// read of each object.
//
// follow() is one thread's; everything else is for after it.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/crash/findings.hpp"
#include "tests/crash/history.hpp"
#include "tests/crash/history_host.hpp"

namespace sluice::host::test {

/// The object with which a history ends.
inline constexpr const char* kEnd = "end";

struct HistoryEvent {
  std::string name;
  WatchedState state;
  bool operator==(const HistoryEvent&) const = default;
};

class HistoryWatch {
 public:
  /// From a version at which there are no objects. Each connection is cut after 1 to `most` events.
  HistoryWatch(HistoryHost& host, std::uint64_t version, unsigned most)
      : host_(host), random_(most), most_(most), version_(version) {}

  /// Until kEnd came.
  void follow(Findings& findings);

  /// By version.
  const std::map<std::uint64_t, HistoryEvent>& events() const { return events_; }
  const std::vector<Gap>& gaps() const { return gaps_; }
  /// The lists, as reads of the objects that were there before or then; by name.
  const std::map<std::string, std::vector<Operation>>& reads() const { return reads_; }
  /// How often it went on after a crash and missed nothing.
  unsigned resumed() const { return resumed_; }

 private:
  enum class Outcome { kCut, kExpired, kBroken };
  Outcome connect(AdminClient& client, Findings& findings);
  Outcome take(AdminClient& client, Findings& findings);
  Outcome take(const std::string& line, Findings& findings);
  bool list(AdminClient& client, Findings& findings);
  void change(const std::string& type, const std::string& name, WatchedState state,
              Findings& findings);

  HistoryHost& host_;
  std::minstd_rand random_;
  const unsigned most_;
  std::uint64_t version_;
  bool ended_ = false, new_run_ = false;
  std::size_t run_ = 0;
  unsigned resumed_ = 0;
  std::map<std::string, WatchedState> objects_;  // that exist
  std::map<std::uint64_t, HistoryEvent> events_;
  std::vector<Gap> gaps_;
  std::map<std::string, std::vector<Operation>> reads_;
};

/// What all watches saw, and where none of them did.
struct Watched {
  std::map<std::string, std::vector<WatchedState>> states;  ///< by name
  std::vector<Gap> gaps;
};

/// Each watch has to have seen what any other one did, outside its own gaps.
Watched unite(const std::vector<HistoryWatch>& watches, Findings& findings);

}  // namespace sluice::host::test
