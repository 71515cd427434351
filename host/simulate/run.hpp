// run_simulation: `sluice simulate` from its options to its Summary. It joins configuration,
// plugins, input, kernel and outputs; called by the command line, one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"

namespace sluice::host {

struct SimulateOptions {
  std::vector<std::string> paths;
  std::string config_file;                          ///< empty: the defaults
  std::optional<std::vector<std::string>> plugins;  ///< instead of those of the configuration
  std::optional<Duration> until;
  std::string log;  ///< empty: the story on stdout; "-": the log on stdout
  bool states = false;
  std::string dump;            ///< empty: none
  std::string report;          ///< empty: none
  std::string against;         ///< a decision log that the report compares with; empty: none
  std::optional<int> threads;  ///< instead of that of the configuration
  std::size_t max_file_bytes = 64u << 20;
  /// As a host does it: objects are validated again as they come, each status is written with the
  /// step that changed it, in a store with versions, with Events. Slower; the decisions are the
  /// same.
  bool as_host = false;
};

enum class SimulationEnd : std::uint8_t {
  kDone,     ///< nothing was left to happen, or the time that was given is over
  kEndless,  ///< stopped, because it would have gone on for ever
};

/// Nothing appears on stdout or in a file unless all went well; warnings go to stderr, and a note
/// now and then while it takes long.
Result<SimulationEnd> run_simulation(const SimulateOptions& options);

}  // namespace sluice::host
