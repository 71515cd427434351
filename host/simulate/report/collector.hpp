// ReportCollector: takes what a simulation decides, and keeps it for a report.
//
// It costs a few numbers per decision, and at the end of an instant one look at the use of each
// queue. Use and nominal quota are those of the engine's own ledger, so that workloads which share
// quota count as they do there. Belongs to the simulation's thread.
#pragma once

#include <string_view>
#include <vector>

#include "core/quota/quota_tree.hpp"
#include "host/simulate/record_sink.hpp"
#include "host/simulate/report/run_record.hpp"

namespace sluice::host {

class ReportCollector final : public RecordSink {
 public:
  /// `start`: the time of offset 0. The tables must outlive it.
  ReportCollector(Time start, ReportTables& tables) : start_(start), tables_(tables) {}

  void decided(Duration at, const Decision& decision, const Engine& engine) override;
  void skipped(Duration at, std::string_view workload, std::string_view reason) override;
  void rested(Duration at, const Engine& engine) override;
  void came(Duration at, WorkloadId workload, const Engine& engine) override;
  void gone(Duration at, WorkloadId workload, const Engine& engine) override;

  RunRecord& record() { return record_; }
  /// By name of each node of the quota tree, the cohort above it; in order of first sight.
  const std::vector<std::pair<StringId, StringId>>& cohorts_of_queues() const { return queues_; }
  const std::vector<std::pair<StringId, StringId>>& parents_of_cohorts() const { return cohorts_; }

 private:
  std::uint32_t index_of(Duration at, WorkloadId workload, const Engine& engine);
  void take_over(std::uint32_t index, WorkloadId workload, const Engine& engine);
  Duration offset_of(Time time) const;
  std::uint32_t shape_of(WorkloadId workload, const Engine& engine);
  std::uint32_t what_of(const Decision& decision, const Engine& engine);
  void learn_tree(const Engine& engine);
  void note_use(Duration at, const Engine& engine);

  /// One cell of the quota tree with an owner or with usage.
  struct Watched {
    NodeId node = 0;
    FrId fr = 0;
    Amount use = 0, nominal = 0;  ///< as they were noted last
    UseSeries* series = nullptr;
  };

  const Time start_;
  ReportTables& tables_;
  RunRecord record_;
  std::vector<std::uint32_t> indexes_;                       // by WorkloadId
  std::vector<std::pair<WorkloadId, std::uint32_t>> fresh_;  // since the last rest
  std::vector<std::pair<StringId, StringId>> queues_, cohorts_;
  std::vector<Watched> watched_;
  std::uint64_t epoch_ = ~0ULL;  // of the configuration that watched_ was made for
  std::size_t cells_ = 0;
};

}  // namespace sluice::host
