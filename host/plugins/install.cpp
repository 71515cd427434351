#include "host/plugins/install.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "host/base/files.hpp"
#include "host/base/trusted_file.hpp"
#include "host/plugins/extensions.hpp"
#include "host/plugins/signature.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace fs = std::filesystem;

namespace {

/// A file beside `path` that takes its name in the end. Until then it is called so that nobody
/// takes it for a plugin, and it goes with this object; one of an install that was killed is
/// overwritten.
class FreshFile {
 public:
  explicit FreshFile(fs::path path)
      : path_(std::move(path)),
        own_(path_.parent_path() / ("." + path_.filename().string() + ".new")) {}
  ~FreshFile() {
    if (there_) ::unlink(own_.c_str());
  }
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;

  /// On the disk when this returns.
  Result<void> write(std::string_view bytes) {
    ::unlink(own_.c_str());
    const Fd file(::open(own_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) return system_error(own_);
    there_ = true;
    if (!write_all(file.get(), bytes)) return system_error(own_);
    if (::fchmod(file.get(), 0644) != 0 || ::fsync(file.get()) != 0) return system_error(own_);
    return check_writers(own_.string());
  }
  Result<void> take_name() {
    if (::rename(own_.c_str(), path_.c_str()) != 0) return system_error(path_);
    there_ = false;
    return {};
  }

 private:
  fs::path path_, own_;
  bool there_ = false;
};

/// What is in the place of the new file.
struct Present {
  bool there = false;
  std::string version, sha256;  ///< empty: it is no plugin
  std::string signatures;
};

Result<Present> look(const fs::path& path) {
  Present out;
  std::error_code error;
  out.there = fs::exists(fs::symlink_status(path, error));
  auto signatures = read_signatures(path);
  if (!signatures) return signatures.error();
  out.signatures = std::move(*signatures);
  if (!out.there) return out;
  if (const auto file = read_plugin_file(path); file) {
    out.version = file->metadata.version;
    out.sha256 = file->sha256;
  }
  return out;
}

Result<void> check_newer(const PluginFile& file, const Present& present, const fs::path& path) {
  if (!present.there || present.sha256 == file.sha256) return {};
  if (present.sha256.empty())
    return Error{path.string() +
                 ": what is there is no plugin; --replace puts this one in its place"};
  if (compare_versions(file.metadata.version, present.version) > 0) return {};
  return Error{
      fmt::format("{}: version {} is there, and {} is not newer; --replace puts it in its place",
                  path.string(), present.version, file.metadata.version)};
}

/// The number that a text begins with, which is taken off; none: -1.
long take_number(std::string_view& text) {
  long out = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || out < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with('.')) text.remove_prefix(1);
  return out;
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  for (;;) {
    const long left = take_number(a);
    const long right = take_number(b);
    if (left < 0 && right < 0) break;
    if (std::max(left, 0L) != std::max(right, 0L)) return left < right ? -1 : 1;
  }
  if (a.empty() != b.empty()) return a.empty() ? 1 : -1;  // 1.0.0 is after 1.0.0-rc
  return a.compare(b);
}

Result<void> check_candidate(const PluginFile& file) {
  if (auto fit = verify_plugin_file(file, file.metadata.name, ""); !fit) return fit;
  for (const std::string& id : file.declared.provides) {
    const auto known = extension_points();
    if (std::none_of(known.begin(), known.end(), [&](const PointInfo& p) { return p.id == id; }))
      return Error{
          fmt::format("{}: it provides {}, which this host does not know: it was built for "
                      "a newer one",
                      file.path.string(), shown_text(id))};
  }
  return {};
}

Result<void> replace_file(const fs::path& path, std::string_view text) {
  FreshFile fresh(path);
  if (auto written = fresh.write(text); !written) return written;
  if (auto named = fresh.take_name(); !named) return named;
  return sync_folder(path.parent_path());
}

Result<Placed> place_plugin(const PluginFile& file, std::string_view signatures,
                            const fs::path& folder, bool replace, const PlacingStep& before) {
  const auto step = [&](std::string_view name) { return before ? before(name) : Result<void>(); };
  const Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) return system_error(folder);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{folder.string() + ": another install works in it"};
  const fs::path path = folder / (file.metadata.name + ".so");
  const auto present = look(path);
  if (!present) return present.error();
  if (auto newer = check_newer(file, *present, path); !newer && !replace) return newer.error();
  const std::string kept = signatures_for(present->signatures, present->sha256);
  const std::string lines = signatures_for(signatures, file.sha256);

  FreshFile library(path);
  if (auto on = step("write"); !on) return on.error();
  if (auto written = library.write(file.bytes); !written) return written.error();
  // Lines for what is there stay until it is gone; without any of both there is no such file.
  const bool same = present->sha256 == file.sha256;
  const std::string both = same && lines.empty() ? kept : same ? lines : kept + lines;
  const bool signs = both != present->signatures && !both.empty();
  if (auto on = step("signature"); !on) return on.error();
  if (signs)
    if (auto written = replace_file(signature_path(path), both); !written) return written.error();
  const auto undo = [&](const Error& why) {
    if (signs && present->signatures.empty())
      ::unlink(signature_path(path).c_str());
    else if (signs)
      static_cast<void>(replace_file(signature_path(path), present->signatures));
    return why;
  };
  if (auto on = step("rename"); !on) return undo(on.error());
  if (auto named = library.take_name(); !named) return undo(named.error());
  if (auto synced = sync_folder(folder); !synced) return synced.error();
  return Placed{path, present->version, same};
}

}  // namespace sluice::host
