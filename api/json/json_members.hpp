// JsonMembers: writes a JSON object member by member, as text, without a tree in between.
//
// A value; one thread at a time. Invariant: what take() gives is one compact JSON object, when what
// was given as documents is JSON. Members that are objects or lists are written by what object(),
// list() and entry() call, with the same JsonMembers:
//
//   out.list("sets", [&] { out.entry([&] { out.text("name", "main"); }); });
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

  /// An object whose members `write()` writes.
  template <typename Write>
  JsonMembers& object(std::string_view key, Write&& write) {
    this->key(key);
    return enclose('{', write, '}');
  }

  /// A list whose entries `write()` writes.
  template <typename Write>
  JsonMembers& list(std::string_view key, Write&& write) {
    this->key(key);
    return enclose('[', write, ']');
  }

  /// An object in the list that is being written; `write()` writes its members.
  template <typename Write>
  requires requires(Write& write) { write(); }
  JsonMembers& entry(Write&& write) {
    comma();
    return enclose('{', write, '}');
  }

  /// JSON as it is, in the list that is being written.
  JsonMembers& entry(std::string_view value);

  bool empty() const { return text_.empty(); }
  /// With no more room than it needs: it may be kept for long.
  std::string take() const;

 private:
  void key(std::string_view key);
  void comma();

  template <typename Write>
  JsonMembers& enclose(char open, Write& write, char close) {
    text_ += open;
    write();
    text_ += close;
    return *this;
  }

  std::string text_;  // without the last brace
};

}  // namespace sluice::api
