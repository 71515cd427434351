// The reader and writer of Json (json.hpp).
//
// Included by json.hpp only.
#pragma once

#include "sluice/cpp/json.hpp"

namespace sluice {

/// Recursive descent over one text; used by Json::parse only.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  Json document() {
    Json value = parse_value(0);
    skip_space();
    if (at_ != text_.size()) fail("something follows the value");
    return value;
  }

 private:
  static constexpr int kMaxDepth = 128;

  [[noreturn]] void fail(const std::string& what) const {
    throw JsonError("JSON, byte " + std::to_string(at_) + ": " + what);
  }
  void skip_space() {
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json parse_value(int depth) {
    if (depth > kMaxDepth) fail("nested too deeply");
    skip_space();
    switch (peek()) {
      case '{':
        return parse_object(depth);
      case '[':
        return parse_array(depth);
      case '"':
        return text_value(parse_string());
      case 't':
        if (take_word("true")) return Json(true);
        break;
      case 'f':
        if (take_word("false")) return Json(false);
        break;
      case 'n':
        if (take_word("null")) return Json();
        break;
      default:
        return parse_number();
    }
    fail("no value");
  }

  static Json text_value(std::string text) {
    Json result(Json::Type::kString);
    result.text_ = std::move(text);
    return result;
  }

  Json parse_object(int depth) {
    Json result = Json::object();
    ++at_;
    skip_space();
    if (take('}')) return result;
    result.members_.reserve(4);  // most have a few
    while (true) {
      skip_space();
      if (peek() != '"') fail("a member name must be in quotes");
      std::string key = parse_string();
      skip_space();
      if (!take(':')) fail("`:` is missing");
      result.members_.emplace_back(std::move(key), parse_value(depth + 1));
      skip_space();
      if (take('}')) return result;
      if (!take(',')) fail("`,` or `}` is missing");
    }
  }

  Json parse_array(int depth) {
    Json result = Json::array();
    ++at_;
    skip_space();
    if (take(']')) return result;
    while (true) {
      result.items_.push_back(parse_value(depth + 1));
      skip_space();
      if (take(']')) return result;
      if (!take(',')) fail("`,` or `]` is missing");
    }
  }

  bool take_digits() {
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > begin;
  }

  Json parse_number() {
    const std::size_t begin = at_;
    take('-');
    if (!take('0') && !take_digits()) fail("no value");
    if (take('.') && !take_digits()) fail("digits are missing");
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!take_digits()) fail("digits are missing");
    }
    Json result(Json::Type::kNumber);
    result.text_ = text_.substr(begin, at_ - begin);
    return result;
  }

  static bool is_plain(char c) {
    return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
  }

  std::string parse_string() {
    std::string out;
    ++at_;
    while (true) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
      out.append(text_, begin, at_ - begin);
      if (at_ >= text_.size()) fail("a text does not end");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (c != '\\') fail("a control character in a text");
      parse_escape(out);
    }
  }

  void parse_escape(std::string& out) {
    const char c = peek();
    ++at_;
    static constexpr std::string_view kFrom = "\"\\/bfnrt";
    static constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    if (c == 'u') {
      append_utf8(out, parse_code_point());
    } else if (const auto i = kFrom.find(c); i != kFrom.npos && c != '\0') {
      out += kTo[i];
    } else {
      fail("an unknown escape");
    }
  }

  std::uint32_t parse_hex4() {
    std::uint32_t value = 0;
    const char* begin = text_.data() + at_;
    if (text_.size() - at_ < 4) fail("a \\u escape needs four digits");
    const auto [end, error] = std::from_chars(begin, begin + 4, value, 16);
    if (error != std::errc() || end != begin + 4) fail("a \\u escape needs four digits");
    at_ += 4;
    return value;
  }

  std::uint32_t parse_code_point() {
    const std::uint32_t high = parse_hex4();
    if (high < 0xD800 || high > 0xDFFF) return high;
    if (high > 0xDBFF || !take_word("\\u")) fail("half a surrogate pair");
    const std::uint32_t low = parse_hex4();
    if (low < 0xDC00 || low > 0xDFFF) fail("half a surrogate pair");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  static void append_utf8(std::string& out, std::uint32_t code) {
    const auto push = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
      push(code);
    } else if (code < 0x800) {
      push(0xC0 | (code >> 6));
      push(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      push(0xE0 | (code >> 12));
      push(0x80 | ((code >> 6) & 0x3F));
      push(0x80 | (code & 0x3F));
    } else {
      push(0xF0 | (code >> 18));
      push(0x80 | ((code >> 12) & 0x3F));
      push(0x80 | ((code >> 6) & 0x3F));
      push(0x80 | (code & 0x3F));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

inline Json Json::parse(std::string_view text) { return JsonParser(text).document(); }

inline const Json* Json::find(std::string_view path) const {
  const Json* here = this;
  while (!path.empty()) {
    const auto dot = path.find('.');
    const auto key = path.substr(0, dot);
    path = dot == path.npos ? std::string_view() : path.substr(dot + 1);
    const Json* next = nullptr;
    if (here->is_array()) {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
      if (error == std::errc() && end == key.data() + key.size() && index < here->items_.size())
        next = &here->items_[index];
    } else {
      for (const auto& [name, value] : here->members_)
        if (name == key) next = &value;
    }
    if (next == nullptr) return nullptr;
    here = next;
  }
  return here;
}

inline void Json::write_string(std::string& out, std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

inline void Json::write(std::string& out) const {
  switch (type_) {
    case Type::kNull:
      out += "null";
      break;
    case Type::kBool:
      out += bool_ ? "true" : "false";
      break;
    case Type::kNumber:
      out += text_;
      break;
    case Type::kString:
      write_string(out, text_);
      break;
    case Type::kArray:
      out += '[';
      for (const Json& item : items_) {
        if (&item != items_.data()) out += ',';
        item.write(out);
      }
      out += ']';
      break;
    case Type::kObject:
      out += '{';
      for (const Member& member : members_) {
        if (&member != members_.data()) out += ',';
        write_string(out, member.first);
        out += ':';
        member.second.write(out);
      }
      out += '}';
      break;
  }
}

}  // namespace sluice
