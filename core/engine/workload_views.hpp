// What a person may know about one workload: state, reason, status, rendered on demand.
//
// Pure functions of the model. On the engine's thread, between its calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types/kinds.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

struct Model;
struct PendingReason;
struct WorkloadRecord;

struct WorkloadView {
  WorkloadState state = WorkloadState::kPending;
  std::string reason;  ///< of QuotaReserved=False while pending
  std::string message;
  std::optional<api::Admission> admission;
};

WorkloadView view_of(const Model& model, WorkloadId id);

/// Why it waits: its own reason, or that of the equals it is parked with, the fresher of the two;
/// nullptr: it was not looked at yet.
std::shared_ptr<const PendingReason> pending_reason(const Model& model, const WorkloadRecord& w,
                                                    WorkloadId id);

/// The assignment of a workload that holds quota, or for which another does; else empty.
std::vector<api::PodSetAssignment> assignment_of(const Model& model, WorkloadId id);

/// The status as the API shows it: of one that others stand for, that of the one that does.
api::WorkloadStatus status_of(const Model& model, WorkloadId id);

/// Whether that status can have this member (`admissionChecks`) now: yes where finding out would
/// mean to make it. O(1).
bool status_may_have(const Model& model, WorkloadId id, std::string_view member);

/// Where and when: what figures about a workload need of its status, without its texts.
struct Milestones {
  std::string_view cluster_queue;  ///< of its admission, also of one it finished with; else empty
  /// When its conditions changed last; nullopt: it does not have them.
  std::optional<Time> reserved, admitted, evicted, requeued;
  bool is_evicted = false;  ///< now
  bool has_checks = false;
};

Milestones milestones_of(const Model& model, WorkloadId id);

/// The state of one that takes no part, from its conditions.
WorkloadState reported_state(const WorkloadRecord& w);

/// Does its condition QuotaReserved say this already?
bool told_in_status(const WorkloadRecord& w, std::string_view reason, std::string_view message);

/// False: its traits say that it is never queued and holds no quota.
bool takes_part(const Model& model, WorkloadId id);

/// Its traits allow that granted counts become less while it runs.
bool may_lower_counts(const Model& model, WorkloadId id);

/// Numbers its reservations: grows with each that ended, when it has. Kept over restarts.
std::uint64_t attempt_of(const Model& model, WorkloadId id);
/// The victims of its held preemptions, by key; empty: none are held.
std::vector<std::string> planned_victims(const Model& model, WorkloadId id);

}  // namespace sluice
