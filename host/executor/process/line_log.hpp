// LineLog: a container's output on disk, one line of the file per line of output:
//
//   2026-01-01T00:00:00.123456789Z stdout F the text
//
// The stamp is when the runner read the end of the line. `P` instead of `F` marks a part that did
// not end in a newline: of a line beyond kMaxLine, or the last one. Nothing that fails here (a full
// disk) may hold up or end the process that writes: such lines are lost and counted.
//
// One owner, one thread. parse_log_line() is pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.hpp"
#include "host/executor/process/files.hpp"

namespace sluice::host {

class LineLog {
 public:
  static constexpr std::size_t kMaxLine = 16 * 1024;
  enum class Stream : std::uint8_t { kOut, kErr };

  /// Appends to the file, which is created with its folders.
  explicit LineLog(const std::filesystem::path& path);

  void write(Stream stream, std::string_view bytes, Time now);
  /// Writes what is left of a line without an end.
  void finish(Stream stream, Time now);
  std::uint64_t lost() const { return lost_; }

 private:
  void put(Stream stream, std::string_view text, bool whole, Time now);
  void flush();

  Fd file_;
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
