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
    Json value;
    parse_value(value, 0);
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

  void parse_value(Json& out, int depth) {
    if (depth > kMaxDepth) fail("nested too deeply");
    skip_space();
    switch (peek()) {
      case '{':
        return parse_object(out, depth);
      case '[':
        return parse_array(out, depth);
      case '"':
        out.value_.emplace<std::string>();
        return parse_string(std::get<std::string>(out.value_));
      case 't':
        out.value_ = true;
        return expect_word("true");
      case 'f':
        out.value_ = false;
        return expect_word("false");
      case 'n':
        return expect_word("null");
      default:
        return parse_number(out.value_.emplace<Json::Number>().text);
    }
  }

  void expect_word(std::string_view word) {
    if (!take_word(word)) fail("no value");
  }

  void parse_object(Json& out, int depth) {
    auto& members = out.value_.emplace<std::vector<Json::Member>>();
    ++at_;
    skip_space();
    if (take('}')) return;
    members.reserve(4);  // most have a few
    while (true) {
      skip_space();
      if (peek() != '"') fail("a member name must be in quotes");
      Json::Member& member = members.emplace_back();
      parse_string(member.first);
      skip_space();
      if (!take(':')) fail("`:` is missing");
      parse_value(member.second, depth + 1);
      skip_space();
      if (take('}')) return;
      if (!take(',')) fail("`,` or `}` is missing");
    }
  }

  void parse_array(Json& out, int depth) {
    auto& items = out.value_.emplace<std::vector<Json>>();
    ++at_;
    skip_space();
    if (take(']')) return;
    while (true) {
      parse_value(items.emplace_back(), depth + 1);
      skip_space();
      if (take(']')) return;
      if (!take(',')) fail("`,` or `]` is missing");
    }
  }

  bool take_digits() {
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > begin;
  }

  void parse_number(std::string& out) {
    const std::size_t begin = at_;
    take('-');
    if (!take('0') && !take_digits()) fail("no value");
    if (take('.') && !take_digits()) fail("digits are missing");
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!take_digits()) fail("digits are missing");
    }
    out = text_.substr(begin, at_ - begin);
  }

  static bool is_plain(char c) {
    return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
  }

  /// `out` is empty.
  void parse_string(std::string& out) {
    ++at_;
    while (true) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
      out.append(text_, begin, at_ - begin);
      if (at_ >= text_.size()) fail("a text does not end");
      const char c = text_[at_++];
      if (c == '"') return;
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
      if (error == std::errc() && end == key.data() + key.size() && index < here->size())
        next = &here->items()[index];
    } else {
      for (const auto& [name, value] : here->members())
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
  std::size_t begin = 0;  // of what is not written yet, and stands for itself
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c != '"' && c != '\\' && c >= 0x20) continue;
    out.append(text, begin, at - begin);
    begin = at + 1;
    out += c < 0x20 ? "\\u00" : "\\";
    if (c < 0x20) {
      out += kHex[c >> 4U];
      out += kHex[c & 15U];
    } else {
      out += text[at];
    }
  }
  out.append(text, begin);
  out += '"';
}

inline void Json::write(std::string& out) const {
  switch (type()) {
    case Type::kNull:
      out += "null";
      break;
    case Type::kBool:
      out += std::get<bool>(value_) ? "true" : "false";
      break;
    case Type::kNumber:
      out += as_string();
      break;
    case Type::kString:
      write_string(out, as_string());
      break;
    case Type::kArray:
      out += '[';
      for (const Json& item : items()) {
        if (&item != items().data()) out += ',';
        item.write(out);
      }
      out += ']';
      break;
    case Type::kObject:
      out += '{';
      for (const Member& member : members()) {
        if (&member != members().data()) out += ',';
        write_string(out, member.first);
        out += ':';
        member.second.write(out);
      }
      out += '}';
      break;
  }
}

}  // namespace sluice
