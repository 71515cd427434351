// FakeJob: a job with its pod sets and workloads, for job-mapping/1 and pod-gate/1; JobAnswer: what
// the plugin says about it, as plain values.
//
// Plain values; a FakeJob's workloads are borrowed and must outlive the question. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/cpp/job.hpp"
#include "sluice/testing/workload.hpp"

namespace sluice::testing {

struct FakeJob {
  struct Set {
    std::string name = "main";
    std::int32_t count = 1;
    std::int32_t min_count = -1;  ///< -1: none
  };
  struct Owned {
    const FakeWorkload* workload = nullptr;
    Match match = Match::kSame;
  };

  std::string kind = "batch/Job";
  std::string json = "{}";  ///< the whole object
  std::vector<Set> pod_sets{Set{}};
  std::vector<Owned> workloads;  ///< the oldest first
};

/// What job-mapping/1 answered. `answered` is false when it left the job to the host.
struct JobAnswer {
  struct Finished {
    std::string workload, reason, message;
  };
  bool answered = false;
  std::string speaker;
  std::vector<std::string> resized;
  std::vector<NewWorkload> created;
  std::vector<Finished> finished;
  std::vector<std::string> removed;
  bool recreated = false;
};

namespace detail {

/// The C form of a FakeJob; valid while both live.
class RawJob {
 public:
  explicit RawJob(const FakeJob& job) {
    for (const FakeJob::Set& set : job.pod_sets)
      sets_.push_back({to_abi(set.name), set.count, set.min_count});
    for (const FakeJob::Owned& owned : job.workloads)
      workloads_.push_back({owned.workload->handle(), static_cast<std::int32_t>(owned.match), 0});
    query_ = {sizeof(query_),     0,
              to_abi(job.kind),   to_abi(job.json),
              sets_.size(),       sets_.data(),
              workloads_.size(),  workloads_.data(),
              FakeWorkload::api()};
  }
  RawJob(const RawJob&) = delete;
  RawJob& operator=(const RawJob&) = delete;
  const sluice_job_query_t* get() const { return &query_; }

 private:
  std::vector<sluice_job_pod_set_t> sets_;
  std::vector<sluice_job_workload_t> workloads_;
  sluice_job_query_t query_{};
};

inline std::vector<std::pair<std::string, std::string>> pairs_of(const sluice_text_pair_t* pairs,
                                                                 std::uint64_t count) {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::uint64_t i = 0; i < count; ++i)
    out.emplace_back(to_view(pairs[i].key), to_view(pairs[i].value));
  return out;
}

inline JobAnswer& answer_of(void* context) {
  JobAnswer& answer = *static_cast<JobAnswer*>(context);
  answer.answered = true;
  return answer;
}

inline sluice_job_plan_sink_t plan_sink(JobAnswer& answer) {
  return {
      sizeof(sluice_job_plan_sink_t),
      0,
      &answer,
      [](void* out, sluice_str_t w) { answer_of(out).speaker = to_view(w); },
      [](void* out, sluice_str_t w) { answer_of(out).resized.emplace_back(to_view(w)); },
      [](void* out, const sluice_new_workload_t* w) {
        answer_of(out).created.push_back(
            {std::string(to_view(w->name)), std::string(to_view(w->revision)),
             pairs_of(w->labels, w->label_count), pairs_of(w->annotations, w->annotation_count)});
      },
      [](void* out, sluice_str_t w, sluice_str_t reason, sluice_str_t message) {
        answer_of(out).finished.push_back(
            {std::string(to_view(w)), std::string(to_view(reason)), std::string(to_view(message))});
      },
      [](void* out) { answer_of(out).recreated = true; },
      [](void* out, sluice_str_t w) { answer_of(out).removed.emplace_back(to_view(w)); }};
}

}  // namespace detail

}  // namespace sluice::testing
