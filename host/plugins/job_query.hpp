// RawJobQuery: a job as the C interface shows it.
//
// A view: what the query points to must outlive it. Used by one thread, for one call.
#pragma once

#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/workload_api.hpp"
#include "sluice/job.h"

namespace sluice::host {

class RawJobQuery {
 public:
  explicit RawJobQuery(const hooks::JobQuery& query) {
    for (const auto& set : query.pod_sets)
      pod_sets_.push_back({abi_of(set.name), set.count, set.min_count.value_or(-1)});
    for (const auto& [workload, match] : query.workloads)
      workloads_.push_back({handle_of(*workload), static_cast<std::int32_t>(match), 0});
    raw_ = {sizeof(sluice_job_query_t),
            0,
            abi_of(query.kind),
            abi_of(query.job),
            pod_sets_.size(),
            pod_sets_.data(),
            workloads_.size(),
            workloads_.data(),
            &workload_api()};
  }
  RawJobQuery(const RawJobQuery&) = delete;
  RawJobQuery& operator=(const RawJobQuery&) = delete;

  const sluice_job_query_t& raw() const { return raw_; }

 private:
  std::vector<sluice_job_pod_set_t> pod_sets_;
  std::vector<sluice_job_workload_t> workloads_;
  sluice_job_query_t raw_{};
};

}  // namespace sluice::host
