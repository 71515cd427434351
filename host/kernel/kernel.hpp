// Kernel: the objects, the engine and the plugins, kept in step. It is the same for `simulate` and
// `serve`; only what stands around it (clock, log, executor) differs.
//
// Invariant: between calls the store and the engine know the same objects, and everything that a
// step decided was committed before anyone heard of it. One instant is driven as the engine asks
// for:
//
//   kernel.begin_instant(now);
//   kernel.put(...), patch(...), remove(...), finish(...);
//   kernel.run_to_rest();
//
// Belongs to one thread. Errors leave everything as it was.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/engine/engine.hpp"
#include "host/objects/intake.hpp"
#include "host/objects/store.hpp"
#include "host/plugins/host_side.hpp"

namespace sluice::host {

/// Told what was decided, after the commit, in order.
class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  virtual void decided(Time now, const Decision& decision) = 0;
};

/// The plugins' part between two cycles; implemented by the plugin host. [control]
class PluginPort {
 public:
  virtual ~PluginPort() = default;
  /// The clock of the instant that begins; timers that are due are delivered.
  virtual void begin_instant(Time now) = 0;
  /// Told after the commit, in order.
  virtual void notify(const hooks::Notification& notification) = 0;
  virtual bool listens() const = 0;
  /// What plugins asked of the engine since the last call.
  virtual std::vector<EngineRequest> take_requests() = 0;
  /// When the next timer fires; kNever without one.
  virtual Time next_timer() const = 0;
};

class Kernel {
 public:
  /// All must outlive the kernel; `plugins` may be nullptr.
  Kernel(const EngineConfig& config, const hooks::Hooks& hooks, Intake& intake, ObjectStore& store,
         PluginPort* plugins, DecisionObserver& observer);

  void begin_instant(Time now);

  /// Creates the object, or updates it as kubectl apply would: labels, annotations and body become
  /// those of the new form; status, uid and creation time stay. On creation the status is
  /// respected, `default_uid` stands in for a missing uid and now for a missing creation time.
  std::vector<api::Problem> put(PreparedObject object, std::string_view default_uid);

  /// JSON merge patch of the object, or of its status subresource. REQUIRES: exists().
  std::vector<api::Problem> patch(const api::KindInfo& kind, std::string_view key,
                                  const boost::json::value& merge, bool status);

  /// Deletes the object; a Namespace takes everything in it along. REQUIRES: exists().
  void remove(const api::KindInfo& kind, std::string_view key);

  /// The job of an admitted workload succeeded. An error says why it cannot end now.
  Result<void> finish(std::string_view key);

  /// All pods of an admitted workload run: condition PodsReady.
  void mark_pods_ready(WorkloadId id);
  /// Whether admitted workloads are evicted when their pods are not ready in time.
  bool waits_for_pods() const { return waits_for_pods_; }

  /// Cycles until the instant is at rest.
  void run_to_rest();

  bool exists(const api::KindInfo& kind, std::string_view key) const;
  /// The object in hub form with its present status. REQUIRES: exists().
  boost::json::object current(const api::KindInfo& kind, std::string_view key) const;
  /// The earlier of the engine's and the plugins' next timer; kNever without one.
  Time next_timer() const;

  Time now() const { return now_; }
  const Engine& engine() const { return engine_; }
  const ObjectStore& store() const { return store_; }
  const api::Scheme& scheme() const { return intake_.scheme(); }

 private:
  std::vector<api::Problem> write(boost::json::object& object, const boost::json::object& before,
                                  const api::KindInfo& kind, bool status);
  void commit(PreparedObject object);
  void erase(const api::KindInfo& kind, const std::string& key);
  void commit_mark(const Decision& decision);
  void commit_deactivation(const Decision& decision);
  void notify_plugins();
  bool apply_requests();
  boost::json::object current(const StoredObject& stored) const;

  Engine engine_;
  Intake& intake_;
  ObjectStore& store_;
  PluginPort* plugins_;
  DecisionObserver& observer_;
  const api::KindInfo& workload_kind_;
  bool waits_for_pods_;
  Time now_ = 0;
  std::uint64_t notifications_ = 0;
  std::vector<Decision> decisions_;  // of the running step
};

}  // namespace sluice::host
