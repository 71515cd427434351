#include "api/json/json_text.hpp"

#include <boost/json/parse.hpp>

namespace sluice::api {
namespace {

/// Behind the string that starts (with its quote) at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
  const std::size_t begin = at + 1;
  for (at = text.find('"', begin); at < text.size(); at = text.find('"', at + 1)) {
    std::size_t slashes = 0;
    while (at - slashes > begin && text[at - slashes - 1] == '\\') ++slashes;
    if (slashes % 2 == 0) return at + 1;
  }
  return text.size();
}

/// Behind the value that starts at `at`.
std::size_t skip_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  if (text[at] == '"') return skip_string(text, at);
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;  // ends the scalar before it
      if (--depth == 0) return at + 1;
    } else if (c == ',' && depth == 0) {
      return at;
    }
    ++at;
  }
  return text.size();
}

/// Steps through the members of one object.
class Members {
 public:
  explicit Members(std::string_view text) : text_(text) {
    if (text_.size() < 2 || text_[0] != '{') at_ = text_.size();
  }

  bool next() {
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    const std::size_t key_end = skip_string(text_, at_);
    if (key_end >= text_.size()) return false;
    key_ = text_.substr(at_, key_end - at_);
    const std::size_t start = key_end + 1;  // behind the colon
    const std::size_t end = skip_value(text_, start);
    value_ = text_.substr(std::min(start, text_.size()), end - start);
    at_ = end + 1;  // behind the comma
    return true;
  }

  std::string_view quoted_key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  std::string_view text_, key_, value_;
  std::size_t at_ = 1;
};

}  // namespace

std::string_view scalar_text(std::string_view value, std::string& scratch) {
  if (value.empty() || value[0] == '{' || value[0] == '[' || value == "null") return {};
  if (value[0] != '"') return value;
  if (value.find('\\') == std::string_view::npos) return value.substr(1, value.size() - 2);
  boost::system::error_code error;
  const auto parsed = boost::json::parse({value.data(), value.size()}, error);
  if (error || !parsed.is_string()) return {};
  scratch.assign(parsed.get_string().data(), parsed.get_string().size());
  return scratch;
}

std::string_view member_text(std::string_view text, std::string_view key) {
  std::string scratch;
  for (Members members(text); members.next();) {
    const std::string_view quoted = members.quoted_key();
    const bool same = quoted.find('\\') == std::string_view::npos
                          ? quoted.substr(1, quoted.size() - 2) == key
                          : scalar_text(quoted, scratch) == key;
    if (same) return members.value();
  }
  return {};
}

std::string text_at(std::string_view text, std::string_view key) {
  std::string scratch;
  return std::string(scalar_text(member_text(text, key), scratch));
}

std::string_view member_at(std::string_view text, std::string_view dotted_path) {
  while (!dotted_path.empty() && !text.empty()) {
    const auto dot = dotted_path.find('.');
    text = member_text(text, dotted_path.substr(0, dot));
    dotted_path = dot == std::string_view::npos ? std::string_view() : dotted_path.substr(dot + 1);
  }
  return text;
}

void each_member(std::string_view text,
                 const std::function<bool(std::string_view key, std::string_view value)>& take) {
  std::string scratch;
  for (Members members(text); members.next();) {
    if (!take(scalar_text(members.quoted_key(), scratch), members.value())) return;
  }
}

void each_element(std::string_view text, const std::function<void(std::string_view value)>& take) {
  if (text.size() < 2 || text[0] != '[') return;
  for (std::size_t at = 1; at < text.size() && text[at] != ']';) {
    const std::size_t end = skip_value(text, at);
    take(text.substr(at, end - at));
    at = end + 1;  // behind the comma
  }
}

}  // namespace sluice::api
