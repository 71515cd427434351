// ProcessId: a process that cannot be mistaken for a later one with the same number.
//
// A number alone is reused; number, start time (clock ticks since boot) and boot together are not.
// Pure look-ups in /proc, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/base/files.hpp"

namespace sluice::host {

struct ProcessId {
  std::int64_t pid = 0;
  std::int64_t start_ticks = 0;
  std::string boot;
  bool operator==(const ProcessId&) const = default;
};

/// Of the calling process.
ProcessId this_process();

/// nullopt when there is no process of this number, or it has ended (a zombie).
std::optional<ProcessId> process_with(std::int64_t pid);

std::string to_text(const ProcessId& process);
Result<ProcessId> parse_process_id(std::string_view text);

/// A descriptor that is readable once the process ended; nothing when it is not running any more.
std::optional<Fd> watch_process(const ProcessId& process);

}  // namespace sluice::host
