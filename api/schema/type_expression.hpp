// TypeExpression: what the texts in data/types.json say about one field of a named type.
//
// `[]Container! 2 * ~name ^ = #name,protocol`: the type (`[]T` list, `{}T` map with free keys, `!`
// required), the number of the field in protobuf, and marks, in any order:
//   `*`       a pointer: zero values mean something
//   `~` KEY   a strategic merge patch merges the list's entries, told apart by KEY; without KEY the
//             entries are plain values
//   `^`       such a patch may name the keys that are to be kept ($retainKeys)
//   `=`       server-side apply owns the value as a whole
//   `#` A,B   what tells the list's entries apart in server-side apply, where that is not KEY
// A member `+T` stands for the fields of type T (in protobuf they are a message of their own, with
// the number that is the member's value). Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::api {

struct TypeExpression {
  std::string_view type;
  bool required = false;
  std::uint32_t number = 0;  ///< 0: not part of protobuf
  bool pointer = false;
  bool merge = false;
  std::string_view merge_key;
  bool retain_keys = false;
  bool atomic = false;
  std::string_view apply_keys;  ///< separated by commas
};

TypeExpression parse_type_expression(std::string_view text);

}  // namespace sluice::api
