#include "host/manifests/yaml_text.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/text.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

// Plain only where no YAML reader, of 1.1 or 1.2, could take it for anything but this text.
bool is_plain(std::string_view text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text.front())) == 0) return false;
  const bool safe = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
  });
  if (!safe) return false;
  const std::string lower = lower_ascii(text);
  for (const std::string_view word : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
    if (lower == word) return false;
  return true;
}

/// A JSON text is a YAML text, but for what YAML 1.1 takes for the end of a line.
void append_quoted(std::string_view text, std::string& out) {
  std::string quoted;
  api::append_json_text(text, quoted);
  for (const auto& [character, escape] :
       {std::pair{"\u0085", "\\u0085"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}})
    for (std::size_t at = 0; (at = quoted.find(character, at)) != std::string::npos;)
      quoted.replace(at, std::string_view(character).size(), escape);
  out += quoted;
}

void append_text(std::string_view text, std::string& out) {
  if (is_plain(text)) {
    out += text;
  } else {
    append_quoted(text, out);
  }
}

void append_scalar(const json::value& value, std::string& out) {
  if (const auto* text = value.if_string()) {
    append_text(api::view(*text), out);
  } else {
    api::append_json(value, out);  // numbers, booleans, null, and empty maps and lists
  }
}

/// Several lines that stand as they are in a block of their own: nothing is escaped in there, and
/// what blanks at the ends of such a text mean is a science.
bool is_lines(std::string_view text) {
  if (text.size() < 2 || text.back() != '\n' || text[text.size() - 2] == '\n') return false;
  if (text.front() == ' ' || text.front() == '\n') return false;
  if (std::count(text.begin(), text.end(), '\n') < 2) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

void append_lines(std::string_view text, std::size_t indent, std::string& out) {
  out += " |\n";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!line.empty()) out.append(indent, ' ').append(line);
    out += '\n';
    text.remove_prefix(line.size() + 1);
  }
}

bool is_block(const json::value& value) {
  const auto* object = value.if_object();
  const auto* array = value.if_array();
  return (object && !object->empty()) || (array && !array->empty());
}

void append_block(const json::value& value, std::size_t indent, bool inline_first,
                  std::string& out);

void append_entry(const json::value& value, std::size_t indent, std::string& out) {
  if (const auto* text = value.if_string(); text != nullptr && is_lines(api::view(*text)))
    return append_lines(api::view(*text), indent + 2, out);
  if (!is_block(value)) {
    out += ' ';
    append_scalar(value, out);
    out += '\n';
    return;
  }
  out += '\n';
  append_block(value, value.is_array() ? indent : indent + 2, false, out);
}

/// `inline_first`: the first line goes on behind a `- `.
void append_block(const json::value& value, std::size_t indent, bool inline_first,
                  std::string& out) {
  const auto begin_line = [&] {
    if (!inline_first) out.append(indent, ' ');
    inline_first = false;
  };
  if (const auto* object = value.if_object()) {
    for (const auto& entry : *object) {
      begin_line();
      append_text(api::view(entry.key()), out);
      out += ':';
      append_entry(entry.value(), indent, out);
    }
    return;
  }
  for (const auto& item : value.get_array()) {
    begin_line();
    out += '-';
    if (is_block(item)) {
      out += ' ';
      append_block(item, indent + 2, true, out);
    } else {
      append_entry(item, indent, out);
    }
  }
}

}  // namespace

void append_yaml(const json::value& value, std::string& out) {
  if (is_block(value)) {
    append_block(value, 0, false, out);
  } else {
    append_scalar(value, out);
    out += '\n';
  }
}

}  // namespace sluice::host
