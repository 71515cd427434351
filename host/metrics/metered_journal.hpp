// metered(): a Journal whose writes are counted and timed: sluice_store_commit_duration_seconds,
// sluice_store_commit_changes, sluice_store_failed_commits_total.
#pragma once

#include <memory>

#include "host/metrics/metrics.hpp"
#include "host/store/journal.hpp"

namespace sluice::host {

/// `metrics` must outlive it.
std::unique_ptr<Journal> metered(std::unique_ptr<Journal> journal, HostMetrics& metrics);

}  // namespace sluice::host
