#include "host/executor/usage_meter.hpp"

#include <algorithm>
#include <charconv>

#include "host/executor/process/control_group.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr Duration kLookAgain = kSecond;
constexpr Duration kLongestWindow = 60 * kSecond;  // what was before says nothing about now
constexpr std::string_view kProcess = "process://";

std::int64_t pid_of(const json::object& container) {
  const std::string_view id = api::find_text(container, "containerID");
  std::int64_t pid = 0;
  if (id.starts_with(kProcess))
    std::from_chars(id.data() + kProcess.size(), id.data() + id.size(), pid);
  return pid;
}

}  // namespace

std::optional<UsageMeter::Reading> UsageMeter::read(const std::string& uid, const std::string& name,
                                                    std::int64_t pid, Time now) {
  Reading out{now, 0, 0};
  GroupNow group;
  if (!groups_.empty()) group = now_in_group(groups_ / uid / name);
  if (group.cpu_us == 0 || group.memory_bytes == 0) {
    const auto tree = tree_.below_keeper_of(pid);
    if (!tree) return std::nullopt;
    out.cpu_us = tree->cpu_us;
    out.memory_bytes = tree->memory_bytes;
  }
  if (group.cpu_us != 0) out.cpu_us = group.cpu_us;
  if (group.memory_bytes != 0) out.memory_bytes = group.memory_bytes;
  return out;
}

/// Entries that were not read in a while are of pods that ended, or are read so seldom that their
/// next window begins with their start.
void UsageMeter::forget_ended(Time now) {
  std::erase_if(known_,
                [&](const auto& entry) { return entry.second.last.at + kLongestWindow < now; });
}

std::optional<PodUsage> UsageMeter::of(const json::object& pod, Time now) {
  const std::lock_guard lock(mutex_);
  if (now - looked_ >= kLookAgain || now < looked_) {
    tree_ = ProcessTree::look();
    looked_ = now;
    forget_ended(now);
  }
  const std::string uid = text_in(part(pod, "metadata"), "uid");
  PodUsage out;
  out.at = looked_;
  for_each_object(part(pod, "status"), "containerStatuses", [&](const json::object& status) {
    const json::object& running = part(part(status, "state"), "running");
    const std::int64_t pid = pid_of(status);
    if (running.empty() || pid == 0) return;
    const std::string name = text_in(status, "name");
    Container& known = known_[{uid, name}];
    if (known.pid != pid) {
      known = {};
      known.pid = pid;
      known.last.at = api::find_time(running, "startedAt").value_or(looked_);
    }
    if (known.last.at < looked_) {
      const auto now_used = read(uid, name, pid, looked_);
      if (!now_used) return;
      known.before = std::exchange(known.last, *now_used);
    }
    const Duration window = known.last.at - known.before.at;
    if (window <= 0) return;  // it began with this look
    out.window = std::max(out.window, window);
    const std::int64_t used = std::max<std::int64_t>(0, known.last.cpu_us - known.before.cpu_us);
    const double share = static_cast<double>(used) * 1e12 / static_cast<double>(window);
    out.containers.push_back({name, static_cast<std::int64_t>(share), known.last.memory_bytes});
  });
  if (out.containers.empty()) return std::nullopt;
  return out;
}

}  // namespace sluice::host
