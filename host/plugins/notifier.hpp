// Notifier: tells plugins what was decided, in order, at least once, with bounded retry.
//
// Each plugin has a queue of its own, so a plugin that asks for a retry holds up nobody else, and
// hears everything in order. One that has not answered yet is told nothing else. A notification
// that keeps failing is given up after a number of attempts and counted as lost. Called by one
// thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

class Notifier final : public hooks::Notifications {
 public:
  Notifier(std::vector<LoadedPlugin*> plugins, const PluginClock& clock, LogSink log,
           const FaultLimits& limits);

  void notify(const hooks::Notification& notification) override;

  /// Whether plugins were started again since the last call, and have to be told the present state
  /// with notify_again().
  bool take_restarted();
  void notify_again(const hooks::Notification& notification);

  bool has_listeners() const { return !outboxes_.empty(); }

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
    std::deque<std::shared_ptr<const hooks::Notification>> waiting;
    int attempts = 0;  // of the first one that waits
    Time due = 0;
    RestartWatch watch;
    bool restarted = false;
    bool asked = false;  // the first one that waits, and it has not answered
  };

  void tell_later(Outbox& outbox, const std::shared_ptr<const hooks::Notification>& notification);
  void send(Outbox& outbox, Time now, bool at_once);
  void tell_first(Outbox& outbox);
  void answered(Outbox& outbox, Answer answer);
  void drop_first(Outbox& outbox, const std::string& why);

  std::vector<Outbox> outboxes_;
  const PluginClock& clock_;
  LogSink log_;
  FaultLimits limits_;
  std::uint64_t lost_ = 0;
};

}  // namespace sluice::host
