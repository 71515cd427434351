// Load: one client that creates, replaces, patches and deletes its own objects, and keeps account
// of what it was told and of what it does not know because the host died before it answered.
//
// Each object belongs to one client, so what it must be after a restart is known exactly: as it was
// last acknowledged, or as the one write that got no answer makes it. run() is one thread's; the
// rest is called while no run() is under way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/crash/findings.hpp"
#include "tests/crash/host_process.hpp"
#include "tests/crash/objects.hpp"

namespace sluice::host::test {

/// A state of an object: its mark; nullopt when it does not exist.
using Mark = std::optional<std::string>;

struct Expected {
  Mark told;                    ///< what was acknowledged last
  std::uint64_t version = 0;    ///< with it; 0: not told
  std::optional<Mark> unknown;  ///< what a write without an answer would have made of it
};

struct Acknowledged {
  Kind kind;
  std::string name;
  std::uint64_t version;
};

struct LoadCounts {
  std::uint64_t acknowledged = 0, refused = 0, unanswered = 0, unanswered_and_done = 0;
};

class Load {
 public:
  Load(int number, std::uint32_t seed, std::string runs)
      : number_(number), random_(seed), runs_(std::move(runs)) {}

  /// Writes until the connection breaks, which is how it ends.
  void run(const HostProcess& host, Findings& findings);

  /// Compares with what the host has now, and goes on from that. `objects`: all of one kind.
  void check(Kind kind, const std::map<std::string, SeenObject>& objects, Findings& findings);

  /// Writes that were acknowledged since the last call.
  std::vector<Acknowledged> take_acknowledged() { return std::exchange(acknowledged_, {}); }
  /// Jobs that must run to their end, and those that may have been deleted before: name → pods.
  const std::map<std::string, int>& jobs() const { return jobs_; }
  bool is_deleted(const std::string& job) const;
  const LoadCounts& counts() const { return counts_; }
  std::uint64_t last_version() const { return last_version_; }

 private:
  using Objects = std::map<std::string, Expected>;

  bool step(AdminClient& client, Findings& findings);
  Kind pick_kind();
  bool create(AdminClient& client, Kind kind, Findings& findings);
  bool patch(AdminClient& client, Kind kind, const std::string& name, Findings& findings);
  bool replace(AdminClient& client, Kind kind, const std::string& name, Findings& findings);
  bool remove(AdminClient& client, Kind kind, const std::string& name, Findings& findings);
  bool answered(const Answer& answer, Kind kind, const std::string& name, Findings& findings);
  bool one_in(unsigned n) { return random_() % n == 0; }
  std::string next_mark();

  int number_;
  std::mt19937 random_;
  std::string runs_;
  std::map<Kind, Objects> objects_;
  std::map<std::string, int> jobs_;
  std::vector<Acknowledged> acknowledged_;
  std::uint64_t marks_ = 0, names_ = 0, last_version_ = 0;
  unsigned jobs_left_ = 0;
  LoadCounts counts_;
};

}  // namespace sluice::host::test
