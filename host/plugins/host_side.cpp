#include "host/plugins/host_side.hpp"

#include <boost/json.hpp>
#include <exception>
#include <initializer_list>

#include "host/base/version.hpp"
#include "host/plugins/services.hpp"

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

std::size_t bytes_of(std::initializer_list<std::string_view> texts) {
  std::size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  return bytes;
}

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
    if (!timers_.has(timer) && timers_.size() >= kMostTimers) {
      tell_full("timers");
      return false;
    }
    timers_.set(timer, at);
  }
  wake();
  return true;
}

void HostSide::cancel_timer(std::uint64_t timer) {
  {
    const std::lock_guard lock(mutex_);
    if (!timers_.has(timer)) return;
    timers_.erase(timer);
  }
  wake();
}

std::map<std::uint64_t, Time> HostSide::timers() const {
  const std::lock_guard lock(mutex_);
  return timers_.all();
}

void HostSide::forget_timers() {
  const std::lock_guard lock(mutex_);
  timers_ = {};
}

Time HostSide::next_timer() const {
  const std::lock_guard lock(mutex_);
  return timers_.next();
}

std::vector<std::uint64_t> HostSide::take_due_timers(Time now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> numbers;
  while (numbers.size() < kMostDueAtOnce) {
    const auto timer = timers_.take_due(now);
    if (!timer) break;
    numbers.push_back(*timer);
  }
  return numbers;
}

void HostSide::add_event(PluginEvent event) {
  const std::size_t bytes = bytes_of({event.plugin, event.api_version, event.kind, event.ns,
                                      event.name, event.reason, event.message});
  const std::lock_guard lock(mutex_);
  if (!events_.add(std::move(event), bytes)) tell_full("events");
}

std::vector<PluginEvent> HostSide::take_events() {
  const std::lock_guard lock(mutex_);
  return events_.take();
}

void HostSide::add_request(EngineRequest request) {
  const std::size_t bytes = bytes_of({request.workload, request.plugin});
  {
    const std::lock_guard lock(mutex_);
    if (!requests_.add(std::move(request), bytes)) tell_full("requests");
  }
  wake();
}

std::vector<EngineRequest> HostSide::take_requests() {
  const std::lock_guard lock(mutex_);
  return requests_.take();
}

HostSide::Taken HostSide::add_report(CheckReport report) {
  if (!reports_allowed_) return Taken::kNotAllowed;
  const std::size_t bytes =
      bytes_of({report.plugin, report.ns, report.name, report.uid, report.check, report.state,
                report.reason, report.message, report.pod_set_updates_json});
  {
    const std::lock_guard lock(mutex_);
    if (!reports_.add(std::move(report), bytes)) {
      tell_full("reports");
      return Taken::kTooMany;
    }
  }
  wake();
  return Taken::kYes;
}

std::vector<CheckReport> HostSide::take_reports() {
  const std::lock_guard lock(mutex_);
  return reports_.take();
}

/// REQUIRES: mutex_ is held.
void HostSide::tell_full(std::string_view what) {
  if (!told_full_.insert(what).second || !services_.log) return;
  services_.log(
      2, plugin_,
      "too many of its " + std::string(what) + " wait: what is too much is dropped, and told once");
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
  if (!resumed) course_.overtaken = resumed.error().text;
}

void HostSide::suspend_call() {
  caller_ = std::thread::id();
  if (!std::exchange(wrote_, false)) return;
  port_->suspend();
  suspended_ = true;
}

Result<void> HostSide::end_call(bool keep) {
  caller_ = std::thread::id();
  const std::string overtaken = std::exchange(course_, {}).overtaken;
  const bool wrote = std::exchange(wrote_, false);
  Result<void> done;
  if (keep && !overtaken.empty())
    done = Error{"nothing of what it wrote holds: " + overtaken};
  else if (wrote && keep)
    port_->commit();
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
