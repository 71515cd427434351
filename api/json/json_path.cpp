#include "api/json/json_path.hpp"

#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/text.hpp"

namespace sluice::api {

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

  /// `@.a.b == "x"`.
  static bool condition(std::string_view text, JsonPath::Part& part) {
    part.step = JsonPath::Step::kFilter;
    auto op = text.find("==");
    if (op == std::string_view::npos) {
      op = text.find("!=");
      part.equal = false;
    }
    if (op == std::string_view::npos) return false;
    std::string_view left = trim(text.substr(0, op), " ");
    std::string_view right = trim(text.substr(op + 2), " ");
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
  const bool equal = text != nullptr ? view(*text) == filter.text : to_json(*at) == filter.text;
  return equal == filter.equal;
}

/// Calls `take(name or index, value)` for all that the part leads to.
template <typename F>
void JsonPath::each(const Part& part, const json::object& at, F&& take) {
  if (part.step == Step::kMember) {
    const json::value* found = at.if_contains(json_view(part.names[0]));
    if (found != nullptr) take(std::string_view(part.names[0]), *found);
  } else if (part.step == Step::kAll) {
    for (const auto& member : at) take(view(member.key()), member.value());
  }
}

template <typename F>
void JsonPath::each(const Part& part, const json::value& at, F&& take) {
  if (const json::object* object = at.if_object()) return each(part, *object, take);
  const json::array* list = at.if_array();
  if (list == nullptr || part.step == Step::kMember) return;
  if (part.step == Step::kIndex) {
    const auto size = static_cast<std::int64_t>(list->size());
    const std::int64_t index = part.index < 0 ? size + part.index : part.index;
    if (index >= 0 && index < size)
      take(static_cast<std::size_t>(index), (*list)[static_cast<std::size_t>(index)]);
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i)
    if (part.step == Step::kAll || holds(part, (*list)[i])) take(i, (*list)[i]);
}

std::vector<const json::value*> JsonPath::find(const json::object& root) const {
  std::vector<const json::value*> found;
  std::vector<const json::value*> next;
  const auto take = [&next](const auto&, const json::value& value) { next.push_back(&value); };
  bool first = true;
  for (const Part& part : parts_) {
    next.clear();
    if (first) each(part, root, take);
    for (const json::value* at : found) each(part, *at, take);
    std::swap(found, next);
    first = false;
  }
  return found;
}

std::vector<JsonPath::Found> JsonPath::places(const json::object& from,
                                              const JsonPlace& place) const {
  std::vector<Found> found;
  std::vector<Found> next;
  const JsonPlace* holder = &place;
  const auto take = [&](const auto& name, const json::value& value) {
    next.push_back({*holder, &value});
    if constexpr (std::is_same_v<std::decay_t<decltype(name)>, std::size_t>)
      next.back().place.push_back(std::to_string(name));
    else
      next.back().place.emplace_back(name);
  };
  bool first = true;
  for (const Part& part : parts_) {
    next.clear();
    if (first) each(part, from, take);
    for (const Found& at : found) {
      holder = &at.place;
      each(part, *at.value, take);
    }
    std::swap(found, next);
    first = false;
  }
  return found;
}

std::vector<JsonPath::One> JsonPath::ones() const {
  std::vector<One> out;
  for (const Part& part : parts_) {
    if (part.step == Step::kMember)
      out.push_back({part.names[0], {}, {}});
    else if (part.step == Step::kFilter && part.equal && part.names.size() == 1)
      out.push_back({{}, part.names[0], part.text});
    else
      return {};
  }
  return out;
}

JsonPlace JsonPath::members() const {
  JsonPlace out;
  for (const Part& part : parts_) {
    if (part.step != Step::kMember) return {};
    out.push_back(part.names[0]);
  }
  return out;
}

const json::value* at_place(const json::object& root, std::span<const std::string> place) {
  const json::object* holder = &root;
  const json::value* at = nullptr;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (holder != nullptr) {
      at = holder->if_contains(json_view(place[i]));
    } else {
      const json::array* list = at->if_array();
      std::size_t index = 0;
      const std::string& name = place[i];
      const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
      const bool fits = list != nullptr && read.ec == std::errc() && index < list->size();
      at = fits ? &(*list)[index] : nullptr;
    }
    if (at == nullptr) return nullptr;
    holder = at->if_object();
  }
  return at;
}

json::value* at_place(json::object& root, std::span<const std::string> place) {
  return const_cast<json::value*>(at_place(std::as_const(root), place));
}

namespace {

/// nullopt: a name.
std::optional<std::size_t> as_index(std::string_view name) {
  std::size_t index = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size()) return std::nullopt;
  return index;
}

json::value* step_into(json::value& at, const std::string& name) {
  if (json::object* object = at.if_object()) return &(*object)[json_view(name)];
  json::array* list = at.if_array();
  const auto index = as_index(name);
  if (list == nullptr || !index) return nullptr;
  if (*index >= list->size()) list->resize(*index + 1, json::object());
  return &(*list)[*index];
}

}  // namespace

json::object* make_place(json::object& root, std::span<const std::string> place) {
  json::object* holder = &root;
  json::value* at = nullptr;
  for (std::size_t i = 0; i < place.size(); ++i) {
    at = holder != nullptr ? &(*holder)[json_view(place[i])] : step_into(*at, place[i]);
    if (at == nullptr) return nullptr;
    if (at->is_null()) {
      if (i + 1 < place.size() && as_index(place[i + 1]))
        at->emplace_array();
      else
        at->emplace_object();
    }
    holder = at->if_object();
  }
  return holder;
}

std::string pointer_step(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~' || c == '/')
      out += c == '~' ? "~0" : "~1";
    else
      out += c;
  }
  return out;
}

std::string place_text(std::span<const std::string> place) {
  std::string out;
  for (const std::string& name : place) {
    if (&name != place.data()) out += '/';
    out += pointer_step(name);
  }
  return out;
}

JsonPlace place_of(std::string_view text) {
  JsonPlace out(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      out.emplace_back();
    } else if (text[i] == '~' && i + 1 < text.size()) {
      out.back() += text[++i] == '1' ? '/' : '~';
    } else {
      out.back() += text[i];
    }
  }
  return out;
}

}  // namespace sluice::api
