// Log: one structured line per event of the host, as text for people or JSON for machines, on
// standard error.
//
//   log(LogLevel::kWarning, "store", "the disk is full", {{"path", path}});
//
// Lines are complete and never interleave. May be called from any thread; the settings are made
// once at start and again on a reload.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::host {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

using LogFields = std::initializer_list<std::pair<std::string_view, std::string>>;

void set_log(LogFormat format, LogLevel least);

/// `part` names the part of the host: store, api, audit, scheduler, executor, plugin NAME, … Of a
/// plugin no more lines are written than its LineBudget allows.
void log(LogLevel level, std::string_view part, std::string_view message, LogFields fields = {});

/// A line that stays below those of the log on a terminal until another one takes its place; empty:
/// none. REQUIRES: standard error is a terminal, and the line is no wider. Any thread.
void show_below_log(std::string_view line);

/// Writes a text, with its line breaks, to standard error: above such a line.
void write_above_it(std::string_view text);

/// While it lives, the lines of this thread (warnings and errors aside) are kept, and then written
/// at once: where many come together, such as the audit lines of a transaction. Not nested.
class LogBatch {
 public:
  LogBatch();
  ~LogBatch();
  LogBatch(const LogBatch&) = delete;
  LogBatch& operator=(const LogBatch&) = delete;
};

}  // namespace sluice::host
