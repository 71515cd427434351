// Json: a small JSON value for configurations and objects, so that a plugin needs no library.
//
// A plain value. Numbers keep their text, so reading and writing an object loses nothing; members
// keep their order. parse() throws JsonError, which the SDK turns into a clean refusal. Nesting is
// limited to 128. Not for [cycle] hooks: parse when something changes, and keep what you need.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  enum class Type : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
  using Member = std::pair<std::string, Json>;

  Json() = default;
  Json(bool value) : value_(value) {}                                  // NOLINT
  Json(std::int64_t value) : value_(Number{std::to_string(value)}) {}  // NOLINT
  Json(int value) : Json(static_cast<std::int64_t>(value)) {}          // NOLINT
  Json(std::string_view value) : value_(std::string(value)) {}         // NOLINT
  Json(const std::string& value) : value_(value) {}                    // NOLINT
  Json(std::string&& value) : value_(std::move(value)) {}              // NOLINT
  Json(const char* value) : Json(std::string_view(value)) {}           // NOLINT
  static Json object() { return of<std::vector<Member>>(); }
  static Json array() { return of<std::vector<Json>>(); }

  /// Throws JsonError with the byte offset of the mistake.
  static Json parse(std::string_view text);
  /// Compact.
  std::string dump() const {
    std::string out;
    write(out);
    return out;
  }

  /// Members in the same order, numbers as they are written.
  bool operator==(const Json&) const = default;

  Type type() const { return static_cast<Type>(value_.index()); }
  bool is_null() const { return type() == Type::kNull; }
  bool is_object() const { return type() == Type::kObject; }
  bool is_array() const { return type() == Type::kArray; }
  bool is_string() const { return type() == Type::kString; }
  std::size_t size() const { return is_object() ? members().size() : items().size(); }

  /// Of an array; none of another value.
  const std::vector<Json>& items() const {
    static const std::vector<Json> kNone;
    const auto* found = std::get_if<std::vector<Json>>(&value_);
    return found != nullptr ? *found : kNone;
  }
  /// Of an object; none of another value.
  const std::vector<Member>& members() const {
    static const std::vector<Member> kNone;
    const auto* found = std::get_if<std::vector<Member>>(&value_);
    return found != nullptr ? *found : kNone;
  }

  /// The member of that name, which may have dots in it; nullptr when absent.
  const Json* member(std::string_view key) const {
    for (const auto& [name, value] : members())
      if (name == key) return &value;
    return nullptr;
  }
  /// The value at a path of members, `spec.queue.name` or `spec.items.0`; nullptr when absent.
  const Json* find(std::string_view path) const;

  // The value at a path when it is there and of that type, else the second argument.
  std::string string_or(std::string_view path, std::string_view otherwise) const {
    const Json* found = find(path);
    return found != nullptr && found->is_string() ? found->as_string() : std::string(otherwise);
  }
  bool bool_or(std::string_view path, bool otherwise) const {
    const Json* found = find(path);
    const bool* value = found != nullptr ? std::get_if<bool>(&found->value_) : nullptr;
    return value != nullptr ? *value : otherwise;
  }
  std::int64_t int_or(std::string_view path, std::int64_t otherwise) const {
    const Json* found = find(path);
    return found != nullptr ? found->as_int().value_or(otherwise) : otherwise;
  }

  std::optional<std::int64_t> as_int() const {
    const Number* number = std::get_if<Number>(&value_);
    if (number == nullptr) return std::nullopt;
    const std::string& text = number->text;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
  /// The text of a string, or of a number as it was written; empty of another value.
  const std::string& as_string() const {
    static const std::string kNone;
    if (const std::string* text = std::get_if<std::string>(&value_)) return *text;
    const Number* number = std::get_if<Number>(&value_);
    return number != nullptr ? number->text : kNone;
  }

  /// The member of that name, made when absent; a value that is no object becomes one.
  Json& operator[](std::string_view key) {
    if (!is_object()) *this = object();
    auto& members = std::get<std::vector<Member>>(value_);
    for (auto& [name, value] : members)
      if (name == key) return value;
    return members.emplace_back(std::string(key), Json()).second;
  }
  /// Removes a member; nothing happens when there is none.
  void erase(std::string_view key) {
    if (auto* members = std::get_if<std::vector<Member>>(&value_))
      std::erase_if(*members, [&](const Member& member) { return member.first == key; });
  }
  void push_back(Json value) {
    if (!is_array()) *this = array();
    std::get<std::vector<Json>>(value_).push_back(std::move(value));
  }

 private:
  struct Number {
    std::string text;
    bool operator==(const Number&) const = default;
  };
  /// In the order of Type.
  using Value = std::variant<std::monostate, bool, Number, std::string, std::vector<Json>,
                             std::vector<Member>>;

  template <typename T>
  static Json of() {
    Json out;
    out.value_.emplace<T>();
    return out;
  }
  void write(std::string& out) const;
  static void write_string(std::string& out, std::string_view text);
  friend class JsonParser;

  Value value_;
};

}  // namespace sluice

#include "sluice/cpp/json_impl.hpp"
