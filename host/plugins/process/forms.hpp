// Forms: of which type each member is that a plugin's process may send: in its hello, in the answer
// to each hook, in what that says of the extension points, in requests and in notes. The table is
// what sdk/protocol/sluice-plugin.schema.json says, by hook.
//
// A member of another type would read as one that is not there, and so as consent. Here it is found
// before anything is read, and refused with a sentence that names the member, what came and what
// has to. What a member means is judged where it is used. Members that are not known are left
// alone.
//
// Constants and pure functions; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::host {

enum class MemberType : std::uint8_t {
  kText,
  kWord,    ///< one of `words`
  kNumber,  ///< whole, between `least` and `most`
  kYesNo,   ///< true or false
  kObject,
  kTexts,    ///< a list of texts
  kObjects,  ///< a list of objects; `each` says what they have
  kPoints,   ///< an object of objects; the key of each says what it has
  kAny
};

struct MemberForm {
  std::string_view of;  ///< a hook, service, note, extension point, or an `each`
  std::string_view name;
  MemberType type = MemberType::kAny;
  bool required = false;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::string_view each = {};
  std::span<const std::string_view> words = {};
};

/// What every answer may have, whatever the hook.
inline constexpr std::string_view kAnyAnswer = "answer";
/// What a hello has.
inline constexpr std::string_view kHelloForm = "hello";

/// All of them.
std::span<const MemberForm> member_forms();

/// The members of the answer to `hook`; with `failed` or `refused` it says nothing else.
Result<void> check_answer(std::string_view hook, const boost::json::object& answer);
/// The members of anything else: a note, a request, a hello. `of`: as in MemberForm; `whose`: `its
/// note log`.
Result<void> check_members(std::string_view of, const boost::json::object& said,
                           std::string_view whose);

}  // namespace sluice::host
