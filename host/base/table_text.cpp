#include "host/base/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice::host {

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format(" {:<{}} ", row[i], widths[i]);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string span_text(std::int64_t seconds, int most_units) {
  seconds = std::max<std::int64_t>(0, seconds);
  const std::pair<std::int64_t, char> units[] = {{seconds / 86400, 'd'},
                                                 {seconds / 3600 % 24, 'h'},
                                                 {seconds / 60 % 60, 'm'},
                                                 {seconds % 60, 's'}};
  std::string out;
  int passed = 0;
  for (const auto& [value, unit] : units) {
    if (passed == 0 && value == 0) continue;
    if (passed++ == most_units) break;
    if (value > 0) out += fmt::format("{}{}", value, unit);
  }
  return out.empty() ? "0s" : out;
}

}  // namespace sluice::host
