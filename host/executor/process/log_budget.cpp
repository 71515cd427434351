#include "host/executor/process/log_budget.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "host/base/files.hpp"
#include "host/executor/process/run_record.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

std::int64_t bytes_below(const fs::path& folder) {
  std::int64_t out = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    struct stat info {};
    if (::stat(at->path().c_str(), &info) == 0 && S_ISREG(info.st_mode)) out += info.st_size;
  }
  return out;
}

std::int64_t ended_at(const RunPaths& paths) {
  struct stat info {};
  return ::stat(paths.state.c_str(), &info) == 0 ? info.st_mtime : 0;
}

}  // namespace

LogBudget budget_on_disk(LogBudget wanted, const fs::path& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return wanted;
  const auto size = static_cast<std::int64_t>(disk.f_blocks * disk.f_frsize);
  wanted.all_bytes = std::min(wanted.all_bytes, size / 10);
  wanted.pod_bytes = std::min(wanted.pod_bytes, wanted.all_bytes / 4);
  wanted.keep_free = std::min<std::int64_t>(256 << 20, size / 20);
  return wanted;
}

std::int64_t keep_log_budget(const fs::path& root, const LogBudget& budget,
                             const std::vector<std::string>& ended) {
  std::int64_t used = 0;
  std::map<std::string, std::int64_t> by_pod;
  std::error_code problem;
  for (fs::directory_iterator at(root / "pods", problem), end; !problem && at != end;
       at.increment(problem)) {
    const std::string uid = at->path().filename().string();
    used += by_pod[uid] = bytes_below(RunPaths(root, uid).logs);
  }
  std::vector<std::pair<std::int64_t, std::string>> oldest;
  for (const std::string& uid : ended) oldest.emplace_back(ended_at(RunPaths(root, uid)), uid);
  std::sort(oldest.begin(), oldest.end());
  for (const auto& [time, uid] : oldest) {
    if (used <= budget.all_bytes) break;
    for (fs::directory_iterator at(RunPaths(root, uid).logs, problem), end; !problem && at != end;
         at.increment(problem)) {
      std::error_code ignored;
      fs::remove_all(at->path(), ignored);
    }
    problem.clear();
    used -= by_pod[uid];
  }
  const fs::path full = RunPaths(root, "x").logs_full;
  if (used > budget.all_bytes) {
    if (!fs::exists(full, problem)) static_cast<void>(create_durably(full, ""));
  } else {
    fs::remove(full, problem);
  }
  return used;
}

}  // namespace sluice::host
