// A second look at a JSON text that parsed well: where something stands. Only used for messages.
#include <algorithm>
#include <set>

#include "host/manifests/reader.hpp"

namespace sluice::host {
namespace {

/// Walks over a valid JSON text; on an invalid one it stops early, never reads outside.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' ||
                                  text_[at_] == '\r' || text_[at_] == ',' || text_[at_] == ':')) {
      ++at_;
    }
  }

  bool end() const { return at_ >= text_.size(); }
  char peek() const { return end() ? '\0' : text_[at_]; }
  std::size_t offset() const { return at_; }
  void step() { ++at_; }

  /// Between the quotes; escapes are resolved only as far as simple keys need it.
  std::string string() {
    std::string out;
    if (peek() != '"') return out;
    for (++at_; !end() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        if (text_[at_] != '"' && text_[at_] != '\\' && text_[at_] != '/') out += '\\';
      }
      out += text_[at_];
    }
    if (!end()) ++at_;
    return out;
  }

  /// Over one value, whatever it is.
  void skip() {
    blanks();
    if (peek() == '"') {
      string();
      return;
    }
    if (peek() != '{' && peek() != '[') {
      while (!end() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) {
        ++at_;
      }
      return;
    }
    std::size_t depth = 0;
    while (!end()) {
      const char c = text_[at_];
      if (c == '"') {
        string();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Goes to the value of `key`; false (somewhere behind the object) when there is none. On success
/// `key_offset` is where the key stands.
bool enter_member(Scanner& scan, const std::string& key, std::size_t& key_offset) {
  if (scan.peek() != '{') return false;
  scan.step();
  for (scan.blanks(); !scan.end() && scan.peek() != '}'; scan.blanks()) {
    const std::size_t at = scan.offset();
    if (scan.peek() != '"') return false;
    const std::string found = scan.string();
    scan.blanks();
    if (found == key) {
      key_offset = at;
      return true;
    }
    scan.skip();
  }
  return false;
}

bool enter_item(Scanner& scan, std::size_t index) {
  if (scan.peek() != '[') return false;
  scan.step();
  scan.blanks();
  for (; index > 0 && !scan.end() && scan.peek() != ']'; --index) {
    scan.skip();
    scan.blanks();
  }
  return !scan.end() && scan.peek() != ']';
}

}  // namespace

std::vector<PathStep> parse_field_path(std::string_view path) {
  std::vector<PathStep> steps;
  while (!path.empty()) {
    if (path[0] == '.') {
      path.remove_prefix(1);
      continue;
    }
    if (path[0] == '[') {
      const auto close = std::min(path.find(']'), path.size());
      const std::string inside(path.substr(1, close - 1));
      path.remove_prefix(std::min(close + 1, path.size()));
      const bool number = !inside.empty() && inside.size() <= 9 &&
                          inside.find_first_not_of("0123456789") == std::string::npos;
      PathStep step{inside, {}};
      if (number) step.index = static_cast<std::size_t>(std::stoul(inside));
      steps.push_back(std::move(step));
      continue;
    }
    const auto end = std::min(path.find_first_of(".["), path.size());
    steps.push_back({std::string(path.substr(0, end)), {}});
    path.remove_prefix(end);
  }
  return steps;
}

std::optional<Position> find_in_json(std::string_view text, std::size_t index,
                                     const std::vector<PathStep>& path) {
  Scanner scan(text);
  scan.blanks();
  for (; index > 0 && !scan.end(); --index) {
    scan.skip();
    scan.blanks();
  }
  if (scan.end()) return std::nullopt;
  std::size_t best = scan.offset();
  for (const PathStep& step : path) {
    if (step.index && scan.peek() == '[') {
      if (!enter_item(scan, *step.index)) break;
      best = scan.offset();
    } else {
      std::size_t key_offset = 0;
      if (!enter_member(scan, step.key, key_offset)) break;
      best = key_offset;
    }
  }
  return position_at(text, best);
}

std::optional<std::pair<Position, std::string>> find_duplicate_key(std::string_view text) {
  Scanner scan(text);
  struct Frame {
    bool object;
    std::set<std::string> keys;
  };
  std::vector<Frame> frames;
  bool key_next = false;
  for (;;) {
    scan.blanks();
    if (scan.end()) return std::nullopt;
    const char c = scan.peek();
    const std::size_t at = scan.offset();
    if (c == '{' || c == '[') {
      frames.push_back({c == '{', {}});
      key_next = c == '{';
      scan.step();
    } else if (c == '}' || c == ']') {
      if (!frames.empty()) frames.pop_back();
      key_next = !frames.empty() && frames.back().object;
      scan.step();
    } else if (key_next && c == '"') {
      std::string key = scan.string();
      if (!frames.back().keys.insert(key).second) return {{position_at(text, at), std::move(key)}};
      key_next = false;
    } else {
      scan.skip();
      if (scan.offset() == at) return std::nullopt;
      key_next = !frames.empty() && frames.back().object;
    }
  }
}

}  // namespace sluice::host
