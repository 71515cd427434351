// Watcher: one client that watches a kind over all restarts: it goes on from the last version it
// saw, or lists again where the host says 410, and checks the stream: versions rise, bookmarks
// never go back, each event fits the state that the events before it made.
//
// follow() is one thread's; state() and check may be called from any other.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/crash/findings.hpp"
#include "tests/crash/host_process.hpp"
#include "tests/crash/load.hpp"

namespace sluice::host::test {

class Watcher {
 public:
  explicit Watcher(Kind kind) : kind_(kind) {}

  /// Until the connection breaks.
  void follow(const HostProcess& host, Findings& findings);

  /// Whether everything up to `version` was seen.
  bool reached(std::uint64_t version) const;
  /// Versions by name, as the events made them.
  std::map<std::string, std::uint64_t> state() const;
  std::uint64_t last() const;
  /// Each of these that lies in the part of the history that was watched must have been seen.
  void check(const std::vector<Acknowledged>& writes, Findings& findings) const;

  std::uint64_t events() const;
  std::uint64_t resumed = 0, expired = 0;  ///< how often it went on, and how often it got 410

 private:
  bool list(AdminClient& client, Findings& findings);
  bool take(const boost::json::object& event, Findings& findings);
  void change(const std::string& type, const boost::json::object& object, Findings& findings);

  const Kind kind_;
  mutable std::mutex mutex_;
  bool listed_ = false;
  std::uint64_t since_ = 0, last_ = 0, events_ = 0;
  std::map<std::string, std::uint64_t> objects_;
  std::map<std::uint64_t, std::string> seen_;  // since since_
};

}  // namespace sluice::host::test
