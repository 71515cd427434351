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
  Json(bool value) : type_(Type::kBool), bool_(value) {}                            // NOLINT
  Json(std::int64_t value) : type_(Type::kNumber), text_(std::to_string(value)) {}  // NOLINT
  Json(int value) : Json(static_cast<std::int64_t>(value)) {}                       // NOLINT
  Json(std::string_view value) : type_(Type::kString), text_(value) {}              // NOLINT
  Json(const std::string& value) : Json(std::string_view(value)) {}                 // NOLINT
  Json(const char* value) : Json(std::string_view(value)) {}                        // NOLINT
  static Json object() { return Json(Type::kObject); }
  static Json array() { return Json(Type::kArray); }

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

  Type type() const { return type_; }
  bool is_null() const { return type_ == Type::kNull; }
  bool is_object() const { return type_ == Type::kObject; }
  bool is_array() const { return type_ == Type::kArray; }
  bool is_string() const { return type_ == Type::kString; }
  std::size_t size() const { return is_object() ? members_.size() : items_.size(); }

  const std::vector<Json>& items() const { return items_; }
  const std::vector<Member>& members() const { return members_; }

  /// The member of that name, which may have dots in it; nullptr when absent.
  const Json* member(std::string_view key) const {
    for (const auto& [name, value] : members_)
      if (name == key) return &value;
    return nullptr;
  }
  /// The value at a path of members, `spec.queue.name` or `spec.items.0`; nullptr when absent.
  const Json* find(std::string_view path) const;

  // The value at a path when it is there and of that type, else the second argument.
  std::string string_or(std::string_view path, std::string_view otherwise) const {
    const Json* found = find(path);
    return found != nullptr && found->is_string() ? found->text_ : std::string(otherwise);
  }
  bool bool_or(std::string_view path, bool otherwise) const {
    const Json* found = find(path);
    return found != nullptr && found->type_ == Type::kBool ? found->bool_ : otherwise;
  }
  std::int64_t int_or(std::string_view path, std::int64_t otherwise) const {
    const Json* found = find(path);
    return found != nullptr ? found->as_int().value_or(otherwise) : otherwise;
  }

  std::optional<std::int64_t> as_int() const {
    std::int64_t value = 0;
    if (type_ != Type::kNumber) return std::nullopt;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || end != text_.data() + text_.size()) return std::nullopt;
    return value;
  }
  const std::string& as_string() const { return text_; }

  /// The member of that name, made when absent; a value that is no object becomes one.
  Json& operator[](std::string_view key) {
    if (!is_object()) *this = object();
    for (auto& [name, value] : members_)
      if (name == key) return value;
    return members_.emplace_back(std::string(key), Json()).second;
  }
  /// Removes a member; nothing happens when there is none.
  void erase(std::string_view key) {
    std::erase_if(members_, [&](const Member& member) { return member.first == key; });
  }
  void push_back(Json value) {
    if (!is_array()) *this = array();
    items_.push_back(std::move(value));
  }

 private:
  explicit Json(Type type) : type_(type) {}
  void write(std::string& out) const;
  static void write_string(std::string& out, std::string_view text);
  friend class JsonParser;

  Type type_ = Type::kNull;
  bool bool_ = false;
  std::string text_;
  std::vector<Json> items_;
  std::vector<Member> members_;
};

}  // namespace sluice

#include "sluice/cpp/json_impl.hpp"
