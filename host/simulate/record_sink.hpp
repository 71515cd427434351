// RecordSink: who is told what happens in a simulation; the decision log and the story for people
// are the two. Called by the simulation's thread, in order.
#pragma once

#include <string>
#include <string_view>

#include "core/base/time.hpp"
#include "core/engine/engine.hpp"

namespace sluice::host {

/// Offsets are since the start of the virtual clock.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void decided(Duration at, const Decision& decision, const Engine& engine) = 0;
  /// An event that could not be carried out and changed nothing.
  virtual void skipped(Duration at, std::string_view workload, std::string_view reason) = 0;
  /// The end of an instant at which something changed.
  virtual void rested(Duration at, const Engine& engine) = 0;
};

/// Seconds as the shortest decimal with at least one digit after the point: `0.0`, `2.5`.
void append_seconds(std::string& out, Duration offset);

std::string_view state_name(WorkloadState state);

}  // namespace sluice::host
