// Durable files: what has to survive a crash of the host, or of the machine, is written here.
//
// A file is either replaced as a whole (written beside, synced, renamed, folder synced) or created
// exactly once. Pure system calls, any thread; errors name the path and the system's reason.
#pragma once

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/base/fd.hpp"

namespace sluice::host {

/// `what PATH: reason` for the present errno.
Error system_error(std::string_view what, const std::filesystem::path& path);
/// `subject: reason` for this errno: of a path, or of what could not be done.
Error system_error(const std::string& subject, int reason = errno);

/// Whether all of it was written; else errno says why not.
bool write_all(int fd, std::string_view text);

/// What was made, renamed or removed in the folder survives a power failure. Empty: the present
/// one.
Result<void> sync_folder(const std::filesystem::path& folder);

/// Replaces the file by one that only this user may read. A reader finds the old content or the new
/// one, never a part; when it returns without error, the new one survives a power failure.
Result<void> write_durably(const std::filesystem::path& path, std::string_view text);

/// The first half of write_durably(): the content stands, durably, in PATH.new. For several files
/// that are to be replaced together.
Result<void> write_beside(const std::filesystem::path& path, std::string_view text);
/// The second half, but for sync_folder(): PATH.new becomes PATH.
Result<void> put_in_place(const std::filesystem::path& path);

/// Creates the file with this content, durably. False: there is one already, nothing was written.
Result<bool> create_durably(const std::filesystem::path& path, std::string_view text);

/// Creates the folder, durably. False: there is one already.
Result<bool> create_folder_durably(const std::filesystem::path& path);

/// nullopt when it does not exist or cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

/// The folder for what may be gone with the process: TMPDIR, or /tmp.
Result<std::filesystem::path> temporary_folder();

/// A file that is nowhere on a disk, with this content.
Result<Fd> in_memory(std::string_view text);

}  // namespace sluice::host
