// Notifier: tells plugins what was decided, in order, at least once, with bounded retry; each what
// it wants to be told of.
//
// Each plugin has a queue of its own, so a plugin that asks for a retry holds up nobody else, and
// hears everything in order. One that has not answered yet is told nothing else. A notification
// that keeps failing is given up after a number of attempts and counted as lost. Called by one
// thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/plugins/event_filter.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

class Notifier final : public hooks::Notifications {
 public:
  /// Asks the plugins what they want to be told of. The error names the plugin.
  static Result<std::unique_ptr<Notifier>> make(const std::vector<LoadedPlugin*>& plugins,
                                                const PluginClock& clock, LogSink log,
                                                const FaultLimits& limits);

  void notify(const hooks::Notification& notification) override;

  /// All that is there is new to all plugins: as if they had been started again.
  void begin_anew();
  /// Whether plugins were started again since the last call, and have to be told the present state
  /// with notify_again().
  bool take_restarted();
  void notify_again(const hooks::Notification& notification);

  /// Does any of them want to be told of such an event? `claimed`: by a plugin.
  bool listens(hooks::Event event, bool claimed) const { return all_.passes(event, claimed); }

  /// Tells what is due for another attempt.
  void retry(Time now);
  /// When the next attempt is due; kNever without one.
  Time next_retry() const;
  /// Notifications that were given up, over all plugins.
  std::uint64_t lost() const { return lost_; }

 private:
  static constexpr std::size_t kMaxWaiting = 100'000;
  struct Outbox {
    LoadedPlugin* plugin = nullptr;
    EventFilter filter;
    std::deque<std::shared_ptr<const hooks::Notification>> waiting;
    int attempts = 0;  // of the first one that waits
    Time due = 0;
    RestartWatch watch;
    bool restarted = false;
    bool asked = false;  // the first one that waits, and it has not answered
  };

  Notifier(const PluginClock& clock, LogSink log, const FaultLimits& limits)
      : clock_(clock), log_(std::move(log)), limits_(limits) {}

  void tell_later(Outbox& outbox, const std::shared_ptr<const hooks::Notification>& notification);
  void send(Outbox& outbox, Time now, bool at_once);
  void tell_first(Outbox& outbox);
  void answered(Outbox& outbox, Answer answer);
  void drop_first(Outbox& outbox, const std::string& why);

  std::vector<Outbox> outboxes_;
  EventFilter all_;  // of all of them
  const PluginClock& clock_;
  LogSink log_;
  FaultLimits limits_;
  std::uint64_t lost_ = 0;
};

}  // namespace sluice::host
