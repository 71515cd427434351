#include "host/executor/process/control_group.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "host/executor/process/linked_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLongestEnd(1000);
constexpr std::int64_t kPeriodUs = 100'000;  // over which processor time is counted

/// Files of the kernel: written at once, without being created.
bool put(const fs::path& file, std::string_view text) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool has_word(const fs::path& file, std::string_view word) {
  std::istringstream words(read_file(file).value_or(""));
  for (std::string each; words >> each;)
    if (each == word) return true;
  return false;
}

/// The number behind `key` in a file of lines `key number`; with no key, that of the file.
std::int64_t number_in(const fs::path& file, std::string_view key) {
  std::istringstream lines(read_file(file).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!key.empty() && (!line.starts_with(key) || line.size() <= key.size() + 1)) continue;
    const std::size_t at = key.empty() ? 0 : key.size() + 1;
    std::int64_t out = 0;
    std::from_chars(line.data() + at, line.data() + line.size(), out);
    return out;
  }
  return 0;
}

/// Where the hierarchy of version 2 is mounted; empty when it is not. See proc(5), mountinfo.
fs::path mount_point() {
  std::istringstream lines(read_file("/proc/self/mountinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - cgroup2 ");
    if (dash == std::string::npos) continue;
    std::istringstream fields(line);
    std::string field, mounted;
    for (int i = 0; i < 5 && fields >> field; ++i) mounted = field;
    return mounted;
  }
  return {};
}

/// The group of this process, from the mount point on.
fs::path own_group() {
  std::istringstream lines(read_file("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::/")) return line.substr(4);
  return {};
}

/// Which limits groups below `folder` may have, as far as this process may set that.
void hand_down(const fs::path& folder) {
  for (const char* controller : {"+cpu", "+memory"})
    put(folder / "cgroup.subtree_control", controller);
}

std::string reason_of(const std::error_code& code) { return code.message(); }

/// cpu.weight for so many thousandths of a processor, as kubelet reckons it.
std::int64_t weight_of(std::int64_t milli) {
  const std::int64_t shares = std::clamp<std::int64_t>(milli * 1024 / 1000, 2, 262144);
  return 1 + (shares - 2) * 9999 / 262142;
}

bool is_unpopulated(const fs::path& group) {
  return number_in(group / "cgroup.events", "populated") == 0;
}

/// The kernel tells of a change of the file by POLLPRI.
bool wait_until_empty(const fs::path& group) {
  const auto until = std::chrono::steady_clock::now() + kLongestEnd;
  const Fd events(::open((group / "cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  while (events && !is_unpopulated(group)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    // Short turns: there is no second event for a change between the two looks.
    pollfd polled{events.get(), POLLPRI, 0};
    ::poll(&polled, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 20)));
  }
  return true;
}

/// Groups below come first; files of the kernel go with their group.
bool remove_group(const fs::path& group) {
  std::error_code problem;
  std::vector<fs::path> below;
  for (fs::directory_iterator at(group, problem), end; !problem && at != end; at.increment(problem))
    if (at->is_directory(problem)) below.push_back(at->path());
  for (const fs::path& each : below)
    if (!remove_group(each)) return false;
  return ::rmdir(group.c_str()) == 0 || errno == ENOENT;
}

}  // namespace

GroupParent make_group_parent(const fs::path& own) {
  GroupParent out;
  const fs::path top = mount_point();
  if (top.empty()) {
    out.why_not = "control groups of version 2 are not mounted";
    return out;
  }
  const fs::path base = (::geteuid() == 0 ? top : top / own_group()) / "sluice";
  // By the executor's folder itself, which one host has at a time. Its path may be relative, or
  // mean another folder in another root: hosts that shared a name would end each other's pods.
  const Result<std::string> name = identity_of(own);
  if (!name) {
    out.why_not = name.error().text;
    return out;
  }
  const fs::path folder = base / *name;
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) {
    out.why_not = "cannot make " + folder.string() + ": " + reason_of(problem);
    return out;
  }
  if (::access((folder / "cgroup.kill").c_str(), W_OK) != 0) {
    out.why_not = "the groups of this kernel cannot be killed, which takes Linux 5.14";
    return out;
  }
  for (const fs::path& each : {base.parent_path(), base, folder}) hand_down(each);
  out.cpu = has_word(folder / "cgroup.subtree_control", "cpu");
  out.memory = has_word(folder / "cgroup.subtree_control", "memory");
  out.folder = folder;
  return out;
}

Result<Fd> make_group(const fs::path& group, const GroupLimits& limits) {
  std::error_code problem;
  fs::create_directories(group, problem);
  if (problem) return Error{"cannot make the group " + group.string() + ": " + reason_of(problem)};
  hand_down(group.parent_path());
  // Without the controller the file does not exist, and the limit was not promised.
  const auto set = [&](const char* file, const std::string& value) {
    return ::access((group / file).c_str(), F_OK) != 0 || put(group / file, value);
  };
  bool held = true;
  if (limits.cpu_milli > 0)
    held = set("cpu.max",
               std::to_string(std::max<std::int64_t>(1000, limits.cpu_milli * kPeriodUs / 1000)) +
                   " " + std::to_string(kPeriodUs));
  if (limits.cpu_share > 0)
    held = set("cpu.weight", std::to_string(weight_of(limits.cpu_share))) && held;
  if (limits.memory_bytes > 0) {
    held = set("memory.max", std::to_string(limits.memory_bytes)) && held;
    held = set("memory.swap.max", "0") && held;   // a limit of memory is none of swap
    held = set("memory.oom.group", "1") && held;  // half a job is no job
  }
  if (!held) return system_error("cannot set the limits of", group);
  Fd entrance(::open((group / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!entrance) return system_error("cannot open the group", group);
  return entrance;
}

GroupUse use_of_group(const fs::path& group) {
  GroupUse out;
  out.cpu_us = number_in(group / "cpu.stat", "usage_usec");
  out.memory_peak_bytes = number_in(group / "memory.peak", "");
  out.out_of_memory = number_in(group / "memory.events", "oom_kill") > 0;
  return out;
}

GroupNow now_in_group(const fs::path& group) {
  GroupNow out;
  out.cpu_us = number_in(group / "cpu.stat", "usage_usec");
  out.memory_bytes =
      std::max<std::int64_t>(0, number_in(group / "memory.current", "") -
                                    number_in(group / "memory.stat", "inactive_file"));
  return out;
}

bool end_group(const fs::path& group) {
  std::error_code problem;
  if (!fs::exists(group, problem)) return !problem;
  put(group / "cgroup.kill", "1");
  return wait_until_empty(group) && remove_group(group);
}

}  // namespace sluice::host
