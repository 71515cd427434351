#include "host/executor/process/process_tree.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string>

#include "host/base/files.hpp"

namespace sluice::host {
namespace {

// Of /proc/PID/stat, counted behind the name in parentheses.
constexpr std::size_t kParent = 1, kUser = 11, kSystem = 12, kEndedUser = 13, kEndedSystem = 14,
                      kResident = 21, kFields = 22;

bool read_stat(const std::filesystem::path& folder, std::array<std::int64_t, kFields>& fields) {
  const auto text = read_file(folder / "stat");  // none of a process that ended just now
  if (!text) return false;
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream words(text->substr(name_end + 1));
  std::string word;
  std::size_t i = 0;
  for (; i < kFields && words >> word; ++i)
    std::from_chars(word.data(), word.data() + word.size(), fields[i]);
  return i == kFields;
}

}  // namespace

ProcessTree ProcessTree::look() {
  ProcessTree out;
  const std::int64_t tick_us = 1'000'000 / ::sysconf(_SC_CLK_TCK);
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::error_code ended;
  for (std::filesystem::directory_iterator entry("/proc", ended), end; !ended && entry != end;
       entry.increment(ended)) {
    const std::string name = entry->path().filename();
    std::int64_t pid = 0;
    const auto [last, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    std::array<std::int64_t, kFields> fields{};
    if (bad != std::errc() || last != name.data() + name.size() ||
        !read_stat(entry->path(), fields))
      continue;
    out.processes_[pid] = {fields[kParent], (fields[kUser] + fields[kSystem]) * tick_us,
                           (fields[kEndedUser] + fields[kEndedSystem]) * tick_us,
                           fields[kResident] * page};
    out.children_[fields[kParent]].push_back(pid);
  }
  return out;
}

std::optional<TreeUse> ProcessTree::below_keeper_of(std::int64_t first) const {
  const auto found = processes_.find(first);
  if (found == processes_.end()) return std::nullopt;
  const std::int64_t keeper = found->second.parent;
  TreeUse out;
  if (const auto at = processes_.find(keeper); at != processes_.end())
    out.cpu_us = at->second.ended_cpu_us;
  std::vector<std::int64_t> left{keeper};
  while (!left.empty()) {
    const auto below = children_.find(left.back());
    left.pop_back();
    if (below == children_.end()) continue;
    for (const std::int64_t pid : below->second) {
      const Process& process = processes_.at(pid);
      out.cpu_us += process.cpu_us + process.ended_cpu_us;
      out.memory_bytes += process.memory_bytes;
      left.push_back(pid);
    }
  }
  return out;
}

}  // namespace sluice::host
