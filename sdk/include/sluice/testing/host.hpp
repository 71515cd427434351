// FakeHost: a host for unit tests. It has the services of a real one, a clock that moves only when
// a test moves it, and it records what the plugin does.
//
// The plugin may call the services from any thread; what was recorded is read as copies. It must
// outlive every instance that was made with it. The configuration is not checked against the
// plugin's schema, but its defaults are filled in, as a host does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sluice/abi.h"
#include "sluice/cpp/json.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/svc/check_reporter.h"
#include "sluice/svc/clock.h"
#include "sluice/svc/config.h"
#include "sluice/svc/events.h"
#include "sluice/svc/log.h"
#include "sluice/svc/metrics.h"
#include "sluice/svc/objects.h"
#include "sluice/svc/remotes.h"
#include "sluice/svc/requeue.h"
#include "sluice/svc/state.h"
#include "sluice/testing/objects.hpp"
#include "sluice/testing/remotes.hpp"

namespace sluice::testing {

struct LogLine {
  std::int32_t level = SLUICE_LOG_INFO;
  std::string text;
};

struct RecordedEvent {
  bool warning = false;
  std::string api_version, kind, ns, name, reason, message;
};

/// What a plugin reported of an attempt at a check.
struct RecordedReport {
  std::string workload;  ///< namespace/name
  std::string uid, check;
  std::uint64_t attempt = 0;
  std::string state, reason, message;
  std::optional<std::int32_t> requeue_after_seconds;
  std::string pod_set_updates;
};

class FakeHost {
 public:
  /// 2026-01-01T00:00:00Z
  static constexpr std::int64_t kStart = 1'767'225'600'000'000'000;

  explicit FakeHost(std::int64_t now = kStart);
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  const sluice_host_t* table() const { return &table_; }
  /// From now on this host does not have the service, as an older one.
  void without(std::string service_id) {
    const std::lock_guard lock(mutex_);
    absent_.insert(std::move(service_id));
  }

  /// Says whether this is a simulation, in which a plugin must have no effect outside.
  void simulate(bool simulated) { simulated_ = simulated; }
  /// The objects that there are, for the plugin to find; and those that it made.
  FakeObjects& objects() { return objects_; }
  /// The objects of other places.
  FakeRemotes& remotes() { return remotes_; }

  // ---- what the plugin did

  /// Of checks, in order. What a host refuses as invalid is not here but in the log.
  std::vector<RecordedReport> reports() const { return copy(reports_); }
  /// The state that was reported last for this workload (namespace/name); empty without one.
  std::string state_of(std::string_view workload, std::string_view check) const;

  std::vector<LogLine> log() const { return copy(log_); }
  std::vector<RecordedEvent> events() const { return copy(events_); }
  /// Keys, in order, with repetitions.
  std::vector<std::string> requeued() const { return copy(requeued_); }
  std::vector<std::string> traits_changed() const { return copy(traits_changed_); }
  std::vector<std::string> order_changed() const { return copy(order_changed_); }
  std::vector<std::string> ended() const { return copy(ended_); }
  /// 0 when it was never written.
  std::int64_t metric(std::string_view name, const std::vector<std::string>& labels = {}) const;
  /// When each timer that is set is due.
  std::map<std::uint64_t, std::int64_t> timers() const { return copy(timers_); }
  /// Waits, in real time, for something that a thread of the plugin does; false: it did not come.
  template <typename Predicate>
  bool wait_until(Predicate predicate, std::chrono::seconds at_most = std::chrono::seconds(20)) {
    const auto end = std::chrono::steady_clock::now() + at_most;
    while (!predicate()) {
      std::unique_lock lock(mutex_);
      const std::uint64_t seen = changes_;
      // Woken by what the plugin does here; looks again now and then for what it does elsewhere.
      changed_.wait_for(lock, std::chrono::milliseconds(5), [&] { return changes_ != seen; });
      if (std::chrono::steady_clock::now() > end) return predicate();
    }
    return true;
  }

  // ---- time

  std::int64_t now() const { return copy(now_); }
  void set_now(std::int64_t now) {
    const std::lock_guard lock(mutex_);
    now_ = now;
  }
  /// Takes the earliest timer that is due at `until` out; its number, or false. Used by
  /// TestedPlugin::advance().
  bool take_timer(std::int64_t until, std::uint64_t& number);

  // ---- used by TestedPlugin

  void set_config(Json config) { config_ = std::move(config); }
  const Json& config() const { return config_; }
  /// Timers are refused to plugins without timers/1.
  void allow_timers(bool allow) { timers_allowed_ = allow; }
  /// What the plugin writes in one call is kept when the call succeeds, and dropped otherwise.
  class Call {
   public:
    explicit Call(FakeHost& host, bool may_write = true) : host_(host), before_(host.objects_) {
      host.calling_ = std::this_thread::get_id();
      host.may_write_ = may_write;
    }
    ~Call() {
      if (!kept_) host_.objects_ = std::move(before_);
      host_.remotes_.keep_staged(kept_);
      host_.calling_ = {};
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    void keep() { kept_ = true; }

   private:
    FakeHost& host_;
    FakeObjects before_;
    bool kept_ = false;
  };
  /// Why the last call on this thread failed, if the plugin said so.
  static std::string take_fault() { return std::exchange(fault(), {}); }

 private:
  friend struct FakeServices;
  struct Metric {
    std::int32_t kind = 0, unit = 0;
    std::string name;
    std::vector<std::string> labels;
    std::map<std::vector<std::string>, std::int64_t> values;
  };

  static FakeHost& of(const sluice_host_t* host) {
    return *reinterpret_cast<FakeHost*>(host->handle);
  }
  static std::string& fault() {
    static thread_local std::string text;
    return text;
  }
  template <typename T>
  T copy(const T& what) const {
    const std::lock_guard lock(mutex_);
    return what;
  }
  /// Changes something under the lock and wakes the waiting threads.
  template <typename Fn>
  void change(Fn fn) {
    {
      const std::lock_guard lock(mutex_);
      fn();
      ++changes_;
    }
    changed_.notify_all();
  }
  std::int32_t register_metric(const sluice_metric_spec_t& spec, std::uint32_t& number);
  std::int32_t write_metric(std::uint32_t number, const sluice_str_t* values, std::uint32_t count,
                            std::int64_t value, bool add);

  sluice_host_t table_{};
  Json config_ = Json::object();
  bool timers_allowed_ = false;
  bool simulated_ = false;
  FakeObjects objects_;
  FakeRemotes remotes_;
  std::thread::id calling_;  ///< the thread of a call in which objects may be used
  bool may_write_ = true;    ///< and whether that call may write them
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t changes_ = 0;
  std::int64_t now_;
  std::set<std::string, std::less<>> absent_;
  std::map<std::uint64_t, std::int64_t> timers_;
  std::vector<LogLine> log_;
  std::vector<RecordedEvent> events_;
  std::vector<RecordedReport> reports_;
  std::vector<std::string> requeued_, traits_changed_, order_changed_, ended_;
  std::vector<Metric> metrics_;
};

}  // namespace sluice::testing

#include "sluice/testing/host_impl.hpp"
