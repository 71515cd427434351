// Actor: one client of a history. It does what its seed draws to a few objects that others use as
// well, and writes down what it asked and what it was told. When the host is killed it goes on with
// the next one.
//
// One thread each; done() is for after act().
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/crash/findings.hpp"
#include "tests/crash/history.hpp"
#include "tests/crash/history_host.hpp"

namespace sluice::host::test {

class Actor {
 public:
  /// `number`: no two of a history have one.
  Actor(HistoryHost& host, std::uint64_t seed, int number)
      : host_(host), random_(seed), number_(number) {}

  void act(int operations, Findings& findings);
  /// By the name of the object.
  const std::map<std::string, std::vector<Operation>>& done() const { return done_; }

 private:
  bool connect();
  Operation draw(const std::string& name, int number);
  Answer send(const std::string& name, const Operation& operation);

  HistoryHost& host_;
  std::mt19937_64 random_;
  int number_;
  HistoryHost::Run run_;
  std::optional<AdminClient> client_;
  std::map<std::string, std::uint64_t> known_;
  std::map<std::string, std::vector<Operation>> done_;
};

}  // namespace sluice::host::test
