#include "host/rest/json_path.hpp"

#include <charconv>

#include "api/json/json.hpp"

namespace sluice::host {

namespace json = boost::json;

class JsonPathParser {
 public:
  explicit JsonPathParser(std::string_view text) : rest_(text) {}

  Result<JsonPath> run() {
    JsonPath path;
    if (rest_.starts_with("{") && rest_.ends_with("}")) {
      rest_.remove_prefix(1);
      rest_.remove_suffix(1);
    }
    if (rest_.starts_with("$")) rest_.remove_prefix(1);
    while (!rest_.empty()) {
      JsonPath::Part part;
      const bool good = rest_.front() == '.' ? member(part) : bracket(part);
      if (!good) return Error{"JSON path: cannot read \"" + std::string(rest_) + "\""};
      if (part.step != JsonPath::Step::kMember || !part.names.front().empty()) {
        path.parts_.push_back(std::move(part));
      }
    }
    return path;
  }

 private:
  /// Behind a dot: up to the next dot or bracket; a backslash takes the next character as it is.
  std::string name() {
    std::string out;
    while (!rest_.empty() && rest_.front() != '.' && rest_.front() != '[') {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      out += rest_.front();
      rest_.remove_prefix(1);
    }
    return out;
  }

  bool member(JsonPath::Part& part) {
    rest_.remove_prefix(1);
    part.names = {name()};
    return true;
  }

  bool bracket(JsonPath::Part& part) {
    if (rest_.front() != '[') return false;
    const bool filter = rest_.starts_with("[?(");
    const std::string_view end = filter ? ")]" : "]";
    const auto close = rest_.find(end);
    if (close == std::string_view::npos) return false;
    const std::size_t open = filter ? 3 : 1;
    const std::string_view inner = rest_.substr(open, close - open);
    if (!(filter ? condition(inner, part) : index(inner, part))) return false;
    rest_.remove_prefix(close + end.size());
    return true;
  }

  static bool quoted(std::string_view& text) {
    if (text.size() < 2 || (text.front() != '\'' && text.front() != '"')) return false;
    if (text.back() != text.front()) return false;
    text = text.substr(1, text.size() - 2);
    return true;
  }

  static bool index(std::string_view text, JsonPath::Part& part) {
    if (text == "*") {
      part.step = JsonPath::Step::kAll;
      return true;
    }
    if (quoted(text)) {
      part.names = {std::string(text)};
      return !text.empty();
    }
    part.step = JsonPath::Step::kIndex;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), part.index);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
  }

  static std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
  }

  /// `@.a.b == "x"`.
  static bool condition(std::string_view text, JsonPath::Part& part) {
    part.step = JsonPath::Step::kFilter;
    auto op = text.find("==");
    if (op == std::string_view::npos) {
      op = text.find("!=");
      part.equal = false;
    }
    if (op == std::string_view::npos) return false;
    std::string_view left = trim(text.substr(0, op));
    std::string_view right = trim(text.substr(op + 2));
    if (!left.starts_with("@")) return false;
    JsonPathParser names(left.substr(1));
    while (!names.rest_.empty()) {
      if (names.rest_.front() != '.') return false;
      names.rest_.remove_prefix(1);
      part.names.push_back(names.name());
    }
    quoted(right);
    part.text = right;
    return true;
  }

  std::string_view rest_;
};

Result<JsonPath> JsonPath::parse(std::string_view text) { return JsonPathParser(text).run(); }

bool JsonPath::holds(const Part& filter, const json::value& entry) {
  const json::value* at = &entry;
  for (const std::string& name : filter.names) {
    const json::object* object = at->if_object();
    at = object != nullptr ? object->if_contains(name) : nullptr;
    if (at == nullptr) return false;
  }
  const auto* text = at->if_string();
  const bool equal =
      text != nullptr ? api::view(*text) == filter.text : api::to_json(*at) == filter.text;
  return equal == filter.equal;
}

void JsonPath::apply(const Part& part, const json::value& at,
                     std::vector<const json::value*>& out) {
  if (part.step == Step::kMember) {
    const json::object* object = at.if_object();
    const json::value* found = object != nullptr ? object->if_contains(part.names[0]) : nullptr;
    if (found != nullptr) out.push_back(found);
    return;
  }
  if (const json::object* object = at.if_object(); object != nullptr && part.step == Step::kAll) {
    for (const auto& member : *object) out.push_back(&member.value());
  }
  const json::array* list = at.if_array();
  if (list == nullptr) return;
  if (part.step == Step::kIndex) {
    const auto size = static_cast<std::int64_t>(list->size());
    const std::int64_t index = part.index < 0 ? size + part.index : part.index;
    if (index >= 0 && index < size) out.push_back(&(*list)[static_cast<std::size_t>(index)]);
    return;
  }
  for (const json::value& entry : *list) {
    if (part.step == Step::kAll || holds(part, entry)) out.push_back(&entry);
  }
}

std::vector<const json::value*> JsonPath::find(const json::object& root) const {
  std::vector<const json::value*> found;
  std::vector<const json::value*> next;
  bool first = true;
  for (const Part& part : parts_) {
    next.clear();
    if (first && part.step == Step::kMember) {
      if (const json::value* value = root.if_contains(part.names[0])) next.push_back(value);
    }
    for (const json::value* each : found) apply(part, *each, next);
    std::swap(found, next);
    first = false;
  }
  return found;
}

}  // namespace sluice::host
