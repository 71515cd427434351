#include "host/base/trusted_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace sluice::host {

Result<void> check_writers(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  if ((info.st_mode & S_IWOTH) != 0)
    return Error{path + ": everybody may write to it, so it is not believed; chmod o-w " + path};
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (::stat(folder.c_str(), &info) != 0) return {};
  if ((info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0)
    return Error{path +
                 ": everybody may put another file in its place, so it is not believed; "
                 "chmod o-w " +
                 folder};
  return {};
}

std::optional<std::string> doubt_about(const std::string& path, bool secret) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return "it belongs to user " + std::to_string(info.st_uid) + ", who may change it";
  if (secret && (info.st_mode & S_IROTH) != 0) return "everybody can read it";
  return std::nullopt;
}

}  // namespace sluice::host
