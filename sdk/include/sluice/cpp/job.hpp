// A job as the hooks job-mapping/1 and pod-gate/1 see it, and where they put their answers.
//
// All of these are views: they and their texts die when the hook returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/cpp/text.hpp"
#include "sluice/cpp/workload.hpp"
#include "sluice/ext/job_mapping.h"
#include "sluice/ext/pod_gate.h"

namespace sluice {

/// How the pod sets that a job has now compare with those of one of its workloads.
enum class Match : std::int32_t {
  kSame = SLUICE_MATCH_SAME,
  kCounts = SLUICE_MATCH_COUNTS,
  kOther = SLUICE_MATCH_OTHER
};

class Job {
 public:
  explicit Job(const sluice_job_query_t* query) : query_(query) {}

  /// `batch/Job`
  std::string_view kind() const { return to_view(query_->kind); }
  /// The whole object, status included.
  std::string_view json() const { return to_view(query_->job); }

  /// A number out of range answers as if there were nothing.
  std::uint64_t pod_sets() const { return query_->pod_set_count; }
  std::string_view pod_set_name(std::uint64_t i) const {
    return i < pod_sets() ? to_view(query_->pod_sets[i].name) : std::string_view();
  }
  std::int32_t pod_set_count(std::uint64_t i) const {
    return i < pod_sets() ? query_->pod_sets[i].count : 0;
  }
  std::optional<std::int32_t> pod_set_min_count(std::uint64_t i) const {
    const std::int32_t count = i < pod_sets() ? query_->pod_sets[i].min_count : -1;
    return count < 0 ? std::nullopt : std::optional(count);
  }

  /// Of the job, the oldest first, finished ones too.
  std::uint64_t workloads() const { return query_->workload_count; }
  Workload workload(std::uint64_t i) const {
    return Workload({query_->workload_api, query_->workloads[i].handle});
  }
  Match match(std::uint64_t i) const { return static_cast<Match>(query_->workloads[i].match); }

 private:
  const sluice_job_query_t* query_;
};

/// A workload to be made.
struct NewWorkload {
  std::string name;      ///< empty: made from the job and `revision`
  std::string revision;  ///< tells a job's workloads apart
  std::vector<std::pair<std::string, std::string>> labels, annotations;
};

/// Where a job-mapping puts its answer. See ext/job_mapping.h for what each call means.
class JobPlan {
 public:
  explicit JobPlan(const sluice_job_plan_sink_t* sink) : sink_(sink) {}
  void speaker(std::string_view workload) { sink_->speaker(sink_->context, to_abi(workload)); }
  void resize(std::string_view workload) { sink_->resize(sink_->context, to_abi(workload)); }
  void create(const NewWorkload& workload) {
    const auto labels = to_pairs(workload.labels);
    const auto annotations = to_pairs(workload.annotations);
    const sluice_new_workload_t raw{sizeof(sluice_new_workload_t),
                                    0,
                                    to_abi(workload.name),
                                    to_abi(workload.revision),
                                    labels.size(),
                                    labels.data(),
                                    annotations.size(),
                                    annotations.data()};
    sink_->create(sink_->context, &raw);
  }
  void finish(std::string_view workload, std::string_view reason, std::string_view message) {
    sink_->finish(sink_->context, to_abi(workload), to_abi(reason), to_abi(message));
  }
  void recreate() { sink_->recreate(sink_->context); }
  /// Deletes a finished workload. An older host does not know it: the workload stays.
  void remove(std::string_view workload) {
    if (SLUICE_HAS(sink_, remove) && sink_->remove != nullptr)
      sink_->remove(sink_->context, to_abi(workload));
  }

 private:
  static std::vector<sluice_text_pair_t> to_pairs(
      const std::vector<std::pair<std::string, std::string>>& texts) {
    std::vector<sluice_text_pair_t> out;
    for (const auto& [key, value] : texts) out.push_back({to_abi(key), to_abi(value)});
    return out;
  }

  const sluice_job_plan_sink_t* sink_;
};

/// Where a pod-gate says how many pods run.
class Grants {
 public:
  explicit Grants(const sluice_grant_sink_t* sink) : sink_(sink) {}
  void grant(std::uint64_t pod_set, std::int32_t pods) {
    sink_->grant(sink_->context, pod_set, pods);
  }

 private:
  const sluice_grant_sink_t* sink_;
};

}  // namespace sluice
