#include "host/config/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>
#include <set>

namespace sluice::host {
namespace {

enum class Scalar : std::uint8_t { kText, kNull, kBoolean, kInteger, kNumber };

bool is_number(std::string_view text, Scalar& kind) {
  static const std::regex integer("[-+]?[0-9]+");
  static const std::regex number("[-+]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][-+]?[0-9]+)?");
  const bool whole = std::regex_match(text.begin(), text.end(), integer);
  if (!whole && !std::regex_match(text.begin(), text.end(), number)) return false;
  kind = whole ? Scalar::kInteger : Scalar::kNumber;
  return true;
}

Scalar kind_of(const YAML::Node& node) {
  if (node.Tag() == "!") return Scalar::kText;  // quoted
  const std::string& text = node.Scalar();
  if (text.empty() || text == "~" || text == "null") return Scalar::kNull;
  if (text == "true" || text == "false") return Scalar::kBoolean;
  Scalar kind = Scalar::kText;
  is_number(text, kind);
  return kind;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

// JSON knows neither a leading plus, nor leading zeros, nor a bare point.
void append_number(std::string& out, const YAML::Node& node, Scalar kind) {
  if (std::int64_t value = 0;
      kind == Scalar::kInteger && YAML::convert<std::int64_t>::decode(node, value)) {
    out += std::to_string(value);
    return;
  }
  double value = 0;
  const std::string& text = node.Scalar();
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  std::from_chars(begin, text.data() + text.size(), value);
  out += fmt::format("{}", value);
}

void append_json(std::string& out, const YAML::Node& node) {
  if (node.IsMap()) {
    const char* separator = "{";
    for (const auto& entry : node) {
      out += separator;
      append_quoted(out, entry.first.Scalar());
      out += ':';
      append_json(out, entry.second);
      separator = ",";
    }
    out += node.size() == 0 ? "{}" : "}";
  } else if (node.IsSequence()) {
    const char* separator = "[";
    for (const auto& item : node) {
      out += separator;
      append_json(out, item);
      separator = ",";
    }
    out += node.size() == 0 ? "[]" : "]";
  } else if (!node.IsScalar()) {
    out += "null";
  } else {
    switch (const Scalar kind = kind_of(node)) {
      case Scalar::kNull:
        out += "null";
        break;
      case Scalar::kBoolean:
        out += node.Scalar();
        break;
      case Scalar::kInteger:
      case Scalar::kNumber:
        append_number(out, node, kind);
        break;
      case Scalar::kText:
        append_quoted(out, node.Scalar());
        break;
    }
  }
}

std::string key_of(const YAML::Node& node) { return node.IsScalar() ? node.Scalar() : "?"; }

std::string below(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

/// A map in which a key stands twice; only one of the two would count, without a word.
void judge_keys(ConfigErrors& errors, const YAML::Node& map, const std::string& path) {
  std::set<std::string> seen;
  for (const auto& entry : map)
    if (const std::string key = key_of(entry.first); !seen.insert(key).second)
      errors.add(entry.first.Mark(), below(path, key), "the key is given twice");
}

/// The same of all maps in `node`.
void judge_all_keys(ConfigErrors& errors, const YAML::Node& node, const std::string& path) {
  if (node.IsMap()) {
    judge_keys(errors, node, path);
    for (const auto& entry : node)
      judge_all_keys(errors, entry.second, below(path, key_of(entry.first)));
  } else if (node.IsSequence()) {
    std::size_t index = 0;
    for (const auto& item : node)
      judge_all_keys(errors, item, fmt::format("{}[{}]", path, index++));
  }
}

}  // namespace

void ConfigErrors::add(const YAML::Mark& mark, const std::string& path, const std::string& text) {
  const int line = mark.is_null() ? 1 : mark.line + 1;
  errors_.emplace_back(
      line, fmt::format("{}:{}: {}{}{}", file_, line, path, path.empty() ? "" : ": ", text));
}

Error ConfigErrors::error() const {
  auto sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& entry : sorted) text += (text.empty() ? "" : "\n") + entry.second;
  return Error{text};
}

std::string describe(const YAML::Node& node) {
  if (!node.IsDefined() || node.IsNull()) return "nothing";
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  switch (kind_of(node)) {
    case Scalar::kNull:
      return "nothing";
    case Scalar::kBoolean:
      return node.Scalar();
    case Scalar::kInteger:
    case Scalar::kNumber:
      return "the number " + node.Scalar();
    case Scalar::kText:
      break;
  }
  return "the text \"" + node.Scalar() + "\"";
}

std::string to_json(const YAML::Node& node) {
  std::string out;
  append_json(out, node);
  return out;
}

Section::Section(ConfigErrors& errors, const YAML::Node& node, std::string path)
    : errors_(errors), path_(std::move(path)) {
  if (!node.IsDefined() || node.IsNull()) return;
  if (!node.IsMap()) {
    errors_.add(node.Mark(), path_, "found " + describe(node) + "; allowed: a map of keys");
    return;
  }
  node_.reset(node);
  judge_keys(errors_, node, path_);
}

Section::~Section() {
  if (!node_.IsMap()) return;
  for (const auto& entry : node_) {
    const std::string key = key_of(entry.first);
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    errors_.add(entry.first.Mark(), path_of(key),
                fmt::format("unknown key; allowed: {}", fmt::join(known_, ", ")));
  }
}

std::string Section::path_of(const std::string& key) const { return below(path_, key); }

YAML::Node Section::child(const std::string& key) {
  known_.push_back(key);
  if (!node_.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  return static_cast<const YAML::Node&>(node_)[key];
}

bool Section::has(const std::string& key) {
  return node_.IsMap() && static_cast<const YAML::Node&>(node_)[key].IsDefined();
}

void Section::fail(const std::string& key, const std::string& text) {
  errors_.add(has(key) ? static_cast<const YAML::Node&>(node_)[key].Mark() : node_.Mark(),
              path_of(key), text);
}

void Section::require(const std::string& key) {
  if (!has(key)) fail(key, "is missing");
}

void Section::once(const std::string& key, const std::string& value, std::set<std::string>& seen) {
  if (!value.empty() && !seen.insert(value).second)
    fail(key, fmt::format("\"{}\" is listed twice", value));
}

bool Section::scalar(const std::string& key, YAML::Node& out, const char* allowed) {
  const YAML::Node node = child(key);
  if (!node.IsDefined()) return false;
  if (!node.IsScalar()) {
    fail(key, fmt::format("found {}; allowed: {}", describe(node), allowed));
    return false;
  }
  out.reset(node);
  return true;
}

void Section::text(const std::string& key, std::string& out) {
  constexpr const char* kAllowed = "a text";
  YAML::Node node;
  if (!scalar(key, node, kAllowed)) return;
  if (kind_of(node) == Scalar::kText && !node.Scalar().empty()) {
    out = node.Scalar();
  } else {
    fail(key, fmt::format("found {}; allowed: {}{}", describe(node), kAllowed,
                          node.Scalar().empty() ? " that is not empty" : ""));
  }
}

void Section::name(const std::string& key, std::string& out, bool (*fits)(std::string_view),
                   std::string_view allowed) {
  text(key, out);
  if (!out.empty() && !fits(out)) fail(key, fmt::format("found \"{}\"; allowed: {}", out, allowed));
}

void Section::boolean(const std::string& key, bool& out) {
  constexpr const char* kAllowed = "true or false";
  YAML::Node node;
  if (!scalar(key, node, kAllowed)) return;
  if (kind_of(node) == Scalar::kBoolean) {
    out = node.Scalar() == "true";
  } else {
    fail(key, fmt::format("found {}; allowed: {}", describe(node), kAllowed));
  }
}

void Section::integer(const std::string& key, std::int64_t& out, std::int64_t min,
                      std::int64_t max) {
  const std::string allowed = fmt::format("a whole number from {} to {}", min, max);
  YAML::Node node;
  if (!scalar(key, node, allowed.c_str())) return;
  std::int64_t value = 0;
  const std::string& text = node.Scalar();
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (kind_of(node) == Scalar::kInteger && code == std::errc() &&
      end == text.data() + text.size() && value >= min && value <= max) {
    out = value;
  } else {
    fail(key, fmt::format("found {}; allowed: {}", describe(node), allowed));
  }
}

void Section::duration(const std::string& key, Duration& out, const DurationRange& range) {
  const std::string allowed = fmt::format("a duration {}", range.text);
  YAML::Node node;
  if (!scalar(key, node, allowed.c_str())) return;
  const auto value = parse_duration(node.Scalar());
  if (value && *value >= range.least && *value <= range.most) {
    out = *value;
  } else {
    fail(key, fmt::format("found {}; allowed: {}", describe(node), allowed));
  }
}

void Section::pairs(const std::string& key, Pairs& out) {
  const YAML::Node node = child(key);
  if (!node.IsDefined() || node.IsNull()) return;
  if (!node.IsMap())
    return fail(key, fmt::format("found {}; allowed: a map of texts", describe(node)));
  judge_keys(errors_, node, path_of(key));
  for (const auto& entry : node) {
    if (entry.second.IsScalar()) {
      out.emplace_back(entry.first.Scalar(), entry.second.Scalar());
    } else {
      errors_.add(entry.second.Mark(), path_of(key) + "." + entry.first.Scalar(),
                  fmt::format("found {}; allowed: a text or a number", describe(entry.second)));
    }
  }
}

void Section::json(const std::string& key, std::string& out) {
  const YAML::Node node = child(key);
  if (!node.IsDefined() || node.IsNull()) return;
  if (!node.IsMap())
    return fail(key, fmt::format("found {}; allowed: a map of keys", describe(node)));
  judge_all_keys(errors_, node, path_of(key));
  out = to_json(node);
}

void Section::texts(const std::string& key, std::vector<std::string>& out) {
  const YAML::Node node = child(key);
  if (!node.IsDefined() || node.IsNull()) return;
  if (!node.IsSequence())
    return fail(key, fmt::format("found {}; allowed: a list of texts", describe(node)));
  for (const auto& item : node) {
    if (!item.IsScalar())
      return fail(key, fmt::format("found {} in the list; allowed: texts", describe(item)));
    out.push_back(item.Scalar());
  }
}

int Section::choice(const std::string& key, std::initializer_list<std::string_view> allowed) {
  const std::string names = fmt::format("{}", fmt::join(allowed, ", "));
  YAML::Node node;
  if (!scalar(key, node, names.c_str())) return -1;
  const auto* const found = std::find(allowed.begin(), allowed.end(), node.Scalar());
  if (found != allowed.end()) return static_cast<int>(found - allowed.begin());
  fail(key, fmt::format("found {}; allowed: {}", describe(node), names));
  return -1;
}

bool Section::each(const std::string& key, const std::function<void(Section&)>& read) {
  const YAML::Node node = child(key);
  if (!node.IsDefined()) return false;
  if (!node.IsSequence()) {
    fail(key, fmt::format("found {}; allowed: a list of maps", describe(node)));
    return false;
  }
  std::size_t index = 0;
  for (const auto& item : node) {
    Section section(errors_, item, fmt::format("{}[{}]", path_of(key), index++));
    read(section);
  }
  return true;
}

}  // namespace sluice::host
