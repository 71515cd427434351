// JsonMembers: writes a JSON object member by member, as text, without a tree in between.
//
// A value; one thread at a time. Invariant: what take() gives is one compact JSON object, when what
// was given as documents is JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::api {

class JsonMembers {
 public:
  JsonMembers& text(std::string_view key, std::string_view value);
  JsonMembers& number(std::string_view key, std::int64_t value);
  JsonMembers& boolean(std::string_view key, bool value);
  /// JSON as it is; empty: null.
  JsonMembers& document(std::string_view key, std::string_view value);
  /// The members of another object after these.
  JsonMembers& members(const JsonMembers& other);
  std::string take() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  void key(std::string_view key);
  std::string text_;  // without the last brace
};

}  // namespace sluice::api
