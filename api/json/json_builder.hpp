// JsonBuilder: the handler under which the JSON library's parser builds a value, counting the
// members that the text has (repeated keys show as a difference) and reading numbers exactly.
//
// For .cpp files only: it brings the parser's implementation. One parser at a time.
#pragma once

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sluice::api {

/// Builds the value, and counts the members that the text has.
struct JsonBuilder {
  static constexpr std::size_t max_object_size = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::uint32_t>::max();

  boost::json::value_stack stack;
  std::size_t members = 0;
  std::size_t values = 0;  ///< of lists and objects that ended
  std::size_t most_values = std::numeric_limits<std::size_t>::max();

  bool count(std::size_t n, boost::json::error_code& refused) {
    values += n;
    if (values > most_values) refused = boost::json::error::array_too_large;
    return values <= most_values;
  }

  bool on_document_begin(boost::json::error_code&) { return true; }
  bool on_document_end(boost::json::error_code&) { return true; }
  bool on_object_begin(boost::json::error_code&) { return true; }
  bool on_object_end(std::size_t n, boost::json::error_code& refused) {
    if (!count(n, refused)) return false;
    members += n;
    stack.push_object(n);
    return true;
  }
  bool on_array_begin(boost::json::error_code&) { return true; }
  bool on_array_end(std::size_t n, boost::json::error_code& refused) {
    if (!count(n, refused)) return false;
    stack.push_array(n);
    return true;
  }
  bool on_key_part(boost::json::string_view part, std::size_t, boost::json::error_code&) {
    stack.push_chars(part);
    return true;
  }
  bool on_key(boost::json::string_view part, std::size_t, boost::json::error_code&) {
    stack.push_key(part);
    return true;
  }
  bool on_string_part(boost::json::string_view part, std::size_t, boost::json::error_code&) {
    stack.push_chars(part);
    return true;
  }
  bool on_string(boost::json::string_view part, std::size_t, boost::json::error_code&) {
    stack.push_string(part);
    return true;
  }
  bool on_number_part(boost::json::string_view, boost::json::error_code&) { return true; }
  bool on_int64(std::int64_t number, boost::json::string_view, boost::json::error_code&) {
    stack.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, boost::json::string_view, boost::json::error_code&) {
    stack.push_uint64(number);
    return true;
  }
  bool on_double(double number, boost::json::string_view text, boost::json::error_code& refused) {
    // The library's own conversion may miss the nearest value (0.3 is read as 0.30000000000000004),
    // which would show in a quantity that is written as a number.
    double exact = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, exact);
    if (error == std::errc() && stop == end) number = exact;
    if (!std::isfinite(number)) {
      refused = boost::json::error::exponent_overflow;
      return false;
    }
    stack.push_double(number);
    return true;
  }
  bool on_bool(bool flag, boost::json::error_code&) {
    stack.push_bool(flag);
    return true;
  }
  bool on_null(boost::json::error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(boost::json::string_view, boost::json::error_code&) { return true; }
  bool on_comment(boost::json::string_view, boost::json::error_code&) { return true; }
};

/// Members of all objects of the value. At most as deep as the parser allowed.
inline std::size_t count_members(const boost::json::value& value) {
  std::size_t count = 0;
  if (const auto* object = value.if_object()) {
    count = object->size();
    for (const auto& member : *object) {
      if (member.value().is_structured()) count += count_members(member.value());
    }
  } else if (const auto* array = value.if_array()) {
    for (const auto& item : *array) {
      if (item.is_structured()) count += count_members(item);
    }
  }
  return count;
}

}  // namespace sluice::api
