// Forms: of which type each member is that a plugin's process may send: in its hello, in the answer
// to each hook, in what that says of the extension points, in requests and in notes. The table is
// what sdk/protocol/sluice-plugin.schema.json says, by hook.
//
// A member of another type, or one that is misspelt, would read as one that is not there, and so as
// consent. Here it is found before anything is read, and refused with a sentence that names the
// member, what came and what has to. What a member means is judged where it is used. A plugin that
// is newer than the host says what the host knows: kRevision.
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

/// What a hello has; what every answer, request and note may have, whatever it is about.
inline constexpr std::string_view kHelloForm = "hello";
inline constexpr std::string_view kAnyAnswer = "answer";
inline constexpr std::string_view kAnyRequest = "request";
inline constexpr std::string_view kAnyNote = "note";

/// All of them.
std::span<const MemberForm> member_forms();

Result<void> check_hello(const boost::json::object& hello);
/// With `failed` or `refused` nothing else of it is read.
Result<void> check_answer(std::string_view hook, const boost::json::object& answer);
/// REQUIRES: the host knows the note.
Result<void> check_note(std::string_view note, const boost::json::object& said);
/// Of a service that the host does not know: nothing.
Result<void> check_request(std::string_view service, const boost::json::object& request);

}  // namespace sluice::host
