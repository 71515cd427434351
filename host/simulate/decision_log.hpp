// DecisionLog: the decisions as JSON Lines (docs/simulate.md describes the records).
//
// Byte-identical for identical input; written by hand into the output's buffer, because a record
// costs a fraction of a microsecond that way.
#pragma once

#include "host/simulate/output.hpp"
#include "host/simulate/record_sink.hpp"

namespace sluice::host {

class DecisionLog final : public RecordSink {
 public:
  /// `states`: also a State record at the end of each instant. O(workloads) each.
  DecisionLog(PendingOutput& output, bool states) : output_(output), states_(states) {}

  void decided(Duration at, const Decision& decision, const Engine& engine) override;
  void skipped(Duration at, std::string_view workload, std::string_view reason) override;
  void rested(Duration at, const Engine& engine) override;

 private:
  void begin(Duration at, std::string_view type);
  void field(std::string_view name, std::string_view value);
  void end();
  void reserved(const Decision& decision, const Engine& engine);
  void pod_sets(const std::vector<api::PodSetAssignment>& assignments);

  PendingOutput& output_;
  bool states_;
};

}  // namespace sluice::host
