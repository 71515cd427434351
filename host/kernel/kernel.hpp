// Kernel: the objects, the engine and the plugins, kept in step. It is the same for `simulate` and
// `serve`; only what stands around it (clock, log, executor) differs.
//
// Invariant: between calls the store and the engine know the same objects, and everything that a
// step decided was committed before any listener is called. One instant is driven as the engine
// asks for:
//
//   kernel.begin_instant(now);
//   kernel.commit(...), erase(...), finish(...);     // by way of ObjectWriter
//   kernel.run_to_rest();
//
// Belongs to one thread. Errors leave everything as it was.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/engine/engine.hpp"
#include "host/kernel/fault_retries.hpp"
#include "host/kernel/made_pods.hpp"
#include "host/kernel/plugin_notices.hpp"
#include "host/kernel/plugin_port.hpp"
#include "host/kernel/request_judge.hpp"
#include "host/kernel/request_pace.hpp"
#include "host/kernel/staged_changes.hpp"
#include "host/kernel/traits_source.hpp"
#include "host/kernel/workload_reader.hpp"
#include "host/objects/births.hpp"
#include "host/objects/controller.hpp"
#include "host/objects/intake.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

/// One scheduling cycle, as it is told after its decisions.
struct CycleReport {
  Duration took = 0;      ///< real time, in simulation too
  bool reserved = false;  ///< a workload got quota
};

/// Told what was decided, after the commit, in order.
class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  virtual void decided(Time now, const Decision& decision) = 0;
  virtual void cycled(const CycleReport&) {}
  /// All pods of an admitted workload run, for the first time since it was admitted.
  virtual void pods_ready(Time, WorkloadId) {}
};

/// What keeps other objects in line with these: the controllers. [kernel's thread]
class KernelListener {
 public:
  virtual ~KernelListener() = default;
  virtual void begin_instant(Time now) = 0;
  /// Called just before the change takes effect.
  virtual void changed(const ObjectChange& change) = 0;
  /// What was in the store before the start is announced twice: `apart` on a thread of its own,
  /// while the engine takes over the workloads, and then on the kernel's thread, for kinds for
  /// which a controller wants that.
  virtual void loaded(const ObjectChange& change, bool apart) {
    if (!apart) changed(change);
  }
  virtual bool wants_loaded(const api::KindInfo&) { return true; }
  /// Whether a change of this workload's status alone could give a controller work.
  virtual bool follows(const StoredObject&) { return true; }
  /// Does all work that is due; whether there was any. It may write objects.
  virtual bool run() = 0;
  /// Whether run() would find work now.
  virtual bool has_work() const = 0;
  /// Whether that is to look at what was loaded, by controllers that decide with what they learn
  /// there: there is no cycle before. Each run() leaves less of it.
  virtual bool has_first_looks() const { return false; }
  /// When there is work again; kNever without any.
  virtual Time next_timer() const = 0;
};

/// Which statuses of workloads are written into the store with the step that changed them.
enum class Statuses : std::uint8_t {
  kAll,
  kFollowed,  ///< where the listener follows the workload; else rendered when it is read
};

class Kernel {
 public:
  /// All must outlive the kernel.
  Kernel(const EngineConfig& config, const hooks::HostHooks& hooks, Intake& intake,
         ObjectStore& store, PluginPort& plugins, DecisionObserver& observer);

  /// `listener` is called for every change from now on; nullptr ends that.
  void listen(KernelListener* listener) { listener_ = listener; }
  void write_statuses(Statuses which) { statuses_ = which; }
  /// Plugins have the same workload looked at no more often than RequestPace lets them. Else an
  /// instant may never end, as a simulation wants to be told.
  void pace_requests() { paces_requests_ = true; }
  /// What decides where new objects are stored first; nullptr: they are stored here.
  void born_by(Births* births) { births_ = births; }
  /// Takes over what the store holds already, as it was committed. Before anything else. `read`:
  /// the reader that saw the store being loaded, or nullptr: then so many threads decode what is
  /// there (DecodeAhead).
  void load(int threads, WorkloadReader* read = nullptr);

  void begin_instant(Time now);

  /// The workload ended; see Engine::finish.
  Result<void> finish(std::string_view key, std::string_view reason, std::string_view message,
                      std::optional<Time> at = {}) {
    return engine_.finish(key, reason, message, at);
  }

  /// Nothing of an evicted workload runs any more; see Engine::ended.
  void tell_ended(std::string_view key) { engine_.ended(key); }

  /// A state of one of a workload's admission checks; see Engine::report.
  Result<void> report_check(std::string_view key, const api::AdmissionCheckState& check) {
    return engine_.report(key, check);
  }

  /// Whether the engine reads statuses of this kind; those of all others are there for people.
  bool reads_statuses_of(const api::KindInfo& kind) const {
    return &kind == &workload_kind_ || &kind == &check_kind_;
  }
  /// Stores an object that was prepared in full, identity included; a new one only where it is born
  /// here. `status`: its status, where it has no text yet; what the engine says of a workload is
  /// put over it before it gets one.
  void commit(PreparedObject object, const boost::json::object* status = nullptr);
  /// Removes the object; nothing else ends with it. Nothing to do when there is none.
  void erase(const api::KindInfo& kind, const std::string& key);

  /// From now on exists(), current() and store() show what commit() and erase() change, and nothing
  /// else does. REQUIRES: not staging.
  void begin_staging();
  bool is_staging() const { return staged_ != nullptr; }
  /// Whether this is what a staged change made of an object: the engine has no part in it yet.
  bool is_changed(const StoredObject& stored) const { return staged_ && staged_->changed(stored); }
  /// What was staged, in order; it is as if it had never been. REQUIRES: staging.
  std::vector<StagedChange> end_staging();
  /// What was staged is laid aside. REQUIRES: staging.
  std::unique_ptr<StagedChanges> suspend_staging();
  /// It is staged again, unless an object that it changes was changed meanwhile: that one, and
  /// nothing is staged. REQUIRES: not staging.
  std::optional<StagedErase> resume_staging(std::unique_ptr<StagedChanges> staged);

  /// Whether admitted workloads are evicted when their pods are not ready in time.
  bool waits_for_pods() const { return waits_for_pods_; }
  /// Whether workloads wait for the pods of others.
  bool blocks_admission() const { return blocks_admission_; }

  /// Cycles until the instant is at rest.
  void run_to_rest() {
    while (!run(kUnlimitedSteps)) {
    }
  }
  /// At most `steps` cycles; whether the instant is at rest.
  bool run(std::size_t steps);
  static constexpr std::size_t kUnlimitedSteps = static_cast<std::size_t>(-1);

  bool exists(const api::KindInfo& kind, std::string_view key) const;
  /// The object in hub form with its present status. REQUIRES: exists().
  boost::json::object current(const api::KindInfo& kind, std::string_view key,
                              boost::json::storage_ptr storage = {}) const;
  boost::json::object current(const StoredObject& stored,
                              boost::json::storage_ptr storage = {}) const;
  /// A workload as it is stored, with its present status; nullopt where that is as stored: of other
  /// kinds, of what is staged, and of workloads that the engine does not know.
  std::optional<StoredObject> shown(const StoredObject& stored) const;
  /// Are statuses of all workloads stored with the step that changes them?
  bool writes_all_statuses() const { return statuses_ == Statuses::kAll; }
  /// The decoded form of a workload as it is stored; nullptr where the engine has none of it.
  std::shared_ptr<const api::Workload> typed_workload(const StoredObject& stored) const;
  /// The earlier of the engine's and the plugins' next timer; kNever without one.
  Time next_timer() const;

  Time now() const { return now_; }
  const Engine& engine() const { return engine_; }
  /// See Engine::recall().
  void recall(const EngineMemory& memory) { engine_.recall(memory); }
  const ObjectStore& store() const {
    return staged_ ? static_cast<const ObjectStore&>(*staged_) : store_;
  }
  Intake& intake() { return intake_; }
  const Intake& intake() const { return intake_; }
  const api::Scheme& scheme() const { return intake_.scheme(); }

 private:
  using ChangedClaims = std::vector<std::pair<std::string, Claims>>;

  std::optional<std::vector<WorkloadReader::Decoded>> take_read(WorkloadReader* read) const;
  void take_loaded(WorkloadReader::Decoded& loaded, ChangedClaims& changed);
  ChangedClaims load_workloads(int threads, WorkloadReader* read);
  void announce(const api::KindInfo& kind, bool apart);
  void tell_engine(TypedObject& typed);
  void put_stored(StoredObject object, const StoredObject* old);
  void tell_of_workload(std::shared_ptr<api::Workload> workload, StoredObject& stored);
  TraitsSource::Told ask_traits(const api::Workload& object, const Claims& before);
  void renew_traits(std::string_view key);
  void renew_pods(const api::KindInfo& kind, std::string_view changed);
  void ask_moved();
  void ask_order(const std::string& local_queue);
  void renew_order(const std::string& local_queue);
  void put_claims(const StoredObject& old, const Claims& claims);
  bool writes_status_of(const StoredObject& workload) const;
  std::string status_text(std::string_view key, std::string_view before);
  void write_status(WorkloadId id);
  void commit_decisions();
  void note_pods_ready(const TypedObject& typed);
  void commit_deactivation(const Decision& decision);
  bool step();
  bool apply_requests();
  bool may_look(RequestPace& pace, const EngineRequest& request);

  Engine engine_;
  TraitsSource traits_;
  MadePods pods_;
  hooks::QueueWatch* queue_watch_;
  hooks::QueueOrder* queue_order_;
  Intake& intake_;
  ObjectStore& store_;
  PluginPort& plugins_;
  DecisionObserver& observer_;
  KernelListener* listener_ = nullptr;
  Births* births_ = nullptr;
  Statuses statuses_ = Statuses::kAll;
  const api::KindInfo& workload_kind_;
  const api::KindInfo& check_kind_;
  bool waits_for_pods_;
  bool blocks_admission_;
  Time now_ = 0;
  std::unique_ptr<StagedChanges> staged_;  // while staging
  std::uint64_t changes_ = 0;              // that took effect
  PluginNotices notices_;
  RequestJudge judge_;
  FaultRetries retries_;
  bool paces_requests_ = false;
  RequestPace requeues_, renewals_;
  std::vector<Decision> decisions_;   // of the running step
  std::optional<CycleReport> cycle_;  // of the running step, if it was a cycle
};

}  // namespace sluice::host
