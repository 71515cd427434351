#include "api/schema/type_expression.hpp"

#include <charconv>

namespace sluice::api {

namespace {

std::string_view next_word(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

TypeExpression parse_type_expression(std::string_view text) {
  TypeExpression out;
  out.type = next_word(text);
  if (!out.type.empty() && out.type.back() == '!') {
    out.required = true;
    out.type.remove_suffix(1);
  }
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    const std::string_view rest = word.substr(1);
    switch (word[0]) {
      case '*':
        out.pointer = true;
        break;
      case '~':
        out.merge = true;
        out.merge_key = rest;
        break;
      case '^':
        out.retain_keys = true;
        break;
      case '=':
        out.atomic = true;
        break;
      case '#':
        out.apply_keys = rest;
        break;
      default:
        std::from_chars(word.data(), word.data() + word.size(), out.number);
    }
  }
  return out;
}

}  // namespace sluice::api
