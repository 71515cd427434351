// Messages: what the bodies of frames say (sdk/protocol/sluice-plugin.md), read; they are written
// with JsonMembers.
//
// Pure; any thread. What a process says is judged here as far as its form goes, and refused with a
// sentence; what it means is judged where it is used.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/json/json_members.hpp"
#include "core/base/result.hpp"

namespace sluice::host {

/// What means something else counts the protocol; what was only added counts its revision, which
/// the host says, so that a plugin which knows more does not say it.
inline constexpr int kProtocol = 1, kRevision = 1;

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

}  // namespace sluice::host
