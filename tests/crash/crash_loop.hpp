// The crash test: a real host under mixed load is killed with SIGKILL at random moments and started
// again on the same store, many times. After each restart everything that clients were told is
// compared with what is there.
//
// What it checks: no acknowledged write is missing and an unanswered one is there whole or not at
// all; versions only rise; the queues' usage is the sum over the workloads; watches go on where
// they were, without a gap, or are told to list again; every job runs exactly once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sluice::host::test {

struct CrashOptions {
  std::filesystem::path sluice;  ///< the program
  std::filesystem::path folder;  ///< empty or absent; on the disk to be tested
  int rounds = 100;
  int clients = 4;
  std::uint32_t seed = 1;
  int most_load_ms = 250;  ///< a round is killed within this time
  void (*progress)(int round, int of) = nullptr;
};

struct CrashFigures {
  int rounds = 0, killed_while_starting = 0;
  std::uint64_t acknowledged = 0, refused = 0, unanswered = 0, unanswered_and_done = 0;
  std::uint64_t watched = 0, resumed = 0, expired = 0;
  std::uint64_t jobs = 0, pods_started = 0;
  std::vector<double> restarts_ms;  ///< from the start of the process to its ready line, in order
  double seconds = 0;
  std::vector<std::string> findings;  ///< empty when all is well
};

CrashFigures run_crash_loop(const CrashOptions& options);

/// A few lines for people.
std::string to_text(const CrashFigures& figures);

}  // namespace sluice::host::test
