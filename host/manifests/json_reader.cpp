// JSON into values. The library's own parser is driven by hand, so that several values may follow
// each other, positions of errors are known, and repeated keys are noticed.
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <limits>

#include "host/manifests/reader.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

/// Builds the value, and counts the members that the text has.
struct Builder {
  static constexpr std::size_t max_object_size = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::uint32_t>::max();

  json::value_stack stack;
  std::size_t members = 0;

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_object_end(std::size_t n, json::error_code&) {
    members += n;
    stack.push_object(n);
    return true;
  }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t n, json::error_code&) {
    stack.push_array(n);
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    stack.push_chars(part);
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    stack.push_key(part);
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    stack.push_chars(part);
    return true;
  }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    stack.push_string(part);
    return true;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, json::error_code&) {
    stack.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, json::string_view, json::error_code&) {
    stack.push_uint64(number);
    return true;
  }
  bool on_double(double number, json::string_view text, json::error_code& refused) {
    // The library's own conversion may miss the nearest value (0.3 is read as 0.30000000000000004),
    // which would show in a quantity that is written as a number.
    double exact = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, exact);
    if (error == std::errc() && stop == end) number = exact;
    if (!std::isfinite(number)) {
      refused = json::error::exponent_overflow;
      return false;
    }
    stack.push_double(number);
    return true;
  }
  bool on_bool(bool flag, json::error_code&) {
    stack.push_bool(flag);
    return true;
  }
  bool on_null(json::error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

std::size_t count_members(const json::value& value) {
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

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

Result<void> read_json(std::string_view text, const std::string& name, const ManifestLimits& limits,
                       const json::storage_ptr& storage, const ValueSink& sink) {
  json::parse_options options;
  options.max_depth = limits.max_depth;
  std::size_t at = 0;
  const auto skip_blanks = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
  };
  skip_blanks();
  if (at == text.size()) return Error{name + ": the file is empty"};
  json::basic_parser<Builder> parser(options);
  for (std::size_t index = 0; at < text.size(); ++index) {
    parser.reset();
    parser.handler().stack.reset(storage);
    parser.handler().members = 0;
    json::error_code error;
    const std::size_t used = parser.write_some(false, text.data() + at, text.size() - at, error);
    if (error) {
      std::string what = error.message();
      if (error == json::error::too_deep) {
        what = "nested deeper than " + std::to_string(limits.max_depth) + " levels";
      } else if (error == json::error::incomplete) {
        what = "the text ends inside a value";
      }
      return Error{place_text(name, position_at(text, at + used)) + ": not valid JSON: " + what};
    }
    at += used;
    json::value value = parser.handler().stack.release();
    if (parser.handler().members != count_members(value)) {
      const auto found = find_duplicate_key(text);
      if (!found) return Error{name + ": an object has the same key twice"};
      return Error{place_text(name, found->first) + ": duplicate key \"" + found->second + "\""};
    }
    if (auto taken = sink(std::move(value), index); !taken) return taken;
    skip_blanks();
  }
  return {};
}

}  // namespace sluice::host
