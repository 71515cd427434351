// Story: a simulation for a person, one line per decision, with the tables at its end.
// Belongs to the simulation's thread.
#pragma once

#include <string>
#include <string_view>

#include "host/kernel/kernel.hpp"
#include "host/simulate/output.hpp"
#include "host/simulate/record_sink.hpp"

namespace sluice::host {

class Story final : public RecordSink {
 public:
  /// `states`: also the names of the workloads in each state at the end of each instant.
  Story(PendingOutput& output, bool states) : output_(output), states_(states) {}

  void decided(Duration at, const Decision& decision, const Engine& engine) override;
  void skipped(Duration at, std::string_view workload, std::string_view reason) override;
  void rested(Duration at, const Engine& engine) override;

  /// The tables of queues and workloads, as they stand at `at`.
  void tables(Duration at, const Kernel& kernel);

 private:
  void line(Duration at, std::string_view workload, std::string_view what);

  PendingOutput& output_;
  bool states_;
};

/// `0s`, `1.5s`, `2m30s`, `1h0m5s`.
std::string offset_text(Duration offset);

}  // namespace sluice::host
