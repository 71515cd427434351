// MediaRange: one entry of an Accept header, with its parameters. Pure functions on untrusted text,
// any thread.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace sluice::host {

/// Views into the header that was parsed.
struct MediaRange {
  std::string_view type;
  std::vector<std::pair<std::string_view, std::string_view>> parameters;

  /// Empty when absent.
  std::string_view parameter(std::string_view name) const;
  /// Is `media` (`application/json`) meant, by name or by a wildcard?
  bool covers(std::string_view media) const;
};

/// The entries in their order (q values are not looked at, no client of the API sends them). An
/// empty header accepts everything. Entries beyond the 32nd are ignored.
std::vector<MediaRange> parse_accept(std::string_view header);

}  // namespace sluice::host
