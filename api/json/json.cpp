#include "api/json/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "api/json/json_builder.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace sluice::api {

namespace json = boost::json;

const json::value* find(const json::object& object, std::string_view key) {
  return object.if_contains(json_view(key));
}

const json::object* find_object(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr ? value->if_object() : nullptr;
}

const json::array* find_array(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr ? value->if_array() : nullptr;
}

json::object* find_object(json::object& object, std::string_view key) {
  json::value* value = object.if_contains(json_view(key));
  return value != nullptr ? value->if_object() : nullptr;
}

json::array* find_array(json::object& object, std::string_view key) {
  json::value* value = object.if_contains(json_view(key));
  return value != nullptr ? value->if_array() : nullptr;
}

std::string_view find_text(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? view(*text) : std::string_view();
}

std::optional<std::int64_t> as_int(const json::value& value) {
  if (const auto* number = value.if_int64()) return *number;
  if (const auto* number = value.if_double()) {
    if (std::trunc(*number) != *number || std::abs(*number) > 9e15) return std::nullopt;
    return static_cast<std::int64_t>(*number);
  }
  if (const auto* number = value.if_uint64()) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (*number <= kMost) return static_cast<std::int64_t>(*number);
  }
  return std::nullopt;
}

std::optional<std::int64_t> find_int(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr ? as_int(*value) : std::nullopt;
}

std::optional<std::int32_t> find_int32(const json::object& object, std::string_view key) {
  const auto value = find_int(object, key);
  if (!value) return std::nullopt;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      *value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

bool find_bool(const json::object& object, std::string_view key, bool absent) {
  const json::value* value = find(object, key);
  const bool* flag = value != nullptr ? value->if_bool() : nullptr;
  return flag != nullptr ? *flag : absent;
}

std::optional<Time> find_time(const json::object& object, std::string_view key) {
  const std::string_view text = find_text(object, key);
  return text.empty() ? std::nullopt : parse_time(text);
}

LabelMap find_labels(const json::object& object, std::string_view key) {
  const json::object* map = find_object(object, key);
  if (map == nullptr) return {};
  std::vector<LabelMap::Entry> entries;
  entries.reserve(map->size());
  for (const auto& member : *map) {
    Steps::count();
    const json::string* text = member.value().if_string();
    if (text != nullptr) entries.emplace_back(view(member.key()), view(*text));
  }
  return LabelMap(std::move(entries));
}

Result<Quantity> as_quantity(const json::value& value) {
  if (const auto* text = value.if_string()) return Quantity::parse(view(*text));
  if (const auto* number = value.if_int64()) return Quantity::of_units(*number);
  if (value.is_uint64() || value.is_double()) {
    std::string text;
    append_json(value, text);
    return Quantity::parse(text);
  }
  return Error{"must be a quantity: a text like \"100m\" or a number"};
}

Quantity quantity_or_zero(const json::value& value) {
  auto quantity = as_quantity(value);
  return quantity.ok() ? *quantity : Quantity();
}

namespace {

/// Whether one of eight bytes has to be escaped. Subtracting a bound from each byte at once sets
/// the highest bit of those below it, which counts where the byte itself did not have it; equal
/// bytes are those whose difference to the wanted one is below 1.
bool has_to_escape(std::uint64_t eight) {
  constexpr std::uint64_t kEach = 0x0101010101010101, kHighest = 0x80 * kEach;
  const auto below = [](std::uint64_t bytes, std::uint64_t bound) {
    return (bytes - bound * kEach) & ~bytes & kHighest;
  };
  return (below(eight, 0x20) | below(eight ^ ('"' * kEach), 1) |
          below(eight ^ ('\\' * kEach), 1)) != 0;
}

/// The first byte from `at` on that has to be escaped, or the end.
std::size_t first_to_escape(std::string_view text, std::size_t at) {
  for (std::uint64_t eight = 0; text.size() - at >= sizeof eight; at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if (has_to_escape(eight)) break;
  }
  for (; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x20 || c == '"' || c == '\\') break;
  }
  return at;
}

/// What is no UTF-8 came from a header or was cut by somebody: nobody could read the document
/// again.
void append_plain(std::string_view text, std::string& out) {
  if (find_bad_utf8(text) == text.npos)
    out += text;
  else
    out += clean_utf8(text);
}

}  // namespace

void append_json_text(std::string_view text, std::string& out) {
  out += '"';
  std::size_t plain = 0;
  for (std::size_t i = first_to_escape(text, 0); i < text.size();
       i = first_to_escape(text, i + 1)) {
    const auto c = static_cast<unsigned char>(text[i]);
    append_plain(text.substr(plain, i - plain), out);
    plain = i + 1;
    out += '\\';
    switch (c) {
      case '"':
      case '\\':
        out += static_cast<char>(c);
        break;
      case '\n':
        out += 'n';
        break;
      case '\r':
        out += 'r';
        break;
      case '\t':
        out += 't';
        break;
      default:
        append_hex(c, out += "u00");
    }
  }
  append_plain(text.substr(plain), out);
  out += '"';
}

namespace {

void append_scalar(const json::value& value, std::string& out) {
  std::array<char, 40> buffer;
  std::to_chars_result end{};
  switch (value.kind()) {
    case json::kind::int64:
      end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), *value.if_int64());
      break;
    case json::kind::uint64:
      end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), *value.if_uint64());
      break;
    case json::kind::double_:
      end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), *value.if_double());
      break;
    case json::kind::bool_:
      out += *value.if_bool() ? "true" : "false";
      return;
    case json::kind::string:
      append_json_text(view(*value.if_string()), out);
      return;
    default:
      out += "null";
      return;
  }
  out.append(buffer.data(), end.ptr);
}

template <typename AppendValue>
void append_array(const json::array& array, std::string& out, AppendValue append) {
  out += '[';
  bool first = true;
  for (const auto& item : array) {
    if (!first) out += ',';
    first = false;
    append(item, out);
  }
  out += ']';
}

}  // namespace

void append_json(const json::object& object, std::string& out) {
  out += '{';
  bool first = true;
  for (const auto& member : object) {
    if (!first) out += ',';
    first = false;
    append_json_text(view(member.key()), out);
    out += ':';
    append_json(member.value(), out);
  }
  out += '}';
}

void append_json(const json::value& value, std::string& out) {
  if (const auto* object = value.if_object()) {
    append_json(*object, out);
  } else if (const auto* array = value.if_array()) {
    append_array(*array, out,
                 [](const json::value& item, std::string& text) { append_json(item, text); });
  } else {
    append_scalar(value, out);
  }
}

void append_canonical_json(const json::value& value, std::string& out) {
  if (const auto* array = value.if_array()) {
    append_array(*array, out, append_canonical_json);
    return;
  }
  const auto* object = value.if_object();
  if (object == nullptr) {
    append_scalar(value, out);
    return;
  }
  std::vector<const json::key_value_pair*> members;
  members.reserve(object->size());
  for (const auto& member : *object) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const auto* a, const auto* b) { return view(a->key()) < view(b->key()); });
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i != 0) out += ',';
    append_json_text(view(members[i]->key()), out);
    out += ':';
    append_canonical_json(members[i]->value(), out);
  }
  out += '}';
}

json::value parse_deep(std::string_view text, json::error_code& error, json::storage_ptr storage) {
  // Beyond what a request may nest: owners of deep fields are recorded some levels deeper.
  constexpr std::size_t kDeepest = 1100;
  Conversions::parsed();
  json::parse_options options;
  options.max_depth = kDeepest;
  json::basic_parser<JsonBuilder> parser(options);
  parser.handler().stack.reset(std::move(storage));
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (error) return nullptr;
  return parser.handler().stack.release();
}

std::optional<json::object> parse_object(std::string_view text) {
  json::error_code problem;
  json::value value = parse_deep(text, problem);
  if (problem || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

std::string to_json(const json::value& value) {
  std::string out;
  append_json(value, out);
  return out;
}

namespace {

/// As append_json_text() writes it: `\n` and its like are two bytes, other control characters six.
std::size_t text_bytes(std::string_view text) {
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
  std::size_t bytes = text.size() + 2;
  for (std::size_t i = first_to_escape(text, 0); i < text.size(); i = first_to_escape(text, i + 1))
    bytes += kShort.find(text[i]) != std::string_view::npos ? 1 : 5;
  return bytes;
}

std::size_t scalar_bytes(const json::value& value) {
  if (const auto* text = value.if_string()) return text_bytes(view(*text));
  std::string out;
  append_scalar(value, out);
  return out.size();
}

void add_bytes(const json::value& value, std::size_t most, std::size_t& bytes);

void add_bytes(const json::object& object, std::size_t most, std::size_t& bytes) {
  bytes += 2 + (object.empty() ? 0 : object.size() - 1);
  for (const auto& member : object) {
    if (bytes > most) return;
    bytes += text_bytes(view(member.key())) + 1;
    add_bytes(member.value(), most, bytes);
  }
}

void add_bytes(const json::value& value, std::size_t most, std::size_t& bytes) {
  Steps::count();
  if (const auto* object = value.if_object()) return add_bytes(*object, most, bytes);
  const auto* list = value.if_array();
  if (list == nullptr) {
    bytes += scalar_bytes(value);
    return;
  }
  bytes += 2 + (list->empty() ? 0 : list->size() - 1);
  for (const auto& entry : *list) {
    if (bytes > most) return;
    add_bytes(entry, most, bytes);
  }
}

}  // namespace

std::size_t json_bytes(const json::value& value, std::size_t most) {
  std::size_t bytes = 0;
  add_bytes(value, most, bytes);
  return bytes;
}

std::size_t json_bytes(const json::object& object, std::size_t most) {
  std::size_t bytes = 0;
  add_bytes(object, most, bytes);
  return bytes;
}

EntrySet::EntrySet(const json::array* list) {
  if (list == nullptr) return;
  texts_.reserve(list->size());
  for (const auto& entry : *list) {
    Steps::count();
    append_canonical_json(entry, texts_.emplace_back());
  }
  std::sort(texts_.begin(), texts_.end());
}

bool EntrySet::contains(const json::value& entry) const {
  Steps::count();
  std::string text;
  append_canonical_json(entry, text);
  return std::binary_search(texts_.begin(), texts_.end(), text);
}

}  // namespace sluice::api
