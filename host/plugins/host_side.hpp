// HostSide: what one loaded plugin sees of the host: the table of services and what they keep.
//
// One per plugin, made before create(), of use until after destroy(), and there for good: a thread
// that outlives its plugin finds services that do nothing. They are called by the
// plugin from any thread, so what they keep (timers, requests, events) is under a lock of its own,
// which is never held while the plugin is called. The host takes things out with the take_
// functions.
#pragma once

#include <atomic>
#include <boost/json/value.hpp>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/time.hpp"
#include "host/base/due_times.hpp"
#include "host/plugins/bounded_queue.hpp"
#include "host/plugins/check_controllers.hpp"
#include "host/plugins/clock.hpp"
#include "host/plugins/declarations.hpp"
#include "host/plugins/metrics.hpp"
#include "host/plugins/object_port.hpp"
#include "host/plugins/remote_side.hpp"
#include "host/plugins/text_gate.hpp"
#include "sluice/abi.h"
#include "sluice/svc/objects.h"

struct sluice_host_handle {};

namespace sluice::host {

/// An event about an object that a plugin emitted.
struct PluginEvent {
  std::string plugin;
  bool warning = false;
  std::string api_version, kind, ns, name, reason, message;
};

/// What a plugin asks of the engine; applied by the host before the next cycle.
struct EngineRequest {
  enum class Type : std::uint8_t { kRequeue, kTraitsChanged, kOrderChanged, kEnded };
  Type type = Type::kRequeue;
  std::string workload;  ///< key; for kOrderChanged that of a LocalQueue
  std::string plugin;    ///< whose request it is
};

/// 0 debug … 3 error.
using LogSink = std::function<void(int level, std::string_view plugin, std::string_view text)>;

/// What the host gives to all plugins; outlives them.
struct HostServices {
  const PluginClock* clock = nullptr;
  MetricsRegistry* metrics = nullptr;
  LogSink log;
};

class HostSide : private ::sluice_host_handle {
 public:
  /// What the plugin is made by: for those of its functions that get nothing else; and what its
  /// library declares that it may do.
  struct Origin {
    const sluice_plugin_t* root = nullptr;
    Declarations declared{.any_object = true, .provides = {}, .may = {}};
  };

  struct Course {
    std::string overtaken;  ///< why it writes no more in this call; empty: it may
    /// The last answer that it got is that a write of it is not done: a call that fails then does
    /// so for what it was to work on.
    bool refused = false;

    void answered(bool write, std::int32_t code) { refused = write && code != SLUICE_OBJECTS_OK; }
  };

  HostSide(std::string plugin, boost::json::value config, const HostServices& services);
  HostSide(const HostSide&) = delete;
  HostSide& operator=(const HostSide&) = delete;

  /// The plugin has ended: its services do nothing from now on. Waits for calls under way.
  static void keep(std::unique_ptr<HostSide> side);

  const sluice_host_t* table() const { return &table_; }
  /// Runs fn(side) while the plugin is there; afterwards the answer is `otherwise`, as it is when
  /// fn throws (out of memory).
  template <typename T, typename Fn>
  static T serve(const sluice_host_t* host, T otherwise, Fn&& fn) noexcept {
    try {
      HostSide& side = of(host);
      const std::shared_lock lock(side.life_);
      return side.ended_ ? otherwise : fn(side);
    } catch (const std::exception&) {
      return otherwise;
    }
  }
  static HostSide& of(const sluice_host_t* host) { return static_cast<HostSide&>(*host->handle); }

  const std::string& plugin() const { return plugin_; }
  const boost::json::value& config() const { return config_; }
  const HostServices& services() const { return services_; }
  std::string config_text() const;

  /// By what the plugin provides: somebody is told when its timers are due, takes its reports.
  struct Uses {
    bool timers = false, reports = false;
  };
  void allow(Uses uses) {
    timers_allowed_ = uses.timers;
    reports_allowed_ = uses.reports;
  }
  /// How many may be set; and be due in one turn, others in the next.
  static constexpr std::size_t kMostTimers = 10'000, kMostDueAtOnce = 1'000;
  /// False: it provides no timers/1, or has set so many.
  bool set_timer(std::uint64_t timer, Time at);
  void cancel_timer(std::uint64_t timer);
  std::map<std::uint64_t, Time> timers() const;
  /// The plugin starts anew, and sets those that it wants.
  void forget_timers();
  /// kNever without one.
  Time next_timer() const;
  /// Removes and returns the numbers of those that are due, by time, then number; of very many the
  /// first, the others stay due.
  std::vector<std::uint64_t> take_due_timers(Time now);

  /// An event or a request too many is dropped, which is logged once.
  void add_event(PluginEvent event);
  std::vector<PluginEvent> take_events();
  void add_request(EngineRequest request);
  std::vector<EngineRequest> take_requests();
  /// Whether it is; kNotAllowed: no check can be its own.
  enum class Taken : std::uint8_t { kYes, kTooMany, kNotAllowed };
  Taken add_report(CheckReport report);
  std::vector<CheckReport> take_reports();

  /// See PluginSet::connect().
  void connect(ObjectPort* port) { port_ = port; }
  /// Other places, and what a call writes there. [control]
  RemoteSide& elsewhere() { return elsewhere_; }
  /// Between the two, on the calling thread, the plugin may read and write objects. end_call():
  /// what it wrote takes effect, or is dropped. [control]
  void begin_call();
  Result<void> end_call(bool keep);
  /// In place of end_call(): the call goes on with the next begin_call(). What it wrote is laid
  /// aside until then; if others change it meanwhile, end_call() is an error. [control]
  void suspend_call();
  /// How the call goes that is under way. To be used on its thread. [control]
  Course& course() { return course_; }
  /// Between these two it may only read. [control]
  void begin_reading() {
    reading_ = true;
    caller_ = std::this_thread::get_id();
  }
  void end_reading() {
    caller_ = std::thread::id();
    reading_ = false;
  }
  bool in_call() const { return caller_.load() == std::this_thread::get_id(); }
  /// nullptr outside such a call.
  ObjectPort* port() const { return in_call() ? port_ : nullptr; }
  ObjectPort* port_for_writes();
  /// nullptr outside such a call, where no other place is reached, and for writes where it may only
  /// read.
  RemoteObjectsPort* remotes(bool for_writes) const {
    return in_call() && !(for_writes && reading_) ? elsewhere_.port() : nullptr;
  }

  Origin& origin() { return origin_; }
  const Origin& origin() const { return origin_; }

  /// Wakes the host; see PluginSet::set_wake(). Any thread.
  void nudge() { wake(); }
  /// See PluginSet::set_wake().
  void set_wake(std::function<void()> wake);

  /// Why the call that just failed on this thread failed, if the plugin said so.
  std::string take_fault_text() const;
  /// The host says so in the plugin's place.
  void set_fault_text(std::string text) const;

 private:
  void wake();
  void tell_full(std::string_view what);

  std::string plugin_;
  boost::json::value config_;
  HostServices services_;
  sluice_host_t table_{};
  mutable std::shared_mutex life_;
  bool ended_ = false;  // guarded by life_
  std::atomic<bool> timers_allowed_ = false, reports_allowed_ = false;
  Origin origin_;
  ObjectPort* port_ = nullptr;  // used on the thread of caller_
  RemoteSide elsewhere_;        // the same
  bool wrote_ = false;          // the same
  bool reading_ = false;        // the same
  bool suspended_ = false;      // the same: what it wrote is laid aside
  Course course_;               // the same
  std::atomic<std::thread::id> caller_;

  mutable std::mutex mutex_;
  DueTimes<std::uint64_t> timers_;  // guarded by mutex_, as all below
  BoundedQueue<PluginEvent> events_;
  BoundedQueue<EngineRequest> requests_;
  BoundedQueue<CheckReport> reports_;
  std::set<std::string_view> told_full_;  // what it was told of that there is too much of
  std::mutex wake_mutex_;
  std::function<void()> wake_;  // guarded by wake_mutex_
};

}  // namespace sluice::host
