// Lines for people who read a terminal: tables, and spans of time.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::host {

/// Lines of which no column is wider than its widest cell; nothing after the last one.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

/// `5m3s`: from the largest unit that there is, at most so many of d, h, m, s; those that are 0 are
/// left out. `0s` of nothing and below.
std::string span_text(std::int64_t seconds, int most_units);

}  // namespace sluice::host
