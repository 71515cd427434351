// Fuzzing input as JSON: the parser as the host uses it, so that what it refuses is not looked at.
// Only for fuzzers; single-threaded.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

/// nullopt when the bytes are not one JSON object.
inline std::optional<boost::json::object> json_input(const std::uint8_t* data, std::size_t size) {
  boost::json::error_code error;
  boost::json::value value = boost::json::parse({reinterpret_cast<const char*>(data), size}, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}
