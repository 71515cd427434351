// Control groups (cgroup v2) of pods: what a container starts is in a group of its own, whatever
// session it takes and whichever its parent becomes, so that all of it is counted, held to limits,
// and killed in one step.
//
// The layout, below a folder that only this host uses:
//
//   UID            a pod; no process is in it
//   UID/NAME       a container's run; made before its first process starts, gone when all ended
//   UID/_keepers   the keepers (keeper.hpp), which tell how containers ended
//
// The runner is in none of them.
// Groups are the kernel's and outlive the process that made them; the functions may be called by
// any process and thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/base/files.hpp"

namespace sluice::host {

inline constexpr std::string_view kKeepersGroup = "_keepers";  // no container is called like that

/// Where a host may make groups.
struct GroupParent {
  std::filesystem::path folder;  ///< empty: nowhere
  std::string why_not;           ///< then a sentence
  bool cpu = false;              ///< whether limits of processors and memory can be set
  bool memory = false;
};

/// Makes the folder for the host whose executor has `own`, which exists: as root `sluice/…` at the
/// top of the hierarchy, as kubelet and container engines do, else below the group of this process,
/// where that was handed over to its user. Needs Linux 5.14, whose groups can be killed.
GroupParent make_group_parent(const std::filesystem::path& own);

/// Of a container; 0: none.
struct GroupLimits {
  std::int64_t cpu_milli = 0;  ///< thousandths of a processor that it gets at most
  std::int64_t cpu_share = 0;  ///< its share when processors are short: what it asked for
  std::int64_t memory_bytes = 0;

  bool operator==(const GroupLimits&) const = default;
};

/// What a run used; 0 where the kernel does not count it. Without a group memory is that of the one
/// process that had most, and what was left behind for others to end is missing.
struct GroupUse {
  std::int64_t cpu_us = 0;
  std::int64_t memory_peak_bytes = 0;
  bool out_of_memory = false;  ///< something in it was killed for its memory limit
};

/// Makes the group, also its folder's, and sets what of the limits this machine can hold. The
/// descriptor is of the file that a process writes "0" to, to be in it.
Result<Fd> make_group(const std::filesystem::path& group, const GroupLimits& limits);

GroupUse use_of_group(const std::filesystem::path& group);

/// What is in a group used so far, and has in memory now without what could be read from disk
/// again; 0 where the kernel does not count it.
struct GroupNow {
  std::int64_t cpu_us = 0;
  std::int64_t memory_bytes = 0;
};
GroupNow now_in_group(const std::filesystem::path& group);

/// Kills all that is in the group or below, waits until it is gone, a second at most, and removes
/// the group. False: something is still there. A group that does not exist has ended.
bool end_group(const std::filesystem::path& group);

}  // namespace sluice::host
