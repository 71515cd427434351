#include "host/executor/process/linked_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "host/base/files.hpp"

namespace sluice::host {

namespace fs = std::filesystem;

Result<void> link_folder(const fs::path& link, const fs::path& target, const FolderOwner& owner) {
  std::error_code problem;
  if (fs::exists(fs::symlink_status(link, problem))) return {};
  fs::create_directories(target, problem);
  if (problem)
    return Error{"cannot create the folder " + target.string() + ": " + problem.message()};
  fs::permissions(target, fs::perms::owner_all, problem);
  if (owner.user != 0 && ::lchown(target.c_str(), static_cast<uid_t>(owner.user),
                                  static_cast<gid_t>(owner.group)) != 0)
    return system_error("cannot give away", target);
  fs::create_directory_symlink(target, link, problem);
  if (problem) return Error{"cannot link " + link.string() + ": " + problem.message()};
  return {};
}

std::optional<fs::path> linked_folder(const fs::path& link, const std::string& name) {
  std::error_code problem;
  if (!fs::is_symlink(fs::symlink_status(link, problem))) return std::nullopt;
  fs::path target = fs::read_symlink(link, problem);
  if (problem || target.filename() != name) return std::nullopt;
  return target;
}

Result<void> drop_link(const fs::path& link) {
  std::error_code problem;
  if (!fs::is_symlink(fs::symlink_status(link, problem))) return {};
  fs::remove(link, problem);
  if (problem) return Error{"cannot remove the link " + link.string() + ": " + problem.message()};
  return {};
}

Result<void> make_open_folders(const fs::path& folder) {
  fs::path made;
  for (const fs::path& part : folder) {
    made /= part;
    if (::mkdir(made.c_str(), 0711) == 0) {
      // Whatever the umask.
      if (::chmod(made.c_str(), 0711) != 0) return system_error("cannot open to all", made);
    } else if (errno != EEXIST) {
      return system_error("cannot create the folder", made);
    }
  }
  return {};
}

Result<std::string> identity_of(const fs::path& folder) {
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) return system_error("cannot look at", folder);
  char name[40];
  std::snprintf(name, sizeof name, "%llx-%llx", static_cast<unsigned long long>(found.st_dev),
                static_cast<unsigned long long>(found.st_ino));
  return std::string(name);
}

}  // namespace sluice::host
