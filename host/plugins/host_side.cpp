#include "host/plugins/host_side.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <exception>

#include "host/base/version.hpp"
#include "host/plugins/services.hpp"
#include "sluice/ext/check_controller.h"

namespace sluice::host {

namespace {

struct ReportedFault {
  const HostSide* by = nullptr;
  std::string text;
};

ReportedFault& reported_fault() {
  static thread_local ReportedFault fault;
  return fault;
}

void report_fault(const sluice_host_t* host, sluice_str_t text) noexcept {
  try {
    reported_fault() = {&HostSide::of(host), shown_text(text)};
  } catch (const std::exception&) {
    // Out of memory for a text: the fault is then reported without it.
  }
}

constexpr std::size_t kMaxQueued = 200'000;

}  // namespace

HostSide::HostSide(std::string plugin, boost::json::value config, const HostServices& services)
    : plugin_(std::move(plugin)),
      config_(std::move(config)),
      services_(services),
      elsewhere_(plugin_) {
  table_ = {sizeof(sluice_host_t), SLUICE_ABI_MAJOR, SLUICE_ABI_MINOR, 0, this,
            abi_of(version()),     &find_service,    &report_fault};
}

void HostSide::keep(std::unique_ptr<HostSide> side) {
  if (side == nullptr) return;
  side->set_wake({});
  side->connect(nullptr);
  side->elsewhere().connect(nullptr);
  {
    const std::unique_lock lock(side->life_);
    side->ended_ = true;
  }
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::unique_ptr<HostSide>>();
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(side));
}

std::string HostSide::config_text() const { return boost::json::serialize(config_); }

bool HostSide::set_timer(std::uint64_t timer, Time at) {
  if (!timers_allowed_) return false;
  {
    const std::lock_guard lock(mutex_);
    timers_[timer] = at;
  }
  wake();
  return true;
}

void HostSide::cancel_timer(std::uint64_t timer) {
  {
    const std::lock_guard lock(mutex_);
    if (timers_.erase(timer) == 0) return;
  }
  wake();
}

std::map<std::uint64_t, Time> HostSide::timers() const {
  const std::lock_guard lock(mutex_);
  return timers_;
}

void HostSide::forget_timers() {
  const std::lock_guard lock(mutex_);
  timers_.clear();
}

Time HostSide::next_timer() const {
  const std::lock_guard lock(mutex_);
  Time next = kNever;
  for (const auto& [timer, at] : timers_) next = std::min(next, at);
  return next;
}

std::vector<std::uint64_t> HostSide::take_due_timers(Time now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<Time, std::uint64_t>> due;
  for (const auto& [timer, at] : timers_)
    if (at <= now) due.emplace_back(at, timer);
  std::sort(due.begin(), due.end());
  std::vector<std::uint64_t> numbers;
  for (const auto& [at, timer] : due) {
    timers_.erase(timer);
    numbers.push_back(timer);
  }
  return numbers;
}

void HostSide::add_event(PluginEvent event) {
  const std::lock_guard lock(mutex_);
  if (events_.size() < kMaxQueued) events_.push_back(std::move(event));
}

std::vector<PluginEvent> HostSide::take_events() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

void HostSide::add_request(EngineRequest request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }
  wake();
}

std::vector<EngineRequest> HostSide::take_requests() {
  const std::lock_guard lock(mutex_);
  return std::exchange(requests_, {});
}

const char* HostSide::add_report(CheckReport report) {
  if (!reports_allowed_)
    return "it provides no " SLUICE_EXT_CHECK_CONTROLLER ", so no check is its own";
  {
    const std::lock_guard lock(mutex_);
    if (reports_.size() >= kMaxQueued) return "too many reports wait";
    reports_.push_back(std::move(report));
  }
  wake();
  return nullptr;
}

std::vector<CheckReport> HostSide::take_reports() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reports_, {});
}

ObjectPort* HostSide::port_for_writes() {
  ObjectPort* port = this->port();
  if (reading_) return nullptr;
  if (port != nullptr && !wrote_) {
    port->begin(plugin_);
    wrote_ = true;
  }
  return port;
}

void HostSide::begin_call() {
  caller_ = std::this_thread::get_id();
  if (!std::exchange(suspended_, false)) return;
  const Result<void> resumed = port_->resume(plugin_);
  wrote_ = resumed.ok();
  if (!resumed) overtaken_ = resumed.error().text;
}

void HostSide::suspend_call() {
  caller_ = std::thread::id();
  if (!std::exchange(wrote_, false)) return;
  port_->suspend();
  suspended_ = true;
}

Result<void> HostSide::end_call(bool keep) {
  caller_ = std::thread::id();
  const std::string overtaken = std::exchange(overtaken_, {});
  const bool wrote = std::exchange(wrote_, false);
  Result<void> done;
  if (keep && !overtaken.empty())
    done = Error{"nothing of what it wrote holds: " + overtaken};
  else if (wrote && keep)
    done = port_->commit();
  else if (wrote)
    port_->drop();
  elsewhere_.end_call(keep && done);
  return done;
}

void HostSide::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(wake_mutex_);
  wake_ = std::move(wake);
}

// Under the lock, so that nobody is woken after set_wake({}) returned.
void HostSide::wake() {
  const std::lock_guard lock(wake_mutex_);
  if (wake_) wake_();
}

std::string HostSide::take_fault_text() const {
  ReportedFault& fault = reported_fault();
  if (fault.by != this) return {};
  fault.by = nullptr;
  return std::exchange(fault.text, {});
}

void HostSide::set_fault_text(std::string text) const {
  reported_fault() = {this, std::move(text)};
}

}  // namespace sluice::host
