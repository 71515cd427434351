#include "host/base/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace sluice::host {
namespace {

/// Writes and syncs what `fd` is open on.
Result<void> fill(const Fd& fd, const std::filesystem::path& path, std::string_view text) {
  if (!write_all(fd.get(), text)) return system_error("cannot write", path);
  if (::fsync(fd.get()) != 0) return system_error("cannot sync", path);
  return {};
}

}  // namespace

Error system_error(std::string_view what, const std::filesystem::path& path) {
  const int reason = errno;
  return system_error(std::string(what) + " " + path.string(), reason);
}

Error system_error(const std::string& subject, int reason) {
  return Error{subject + ": " + std::generic_category().message(reason)};
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const char* const path = folder.empty() ? "." : folder.c_str();
  const Fd fd(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return system_error("cannot sync the folder", path);
  return {};
}

Result<void> write_beside(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path beside = path;
  beside += ".new";
  ::unlink(beside.c_str());  // of a run that was killed
  const Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return system_error("cannot create", beside);
  return fill(fd, beside, text);
}

Result<void> put_in_place(const std::filesystem::path& path) {
  std::filesystem::path beside = path;
  beside += ".new";
  if (::rename(beside.c_str(), path.c_str()) != 0) return system_error("cannot replace", path);
  return {};
}

Result<void> write_durably(const std::filesystem::path& path, std::string_view text) {
  if (auto written = write_beside(path, text); !written) return written;
  if (auto placed = put_in_place(path); !placed) return placed;
  return sync_folder(path.parent_path());
}

Result<bool> create_durably(const std::filesystem::path& path, std::string_view text) {
  // Made beside, then linked: a reader that finds the file finds all of it.
  std::filesystem::path beside = path;
  beside += ".by-" + std::to_string(::getpid());
  {
    const Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd) return system_error("cannot create", beside);
    const Result<void> filled = fill(fd, beside, text);
    if (!filled) return filled.error();
  }
  const bool linked = ::link(beside.c_str(), path.c_str()) == 0;
  const bool exists = !linked && errno == EEXIST;
  if (!linked && !exists) return system_error("cannot create", path);
  ::unlink(beside.c_str());
  if (exists) return false;
  const Result<void> synced = sync_folder(path.parent_path());
  if (!synced) return synced.error();
  return true;
}

Result<bool> create_folder_durably(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno == EEXIST) return false;
    return system_error("cannot create the folder", path);
  }
  const Result<void> synced = sync_folder(path.parent_path());
  if (!synced) return synced.error();
  return true;
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

Result<std::filesystem::path> temporary_folder() {
  std::error_code problem;
  std::filesystem::path folder = std::filesystem::temp_directory_path(problem);
  if (!problem) return folder;
  const char* named = std::getenv("TMPDIR");
  return Error{std::string(named != nullptr ? named : "/tmp") +
               ": cannot be used for temporary files: " + problem.message() +
               "; TMPDIR may name another folder"};
}

Result<Fd> in_memory(std::string_view text) {
  Fd out(::memfd_create("sluice", MFD_CLOEXEC));
  if (!out || !write_all(out.get(), text)) return system_error("cannot write", "a file in memory");
  return out;
}

}  // namespace sluice::host
