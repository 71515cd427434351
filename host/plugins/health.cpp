#include "host/plugins/health.hpp"

namespace sluice::host {

std::size_t Health::stripe() {
  static std::atomic<std::size_t> next{0};
  static constinit thread_local std::size_t mine = kStripes;
  if (mine == kStripes) [[unlikely]]
    mine = next.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return mine;
}

bool Health::may_warn(Hook hook, Time now) {
  std::atomic<Time>& next = next_warning_[static_cast<std::size_t>(hook)];
  Time due = next.load(std::memory_order_relaxed);
  return now >= due && next.compare_exchange_strong(due, now + 60 * kSecond);
}

bool Health::record_fault(Hook hook, Time now, const std::string& text, const std::string& about) {
  faults_[static_cast<std::size_t>(hook)].fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  last_fault_ = text;
  if (quarantined()) return false;
  std::erase_if(recent_, [&](const Recent& each) {
    return now - each.at >= limits_.quarantine_window ||
           (!about.empty() && each.hook == hook && each.about == about);
  });
  recent_.push_back({now, hook, about});
  if (recent_.size() < static_cast<std::size_t>(limits_.quarantine_faults)) return false;
  quarantined_.store(true, std::memory_order_relaxed);
  return true;
}

void Health::note_loss(Hook hook, const std::string& text) {
  faults_[static_cast<std::size_t>(hook)].fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  last_fault_ = text;
}

void Health::quarantine(const std::string& why) {
  const std::lock_guard lock(mutex_);
  because_ = why;
  last_fault_ = why;
  quarantined_.store(true, std::memory_order_relaxed);
}

std::string Health::quarantined_because() const {
  const std::lock_guard lock(mutex_);
  return because_;
}

void Health::reset() {
  const std::lock_guard lock(mutex_);
  because_.clear();
  recent_.clear();
  quarantined_.store(false, std::memory_order_relaxed);
}

HookStats Health::stats(Hook hook) const {
  const auto i = static_cast<std::size_t>(hook);
  HookStats sum;
  sum.faults = faults_[i].load(std::memory_order_relaxed);
  for (const Stripe& stripe : stripes_) {
    sum.calls += stripe.cells[i].calls.load(std::memory_order_relaxed);
    sum.time += stripe.cells[i].time.load(std::memory_order_relaxed);
  }
  return sum;
}

std::uint64_t Health::faults() const {
  std::uint64_t sum = 0;
  for (const auto& faults : faults_) sum += faults.load(std::memory_order_relaxed);
  return sum;
}

std::string Health::last_fault() const {
  const std::lock_guard lock(mutex_);
  return last_fault_;
}

}  // namespace sluice::host
