// CommandRuns: the configured command, for requests that wait: it is started, stopped, run again
// when it asked for that, and what it says is written to the status of its request.
//
// Without a command, and in a simulation, nothing happens. Belongs to the control thread; the
// command itself runs on threads of the Provisioner.
#pragma once

#include <sluice/cpp/context.hpp>
#include <sluice/cpp/json.hpp>
#include <sluice/cpp/objects.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "provisioner.hpp"

namespace provisioning {

inline constexpr std::int64_t kSecond = 1'000'000'000;  ///< as the clock of a host counts

class CommandRuns {
 public:
  /// By the plugin's configuration; throws Refused when it makes no sense. The timer of this number
  /// is set when there are results.
  CommandRuns(const sluice::Context& context, std::uint64_t results_timer);
  /// No thread runs any more when it returns.
  void end() { provisioner_.reset(); }

  /// Runs the command, if it is for this request and nothing is known of it yet; when to ask again.
  sluice::Again run_for(const sluice::Json& request);
  /// By UID: the request is gone.
  void forget(const std::string& uid);
  /// Writes what commands said since.
  void take_results();

 private:
  bool is_for_command(const sluice::Json& request) const;

  sluice::Context context_;
  std::vector<std::string> classes_;              // of requests that it is for; empty: of all
  std::map<std::string, std::int64_t> next_run_;  // by UID of the request
  std::unique_ptr<Provisioner> provisioner_;
};

}  // namespace provisioning
