#include "host/controllers/controller_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/backoff.hpp"
#include "host/base/log.hpp"

namespace sluice::host {
namespace {

constexpr Duration kFirstRetry = kSecond;

}  // namespace

void ControllerLoop::add(Controller& controller) {
  Entry& entry = entries_.emplace_back();
  entry.controller = &controller;
  for (auto& kind : controller.watches()) entry.kinds.insert(std::move(kind));
  by_kind_.clear();
}

std::set<std::string> ControllerLoop::watched() const {
  std::set<std::string> out;
  for (const Entry& entry : entries_) out.insert(entry.kinds.begin(), entry.kinds.end());
  return out;
}

std::string ControllerLoop::selector(const std::string& kind) const {
  std::vector<std::string> wanted;
  for (const Entry& entry : entries_)
    if (entry.kinds.contains(kind)) wanted.push_back(entry.controller->selector(kind));
  return selector_of_all(wanted);
}

const std::vector<ControllerLoop::Entry*>& ControllerLoop::watchers_of(const api::KindInfo& kind) {
  const auto [it, fresh] = by_kind_.try_emplace(&kind);
  if (fresh)
    for (Entry& entry : entries_)
      if (entry.kinds.contains(kind.group_kind())) it->second.push_back(&entry);
  return it->second;
}

void ControllerLoop::changed(const ObjectChange& change) {
  index_.update(change);
  for (Entry* entry : watchers_of(*change.kind)) {
    named_.clear();
    entry->controller->changed(change, named_);
    for (WorkKey& key : named_) name(*entry, std::move(key));
  }
}

bool ControllerLoop::wants_loaded(const api::KindInfo& kind) {
  const auto& watchers = watchers_of(kind);
  return std::any_of(watchers.begin(), watchers.end(), [this](const Entry* entry) {
    return resumes_ || !entry->controller->loads_apart();
  });
}

bool ControllerLoop::follows(const StoredObject& workload) {
  const auto& watchers = watchers_of(*workload.kind);
  return std::any_of(watchers.begin(), watchers.end(), [&workload](const Entry* entry) {
    return entry->controller->follows(workload);
  });
}

bool ControllerLoop::has_work() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return !entry.queue.empty() && entry.controller->pause() == 0;
  });
}

bool ControllerLoop::has_first_looks() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.first_looks > 0 && entry.controller->decides();
  });
}

void ControllerLoop::loaded(const ObjectChange& change, bool apart) {
  if (apart) index_.update(change);
  if (apart && resumes_) return;  // owners are known when all are in the index
  const bool owns = resumes_ && !index_.dependents(change.stored->metadata.uid()).empty();
  for (Entry* entry : watchers_of(*change.kind)) {
    if (!resumes_ && entry->controller->loads_apart() != apart) continue;
    named_.clear();
    if (resumes_)
      entry->controller->resumed(change, owns, named_);
    else
      entry->controller->loaded(change, named_);
    for (WorkKey& key : named_) name(*entry, std::move(key));
    if (entry->controller->decides()) entry->first_looks = entry->queue.size();
  }
}

void ControllerLoop::name(Entry& entry, WorkKey key) {
  const auto [it, fresh] = entry.queued.insert(std::move(key));
  if (fresh) entry.queue.push_back(&*it);
}

void ControllerLoop::begin_instant(Time now) {
  for (Entry& entry : entries_)
    while (auto key = entry.timers.take_due(now)) name(entry, *std::move(key));
}

void ControllerLoop::set_timer(Entry& entry, const WorkKey& key, Time at) {
  if (at == kNever)
    entry.timers.erase(key);
  else
    entry.timers.set(key, at);
}

bool ControllerLoop::run_one(Entry& entry) {
  if (entry.queue.empty() || entry.controller->pause() > 0) return false;
  // Not queued any more while it is looked at: what changes then names it again.
  const auto node = entry.queued.extract(*entry.queue.front());
  entry.queue.pop_front();
  if (entry.first_looks > 0) --entry.first_looks;
  const WorkKey& key = node.value();
  ++reconciles_;
  const auto next = entry.controller->reconcile(key, objects_);
  if (next && *next == kUnderWay) return true;
  if (next) {
    entry.failures.erase(key);
    set_timer(entry, key, *next);
    return true;
  }
  if (!retries_) {
    log(LogLevel::kWarning, entry.controller->name(), next.error().text, {{"key", to_text(key)}});
    return true;
  }
  int& failures = entry.failures[key];
  if (failures > 0 && entry.timers.has(key)) {
    log(LogLevel::kDebug, entry.controller->name(), next.error().text, {{"key", to_text(key)}});
    return true;
  }
  const Duration delay = backoff(kFirstRetry, failures, entry.controller->longest_retry());
  ++failures;
  log(LogLevel::kWarning, entry.controller->name(), next.error().text,
      {{"key", to_text(key)}, {"retry_s", fmt::format("{}", delay / kSecond)}});
  set_timer(entry, key, objects_.now() + delay);
  return true;
}

bool ControllerLoop::run() {
  bool fed = false;
  for (const auto& source : sources_) fed |= source();
  for (Entry& entry : entries_) {
    named_.clear();
    entry.controller->poll(named_);
    for (WorkKey& key : named_) name(entry, std::move(key));
  }
  const Duration start = clock_ ? clock_->steady() : 0;
  std::size_t done = 0, before = 0;
  do {
    before = done;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::size_t at = (first_ + i) % entries_.size();
      for (std::size_t n = 0; n < most_ && run_one(entries_[at]); ++n) {
        ++done;
        if (!is_late(start)) continue;
        first_ = (at + 1) % entries_.size();
        return true;
      }
    }
  } while (done != before && done < most_);
  first_ = 0;
  return fed || done != 0;
}

Time ControllerLoop::next_timer() const {
  Time next = kNever;
  for (const Entry& entry : entries_) {
    if (!entry.queue.empty()) next = std::min(next, objects_.now() + entry.controller->pause());
    next = std::min(next, entry.timers.next());
  }
  return next;
}

}  // namespace sluice::host
