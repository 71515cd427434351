// What an API server's answers hold: a page of a list, an event of a watch, a Status.
//
// Pure functions, any thread. What comes from the line is not trusted: whatever is no such answer
// is an error with a sentence.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/kube/reflector.hpp"

namespace sluice::host {

struct ListPage {
  std::string version;         ///< metadata.resourceVersion of the list
  std::string continue_token;  ///< empty: it is the last page
  boost::json::array items;    ///< objects, without apiVersion and kind
};

/// A resourceVersion; those of an API server are numbers that grow with each write of any object.
/// 0: it is none.
std::uint64_t version_number(std::string_view version);

Result<ListPage> parse_page(std::string_view body);

struct WatchEvent {
  enum class Type : std::uint8_t { kChanged, kDeleted, kBookmark, kError };
  Type type = Type::kChanged;
  std::string version;         ///< metadata.resourceVersion of the object
  boost::json::object object;  ///< kError: a Status
};

Result<WatchEvent> parse_event(std::string_view line);

/// How a request ended that was answered with this status (or with an ERROR event of this code).
/// `retry_after`: the header's text, or empty. `said`: the Status object, where there is one: a
/// server that went back in time, to a backup, knows nothing of versions that it gave out after it,
/// and what it has is to be listed anew.
Ended ending_of(int status, std::string_view retry_after,
                const boost::json::object* said = nullptr);

/// What a Status object says; else a sentence with the number.
std::string message_of(int status, std::string_view body);

}  // namespace sluice::host
