// Folders of a pod that lie elsewhere: its output where the disk for logs is, its working directory
// where the user of its processes may enter. A link in the pod's folder leads there. Functions of
// the files; any thread, one pod at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace sluice::host {

struct FolderOwner {
  std::int64_t user = 0, group = 0;  ///< 0: this process
};

/// Makes `link` lead to `target`, a folder that only `owner` may enter. What is there already
/// stays.
Result<void> link_folder(const std::filesystem::path& link, const std::filesystem::path& target,
                         const FolderOwner& owner = {});
/// What `link` leads to, if that has this name, as the folders have that link_folder() makes; where
/// it runs as the host's user, a pod may write beside it.
std::optional<std::filesystem::path> linked_folder(const std::filesystem::path& link,
                                                   const std::string& name);

/// Removes the link, if it is one, and leaves what it leads to.
Result<void> drop_link(const std::filesystem::path& link);

/// Makes the folder, and those above it that are not there, so that everybody may go through them
/// and nobody else may look.
Result<void> make_open_folders(const std::filesystem::path& folder);

/// What tells a folder from every other of this machine, whatever its path means: a name for what
/// is kept of it elsewhere.
Result<std::string> identity_of(const std::filesystem::path& folder);

}  // namespace sluice::host
