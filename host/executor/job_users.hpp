// JobUsers: as whom the processes of a namespace run, where the host is root: one user (and group
// of the same number) per namespace, out of a range that belongs to nobody else.
//
// Which namespace has which number stands in a file of the executor and never changes: files that a
// job left somewhere belong to its namespace for ever. Used by the executor's thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/base/files.hpp"

namespace sluice::host {

struct UserRange {
  std::int64_t first = 2'000'000'000;  ///< beyond what Debian and systemd give away
  std::int64_t count = 100'000;
};

class JobUsers {
 public:
  /// Reads `file`, which may not exist. An error when it is damaged: two namespaces might get one
  /// user.
  static Result<JobUsers> open(const std::filesystem::path& file, const UserRange& range);

  /// The user of the namespace, from now on and after a restart.
  Result<uid_t> of(std::string_view ns);

 private:
  JobUsers(std::filesystem::path file, const UserRange& range)
      : file_(std::move(file)), range_(range) {}
  Result<void> read(std::string_view text);

  std::filesystem::path file_;
  UserRange range_;
  std::map<std::string, std::int64_t, std::less<>> users_;  // by namespace
  std::map<std::int64_t, std::string> namespaces_;          // the other way around
};

/// Held as long as this host gives these users away: a lock in `folder`, which all hosts of the
/// machine share. Nothing: another host does, and jobs of both can end and read each other.
std::optional<Fd> claim_users(const std::filesystem::path& folder, const UserRange& range);

/// Why this process cannot start others as these users; empty: it can. Starts one to see.
std::string why_no_other_user(const UserRange& range);

}  // namespace sluice::host
