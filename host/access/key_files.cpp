#include "host/access/key_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "host/access/secrets.hpp"
#include "host/base/files.hpp"
#include "host/base/log.hpp"

namespace sluice::host {
namespace {

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

void tighten(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & 077) == 0) return;
  if (::chmod(path.c_str(), 0600) == 0)
    log(LogLevel::kWarning, "access", "a file with a secret was readable by others; now it is not",
        {{"path", path}});
}

Result<CertifiedKey> read_both(const std::string& certificate, const std::string& key) {
  auto first = read_small_file(certificate);
  if (!first) return first.error();
  auto second = read_small_file(key);
  if (!second) return second.error();
  return CertifiedKey{std::move(*first), std::move(*second)};
}

Result<bool> fit(const CertifiedKey& pair, const std::string& certificate, const std::string& key) {
  auto together = belong_together(pair);
  if (!together) return together.error().context(certificate + " and " + key);
  return together;
}

Error not_together(const std::string& certificate, const std::string& key) {
  return Error{key + " is not the key of the certificate in " + certificate};
}

bool are_there_and_fit(const std::string& certificate, const std::string& key) {
  return is_there(certificate) && is_there(key) && read_pair(certificate, key).ok();
}

/// The second rename of a write_pair() that was interrupted before it. A power cut can undo the
/// first one alone, so either file may be the one that is missing.
Result<void> finish_write(const std::string& path) {
  const std::string certificate = path + ".crt", key = path + ".key";
  if (are_there_and_fit(certificate, key)) return {};
  const std::string* late = are_there_and_fit(certificate + ".new", key)   ? &certificate
                            : are_there_and_fit(certificate, key + ".new") ? &key
                                                                           : nullptr;
  if (late == nullptr) return {};
  if (auto placed = put_in_place(*late); !placed) return placed;
  log(LogLevel::kWarning, "access", "a pair was written by half; its other half was there, too",
      {{"path", *late}});
  return sync_folder(std::filesystem::path(path).parent_path());
}

}  // namespace

Result<CertifiedKey> read_pair(const std::string& certificate, const std::string& key) {
  auto pair = read_both(certificate, key);
  if (!pair) return pair.error();
  const auto together = fit(*pair, certificate, key);
  if (!together) return together.error();
  if (!*together) return not_together(certificate, key);
  return pair;
}

Result<void> write_pair(const CertifiedKey& pair, const std::string& path) {
  const std::filesystem::path certificate = path + ".crt", key = path + ".key";
  if (auto done = write_beside(key, pair.key); !done) return done;
  if (auto done = write_beside(certificate, pair.certificate); !done) return done;
  // Both are on the disk by name, too, before one of them takes the other's place.
  if (auto done = sync_folder(key.parent_path()); !done) return done;
  if (auto done = put_in_place(key); !done) return done;
  if (auto done = put_in_place(certificate); !done) return done;
  return sync_folder(key.parent_path());
}

Result<std::optional<CertifiedKey>> kept_pair(const std::string& path, Torn torn) {
  const std::string certificate = path + ".crt", key = path + ".key";
  if (auto finished = finish_write(path); !finished) return finished.error();
  if (!is_there(certificate) || !is_there(key)) return std::optional<CertifiedKey>();
  tighten(key);
  auto pair = read_both(certificate, key);
  if (!pair) return pair.error();
  const auto together = fit(*pair, certificate, key);
  if (!together) return together.error();
  if (*together) return std::optional<CertifiedKey>(std::move(*pair));
  if (torn == Torn::kIsAnError) return not_together(certificate, key);
  return std::optional<CertifiedKey>();
}

}  // namespace sluice::host
