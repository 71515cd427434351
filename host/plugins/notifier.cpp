#include "host/plugins/notifier.hpp"

#include <algorithm>
#include <utility>

#include "host/plugins/workload_api.hpp"

namespace sluice::host {

namespace {

static_assert(static_cast<int>(hooks::Event::kReserved) == SLUICE_EVENT_RESERVED);
static_assert(static_cast<int>(hooks::Event::kPreempting) == SLUICE_EVENT_PREEMPTING);
static_assert(static_cast<int>(hooks::Event::kWaitingForVictims) ==
              SLUICE_EVENT_WAITING_FOR_VICTIMS);
static_assert(static_cast<int>(hooks::Event::kAdmitted) == SLUICE_EVENT_ADMITTED);
static_assert(static_cast<int>(hooks::Event::kReservationLost) == SLUICE_EVENT_RESERVATION_LOST);
static_assert(static_cast<int>(hooks::Event::kEvicted) == SLUICE_EVENT_EVICTED);
static_assert(static_cast<int>(hooks::Event::kDeactivated) == SLUICE_EVENT_DEACTIVATED);
static_assert(static_cast<int>(hooks::Event::kFinished) == SLUICE_EVENT_FINISHED);

std::int32_t tell(LoadedPlugin& plugin, const hooks::Notification& told) {
  std::vector<sluice_str_t> others;
  for (const std::string& other : told.others) others.push_back(abi_of(other));
  const sluice_notification_t raw{sizeof(sluice_notification_t),
                                  static_cast<std::int32_t>(told.event),
                                  told.sequence,
                                  ref_of(*told.workload),
                                  abi_of(told.reason),
                                  others.size(),
                                  others.data()};
  return plugin.extensions().post_admit->notify(plugin.self(), &raw);
}

/// Is it about a workload of the plugin's?
bool manages(const LoadedPlugin& plugin, const hooks::Notification& told) {
  return std::find(told.claimed_by.begin(), told.claimed_by.end(), plugin.name()) !=
         told.claimed_by.end();
}

/// Whose a workload was that is gone is not known; it may have been the plugin's.
bool wants(const LoadedPlugin& plugin, const EventFilter& filter, const hooks::Notification& told) {
  return filter.passes(told.event, told.gone || manages(plugin, told));
}

Result<EventFilter> filter_of(LoadedPlugin& plugin) {
  const sluice_post_admit_t& table = *plugin.extensions().post_admit;
  if (!SLUICE_HAS(&table, events) || table.events == nullptr) return EventFilter::everything();
  const auto lines = plugin.names(Hook::kToldEvents, table.events, "an event");
  if (!lines) return Error{"it does not say: " + lines.error().text};
  return EventFilter::parse(*lines);
}

}  // namespace

Result<std::unique_ptr<Notifier>> Notifier::make(const std::vector<LoadedPlugin*>& plugins,
                                                 const PluginClock& clock, LogSink log,
                                                 const FaultLimits& limits) {
  std::unique_ptr<Notifier> out(new Notifier(clock, std::move(log), limits));
  for (LoadedPlugin* plugin : plugins) {
    auto filter = filter_of(*plugin);
    if (!filter)
      return filter.error().context("plugin " + plugin->name() +
                                    ", of which events it wants to be told (post-admit)");
    out->all_.join(*filter);
    out->outboxes_.push_back({plugin, *filter, {}, 0, 0, RestartWatch(*plugin), false, false});
  }
  return out;
}

void Notifier::notify(const hooks::Notification& notification) {
  if (outboxes_.empty()) return;
  const auto shared = std::make_shared<const hooks::Notification>(notification);
  for (Outbox& outbox : outboxes_) {
    if (!wants(*outbox.plugin, outbox.filter, notification)) continue;
    tell_later(outbox, shared);
    const bool at_once = manages(*outbox.plugin, notification) && outbox.attempts == 0;
    if (at_once || outbox.waiting.size() == 1) send(outbox, clock_.now(), at_once);
  }
}

void Notifier::tell_later(Outbox& outbox,
                          const std::shared_ptr<const hooks::Notification>& notification) {
  if (outbox.waiting.size() >= kMaxWaiting) {
    if (outbox.asked) std::swap(outbox.waiting[0], outbox.waiting[1]);  // that one is being told
    drop_first(outbox, "too many are waiting");
  }
  outbox.waiting.push_back(notification);
}

void Notifier::begin_anew() {
  for (Outbox& outbox : outboxes_) outbox.watch.begin_anew();
}

bool Notifier::take_restarted() {
  bool any = false;
  for (Outbox& outbox : outboxes_) {
    outbox.restarted = outbox.watch.take_restarted();
    any |= outbox.restarted;
  }
  return any;
}

void Notifier::notify_again(const hooks::Notification& notification) {
  const auto shared = std::make_shared<const hooks::Notification>(notification);
  for (Outbox& outbox : outboxes_) {
    if (!outbox.restarted || !wants(*outbox.plugin, outbox.filter, notification)) continue;
    tell_later(outbox, shared);
    if (outbox.waiting.size() == 1) send(outbox, clock_.now(), false);
  }
}

void Notifier::retry(Time now) {
  for (Outbox& outbox : outboxes_)
    if (!outbox.waiting.empty() && !outbox.asked &&
        (outbox.due <= now || (outbox.due == kNever && !outbox.plugin->health().quarantined())))
      send(outbox, now, false);
}

Time Notifier::next_retry() const {
  Time next = kNever;
  for (const Outbox& outbox : outboxes_)
    if (!outbox.waiting.empty()) next = std::min(next, outbox.due);
  return next;
}

/// `at_once`: however much time the plugin had. What it does about a workload of its own belongs to
/// the decision, and into the same commit.
void Notifier::send(Outbox& outbox, Time now, bool at_once) {
  while (!outbox.waiting.empty() && !outbox.asked) {
    if (outbox.plugin->health().quarantined()) {
      outbox.due = kNever;  // it waits, uncounted, until the quarantine is over
      return;
    }
    if (const Duration pause = at_once ? 0 : outbox.plugin->pause(); pause > 0) {
      outbox.due = now + pause;
      return;
    }
    outbox.due = now;
    tell_first(outbox);
    if (outbox.due > now) return;
  }
}

void Notifier::tell_first(Outbox& outbox) {
  const auto told = outbox.waiting.front();
  LoadedPlugin* plugin = outbox.plugin;
  outbox.asked = true;
  // A fault is counted and logged; a decision is never undone because of it.
  plugin->ask(
      Hook::kNotify, about_of(*told->workload), [plugin, told] { return tell(*plugin, *told); },
      [this, &outbox](Answer answer, const hooks::Fault&, bool late) {
        outbox.asked = false;
        answered(outbox, answer);
        if (late) send(outbox, clock_.now(), false);
      });
  if (outbox.asked) outbox.due = kNever;  // the answer says how it goes on
}

void Notifier::answered(Outbox& outbox, Answer answer) {
  const Time now = clock_.now();
  if (answer == Answer::kOk) {
    outbox.waiting.pop_front();
    outbox.attempts = 0;
  } else if (outbox.plugin->was_lost()) {  // nobody was there: no attempt of the plugin's
    outbox.due = now + std::max(outbox.plugin->pause(), limits_.notify_pause);
  } else if (++outbox.attempts >= limits_.notify_attempts) {
    drop_first(outbox, "given up after " + std::to_string(outbox.attempts) + " attempts");
  } else {
    outbox.due = now + (limits_.notify_pause << (outbox.attempts - 1));
  }
}

void Notifier::drop_first(Outbox& outbox, const std::string& why) {
  const auto told = outbox.waiting.front();
  outbox.waiting.pop_front();
  outbox.attempts = 0;
  ++lost_;
  if (log_)
    log_(3, outbox.plugin->name(),
         "notification " + std::to_string(told->sequence) + " about " + told->workload->meta.key() +
             " is lost: " + why);
}

}  // namespace sluice::host
