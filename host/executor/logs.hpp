// LogSource and LogReader: the output of containers, as `kubectl logs` asks for it.
//
// A reader never blocks and holds no thread: a caller that follows calls read() again a while after
// it answered kWait (the file only grows). LogSource::open() may be called from any thread; a
// reader belongs to one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.hpp"
#include "host/objects/api_error.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

/// The parameters of GET …/pods/NAME/log.
struct LogQuery {
  std::string container;  ///< empty: the only one
  bool follow = false;
  bool previous = false;    ///< of the run before the last restart
  bool timestamps = false;  ///< each line starts with its time
  std::optional<Time> since;
  std::optional<std::int64_t> tail_lines;
  std::optional<std::int64_t> limit_bytes;
};

class LogReader {
 public:
  virtual ~LogReader() = default;
  enum class Progress : std::uint8_t {
    kMore,  ///< there is more now
    kWait,  ///< nothing more yet; only when following
    kEnd,   ///< nothing will come any more
  };
  /// Appends whole lines until at least `most` bytes were appended or there is no more.
  virtual Progress read(std::string& out, std::size_t most) = 0;
};

class LogSource {
 public:
  virtual ~LogSource() = default;
  /// `pod`: namespace/name. 404: no such pod; 400: no such container, several of them and none was
  /// named, it has not started, or there was no run before.
  virtual ApiResult<std::unique_ptr<LogReader>> open(const std::string& pod,
                                                     const LogQuery& query) const = 0;
};

/// The source over the executor's folder (process/run_record.hpp) and the published pods.
class FileLogs final : public LogSource {
 public:
  /// `store` must outlive it.
  FileLogs(std::filesystem::path root, const LiveStore& store, const api::Scheme& scheme)
      : root_(std::move(root)), store_(store), scheme_(scheme) {}

  ApiResult<std::unique_ptr<LogReader>> open(const std::string& pod,
                                             const LogQuery& query) const override;

 private:
  std::filesystem::path root_;
  const LiveStore& store_;
  const api::Scheme& scheme_;
};

/// Reads one run of a container from its file. For FileLogs, and tests.
std::unique_ptr<LogReader> open_log_file(const std::filesystem::path& root, std::string_view uid,
                                         std::string_view container, std::int64_t start,
                                         const LogQuery& query);

}  // namespace sluice::host
