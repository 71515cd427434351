// ListOptions: the parameters of lists, watches and deletions of many; and the token by which a
// client asks for the next page. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/apiserver/exchange.hpp"
#include "host/apiserver/route.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {

/// Where a page begins: after this key, as of this version.
struct PageStart {
  std::uint64_t version = 0;
  std::string after;
};

std::string page_token(const PageStart& start);
/// nullopt: it is no token of ours.
std::optional<PageStart> read_page_token(std::string_view token);

struct ListOptions {
  enum class Match : std::uint8_t { kUnset, kExact, kNotOlderThan };
  Selector selector;
  /// nullopt: not given. 0: any version.
  std::optional<std::uint64_t> version;
  Match match = Match::kUnset;
  std::size_t limit = 0;  ///< 0: all
  std::optional<PageStart> start;
  bool bookmarks = false;
  bool initial_events = false;        ///< sendInitialEvents=true
  bool initial_events_given = false;  ///< with either value
  std::optional<std::int64_t> timeout_seconds;
};

/// 400 for values that cannot be read, 422 for combinations that mean nothing.
ApiResult<ListOptions> read_list_options(const Request& request, const Route& route);

/// 504: the client knows of a version that is not here yet.
ApiError too_new(std::uint64_t wanted, std::uint64_t current);
/// 410: the version is no longer in the history.
ApiError expired(std::string text);

}  // namespace sluice::host
