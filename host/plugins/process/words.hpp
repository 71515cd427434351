// The protocol's words for the numbers of the C interface, in their order, and members of a message
// as the C interface takes them. Both sides of a process use them.
//
// Constants and pure functions; any thread. A text that is given out lives as long as the message.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "api/json/json.hpp"
#include "host/plugins/text_gate.hpp"
#include "sluice/abi.h"

namespace sluice::host {

/// SLUICE_WRITE_*
inline constexpr std::string_view kOperationWords[] = {"Create", "Update", "Delete"};
/// SLUICE_FIELD_*
inline constexpr std::string_view kFieldErrorWords[] = {"Invalid", "Required", "Forbidden",
                                                        "NotSupported", "Duplicate"};
/// SLUICE_EVENT_*
inline constexpr std::string_view kEventWords[] = {
    "Reserved",        "Preempting", "WaitingForVictims", "Admitted",
    "ReservationLost", "Evicted",    "Deactivated",       "Finished"};
/// SLUICE_OBJECTS_*
inline constexpr std::string_view kObjectWords[] = {
    "OK", "NotFound", "AlreadyExists", "Conflict", "Invalid", "Forbidden", "NotNow", "Failed"};

/// The word for a number; the last one for a number that has none.
template <std::size_t N>
constexpr std::string_view word_of(std::int32_t number, const std::string_view (&words)[N]) {
  const bool known = number >= 0 && number < static_cast<std::int32_t>(N);
  return words[known ? static_cast<std::size_t>(number) : N - 1];
}

/// The number of a word; `otherwise` for one that is not there.
template <std::size_t N>
constexpr std::int32_t number_of(std::string_view word, const std::string_view (&words)[N],
                                 std::int32_t otherwise) {
  for (std::size_t i = 0; i < N; ++i)
    if (words[i] == word) return static_cast<std::int32_t>(i);
  return otherwise;
}

inline sluice_str_t text_in(const boost::json::object& message, std::string_view key) {
  return abi_of(api::find_text(message, key));
}

/// A member that is an object or a list, as compact JSON; empty without one.
inline std::string document_in(const boost::json::object& message, std::string_view key) {
  const boost::json::value* value = api::find(message, key);
  return value == nullptr || value->is_null() ? std::string() : api::to_json(*value);
}

}  // namespace sluice::host
