// LineLog: a container's output on disk, one line of the file per line of output:
//
//   2026-01-01T00:00:00.123456789Z stdout F the text
//
// The stamp is when the runner read the end of the line. `P` instead of `F` marks a part that did
// not end in a newline: of a line beyond kMaxLine, or the last one.
//
// A log has a budget: when the file has half of it, it becomes FILE.1, in the place of the one
// before, and a new one begins, so the latest output is what is kept. While there is no room, on
// the disk or by the mark that the host sets when all logs together have too much, output is
// dropped, and the first line after it says how much. Nothing of this may hold up or end the
// process that writes.
//
// One owner, one thread. parse_log_line() is pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.hpp"
#include "host/base/files.hpp"

namespace sluice::host {

struct LogLimits {
  std::int64_t bytes = 0;      ///< of this log, FILE.1 included; 0: any
  std::int64_t keep_free = 0;  ///< bytes of the disk that are not for logs
  std::filesystem::path full;  ///< while this file exists nothing is written; empty: always
};

class LineLog {
 public:
  static constexpr std::size_t kMaxLine = 16 * 1024;
  enum class Stream : std::uint8_t { kOut, kErr };

  /// Appends to the file, which is created with its folders.
  explicit LineLog(const std::filesystem::path& path, LogLimits limits = {});
  /// Where the part before the present one is.
  static std::filesystem::path earlier(const std::filesystem::path& path);

  void write(Stream stream, std::string_view bytes, Time now);
  /// Writes what is left of a line without an end.
  void finish(Stream stream, Time now);
  /// Bytes that were dropped.
  std::uint64_t lost() const { return lost_; }

 private:
  void put(Stream stream, std::string_view text, bool whole, Time now);
  void flush(Time now);
  bool has_room();
  void open();
  void rotate();

  const std::filesystem::path path_;
  const LogLimits limits_;
  Fd file_;
  std::int64_t size_ = 0;       // of the file
  std::int64_t unchecked_ = 0;  // bytes until the next look for room
  bool room_ = true;
  std::uint64_t told_ = 0;  // of lost_: there is a line about it
  std::string partial_[2];
  std::string out_;  // of this call
  std::uint64_t lost_ = 0;
};

struct LogLine {
  std::string_view stamp;
  Time time = 0;
  bool whole = true;
  std::string_view text;
};

/// `line` without its newline; nullopt when it is not of this form.
std::optional<LogLine> parse_log_line(std::string_view line);

/// RFC 3339 with all nine digits, so that stamps compare as texts.
std::string log_stamp(Time time);

}  // namespace sluice::host
