// Lifecycle: the transitions of a workload: it reserves, its checks answer, it is admitted,
// evicted, backs off, is deactivated, ends.
//
// Each transition keeps record, conditions, holdings and queue in step and reports itself as a
// decision. Invariant, between calls: a workload holds quota exactly while its state is
// QuotaReserved or Admitted and it takes part, Admitted also until its eviction has ended; one that
// is Finished or Inactive holds none and stands in no queue; verify() checks it. The engine's
// thread only.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/engine/holdings.hpp"
#include "core/engine/relations.hpp"
#include "core/engine/representation.hpp"
#include "core/engine/timers.hpp"
#include "core/engine/waiting.hpp"
#include "core/scheduling/cycle.hpp"

namespace sluice {

/// What the lifecycle works on; all of it outlives the parts that have it.
struct Parts {
  Model& model;
  const EngineConfig& config;
  const hooks::Hooks& hooks;
  Turn& turn;
  Structure& structure;
  Relations& relations;
  Holdings& holdings;
  Waiting& waiting;
  Representation& representation;
};

class Lifecycle {
 public:
  explicit Lifecycle(const Parts& parts);

  // What a cycle decided.
  void reserve(const Entry& entry);
  /// Evicts the victims, and those of other trees that go along, to make room for `id`.
  void preempt(WorkloadId id, QueueId queue, std::span<const Victim> victims);
  void commit(Recheck& recheck);
  /// Evictions that were decided before a dump was taken end after the first cycle, as all do. In
  /// that cycle they are the first candidates. True when there were any.
  bool complete_evictions();
  bool has_evictions() const { return !evicting_.empty(); }

  // Reports from outside. Each error names the workload and changes nothing.
  Result<void> finish(WorkloadId id, std::string_view reason, std::string_view message, Time at);
  Result<void> report(WorkloadId id, const api::AdmissionCheckState& check);
  /// Takes the states of its checks from a status, whether a check controller wrote it or another
  /// client. Only answers to the present reservation count: none from before it held quota, none to
  /// an earlier reservation.
  void take_reports(WorkloadId id, const api::WorkloadStatus& status);
  /// Takes the condition PodsReady from a status that somebody wrote. REQUIRES: it holds quota.
  void take_pods_ready(WorkloadId id, const api::WorkloadStatus& status);
  /// Acts on the states of its checks.
  void settle_checks(WorkloadId id);
  /// `why` has reason and message, and for a preemption the preemptor. One that ends later keeps
  /// its quota until ended(), and is evicted once. REQUIRES: it holds quota.
  void evict(WorkloadId id, const Decision& why);
  /// Its eviction is over: nothing of it runs any more. Of one that others represent that is the
  /// eviction of the one that stands for it. No-op without one.
  void ended(WorkloadId id);
  /// Traits changed, or it went: an eviction of it, or of one that represents it, that has no end
  /// to wait for is over.
  void review_eviction(WorkloadId id);
  /// Ends what it replaces where both are admitted: the end was decided with its own admission, and
  /// is not known here, because of the two the admission is stored first.
  void complete_replacement(WorkloadId id);
  /// In the middle of an eviction of which the end is to be told: its own, or that of the one that
  /// stands for it.
  bool is_ending(WorkloadId id) const;
  /// Where the reason has a cause and its object does not say yet that it is off, its condition
  /// DeactivationTarget tells of it until target_reached(): whoever reads its status between the
  /// two writes, which may not both succeed, knows what it is to be and why.
  void deactivate(WorkloadId id, std::string_view reason, std::string_view message);
  /// For a cause, as the condition DeactivationTarget tells it.
  void deactivate_due_to(WorkloadId id, std::string_view cause, std::string_view told);
  /// A status was written: one that says what the workload is to be turned off for turns it off, as
  /// a manager of several clusters evicts what runs at one of them.
  void take_target(WorkloadId id, const api::WorkloadStatus& status);
  /// Its object, where it is stored, says that it is off.
  void target_reached(WorkloadId id);
  /// And what it represents: it is one of its ways to run, and a limit of the whole is reached.
  void deactivate_whole(WorkloadId id, std::string_view reason, std::string_view message);
  void reactivate(WorkloadId id);
  /// The delay after a check's Retry ends now. No-op when it does not wait for that.
  void end_retry(WorkloadId id);
  /// A status was written: one that says that the delay of a Retry is over ends it.
  void take_requeue(WorkloadId id, const api::WorkloadStatus& status);
  /// It stood aside and takes part from here on: it holds itself what its status says. `speaker`:
  /// the member that stood for it until now, or kNone. It goes on with what that holds, unless the
  /// member is being evicted or it is turned off itself.
  void take_part(WorkloadId id, WorkloadId speaker);
  /// Workloads that others represent take their status from those.
  void settle_represented();
  /// It is gone: nothing of it is held, earmarked or remembered.
  void forget(WorkloadId id);

  /// It came with a status: it starts out where that says.
  void load_status(WorkloadId id);
  /// Reservations that came with a status: one ends what it replaces, one that holds preemptions
  /// back plans anew, and its checks are looked at. After all objects are there.
  void settle_loaded();

  // What followed from configuration (Structure::Changes).
  void tell_restarted(const std::set<QueueId>& queues);
  /// A workload that is not admitted yet loses its reservation in a stopped queue; with
  /// HoldAndDrain running workloads are evicted too.
  void drain_stopped();
  void relist_checks(const std::set<QueueId>& queues);

  /// Sets the time and fires the timers that are due.
  void begin_instant(Time now);
  Time next_timer() const { return timers_.next(); }

  /// Workloads whose turn it is to be looked at again, in the order of their queue keys. One whose
  /// queue may not admit waits.
  void find_rechecks(std::vector<Recheck>& out);
  /// Something changed: those that wait are due. True when there are any.
  bool wake_rechecks();

  /// Aborts when the invariant is broken. O(workloads). For tests.
  void verify() const;

 private:
  void admit(WorkloadId id);
  void start(WorkloadId id);
  bool ends_later(WorkloadId id) const;
  void tell_begun(WorkloadId id, const Decision& why);
  void begin_eviction(WorkloadId id, const Decision& why);
  void end_at_once(WorkloadId id, const Decision& why);
  /// evict(), of one whose work goes on as another of the ways to run it: it holds nothing on.
  void make_way(WorkloadId id, const Decision& why);
  void end_eviction(WorkloadId id);
  void vacate(WorkloadId id, const Decision& why);
  void turn_off(WorkloadId id, std::string_view message);
  void end(WorkloadId id, std::string_view reason, std::string_view message);
  void end_replaced(WorkloadId id);
  std::int32_t seconds_run(const WorkloadRecord& w) const;
  bool plan_on_ends(WorkloadId id, std::span<const Victim> victims);
  void lose_reservation(WorkloadId id, const std::string& message,
                        std::shared_ptr<PendingReason> why);
  void take_report(WorkloadId id, api::AdmissionCheckState& check,
                   const api::AdmissionCheckState& report);
  void retry(WorkloadId id, const std::string& checks);
  void start_timers(WorkloadId id);
  void watch_recovery(WorkloadId id);
  bool is_recovering(const WorkloadRecord& w) const;
  void back_off(WorkloadId id, std::string_view cause);
  void end_backoff(WorkloadId id);
  void fire(const Timer& timer);
  void load_eviction(WorkloadId id);
  /// One that is turned on again has the time that it used up anew; who was only turned off for a
  /// while has not.
  static void forget_used_up_time(WorkloadRecord& w);
  void load_conditions(WorkloadRecord& w);
  void load_admission(WorkloadId id, const api::Admission& admission);
  void plan_loaded();
  Decision& decide(DecisionType type, WorkloadId id) { return turn_.decide(type, id); }

  Model& model_;
  const EngineConfig& config_;
  const hooks::Hooks& hooks_;
  Turn& turn_;
  Structure& structure_;
  Relations& relations_;
  Holdings& holdings_;
  Waiting& waiting_;
  Representation& representation_;

  Timers timers_;
  std::vector<WorkloadId> evicting_;  // in the middle of an eviction that nobody will end
  std::vector<WorkloadId> loaded_;    // loaded with a reservation, and not looked at yet
  std::vector<WorkloadId> loaded_with_ties_;
  std::set<WorkloadId> recheck_due_, recheck_waiting_;
  struct Texts {  // that every admission uses
    SharedText admitted, is_admitted;
  } texts_;
};

}  // namespace sluice
