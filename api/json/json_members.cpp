#include "api/json/json_members.hpp"

#include "api/json/json.hpp"

namespace sluice::api {

/// Nothing that JSON is ends with an opening brace or bracket.
void JsonMembers::comma() {
  if (text_.empty())
    text_ += '{';
  else if (text_.back() != '{' && text_.back() != '[')
    text_ += ',';
}

void JsonMembers::key(std::string_view key) {
  comma();
  append_json_text(key, text_);
  text_ += ':';
}

JsonMembers& JsonMembers::text(std::string_view key, std::string_view value) {
  this->key(key);
  append_json_text(value, text_);
  return *this;
}

JsonMembers& JsonMembers::number(std::string_view key, std::int64_t value) {
  this->key(key);
  text_ += std::to_string(value);
  return *this;
}

JsonMembers& JsonMembers::boolean(std::string_view key, bool value) {
  this->key(key);
  text_ += value ? "true" : "false";
  return *this;
}

JsonMembers& JsonMembers::document(std::string_view key, std::string_view value) {
  this->key(key);
  text_ += value.empty() ? std::string_view("null") : value;
  return *this;
}

JsonMembers& JsonMembers::entry(std::string_view value) {
  comma();
  text_ += value;
  return *this;
}

JsonMembers& JsonMembers::members(const JsonMembers& other) {
  if (other.text_.empty()) return *this;
  comma();
  text_.append(other.text_, 1);
  return *this;
}

std::string JsonMembers::take() const {
  std::string out;
  out.reserve(text_.size() + 2);
  out += text_.empty() ? std::string_view("{") : text_;
  return out += '}';
}

}  // namespace sluice::api
