// RecordSink: takes what happens in a simulation: the decision log, the story for people, a report.
// RecordSinks: several of them, called one after the other. Called by the simulation's thread, in
// order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
  /// A workload came: was created, or was there from the start.
  virtual void came(Duration, WorkloadId, const Engine&) {}
  /// A workload is deleted; the engine knows it still, for the last time.
  virtual void gone(Duration, WorkloadId, const Engine&) {}
};

/// The sinks must outlive it.
class RecordSinks final : public RecordSink {
 public:
  void add(RecordSink& sink) { sinks_.push_back(&sink); }

  void decided(Duration at, const Decision& decision, const Engine& engine) override {
    for (RecordSink* sink : sinks_) sink->decided(at, decision, engine);
  }
  void skipped(Duration at, std::string_view workload, std::string_view reason) override {
    for (RecordSink* sink : sinks_) sink->skipped(at, workload, reason);
  }
  void rested(Duration at, const Engine& engine) override {
    for (RecordSink* sink : sinks_) sink->rested(at, engine);
  }
  void came(Duration at, WorkloadId workload, const Engine& engine) override {
    for (RecordSink* sink : sinks_) sink->came(at, workload, engine);
  }
  void gone(Duration at, WorkloadId workload, const Engine& engine) override {
    for (RecordSink* sink : sinks_) sink->gone(at, workload, engine);
  }

 private:
  std::vector<RecordSink*> sinks_;
};

/// Seconds as the shortest decimal with at least one digit after the point: `0.0`, `2.5`.
void append_seconds(std::string& out, Duration offset);

/// The type of its record in the decision log; empty: it has none.
std::string_view record_name(DecisionType type);

}  // namespace sluice::host
