// Messages: what the bodies of frames say (sdk/protocol/sluice-plugin.md), read and written.
//
// Pure; any thread. What a process says is judged here as far as its form goes, and refused with a
// sentence; what it means is judged where it is used.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::host {

inline constexpr int kProtocol = 1;

/// A message of either side: exactly one of the members below, whose value is its subject, and what
/// belongs to it.
struct Message {
  enum class Type : std::uint8_t {
    kHello,    ///< both sides, once
    kCall,     ///< the host asks: `hook`
    kAnswer,   ///< of the plugin, to the call of that number
    kRequest,  ///< the plugin asks: `service`
    kReply,    ///< of the host, to the request of that number
    kNote      ///< of the plugin; nobody answers
  };
  Type type = Type::kNote;
  std::uint64_t number = 0;  ///< of a call, answer, request or reply
  std::string name;          ///< hook, service or note
  boost::json::object body;  ///< the whole message; of a hello, what it says
};

/// Error: it is none.
Result<Message> parse_message(std::string_view frame);

/// Writes a message member by member.
class MessageText {
 public:
  MessageText& text(std::string_view key, std::string_view value);
  MessageText& number(std::string_view key, std::int64_t value);
  MessageText& boolean(std::string_view key, bool value);
  /// JSON as it is; empty: null.
  MessageText& document(std::string_view key, std::string_view value);
  /// The members of another message after these.
  MessageText& members(const MessageText& other);
  std::string take() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  void key(std::string_view key);
  std::string text_;  // without the last brace
};

}  // namespace sluice::host
