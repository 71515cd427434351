// What a plugin in a process of its own asks of the host, between and inside calls, brought to the
// same C tables that a plugin inside of the host calls (sdk/include/sluice/svc/): so both are
// judged by the same code.
//
// Notes may be taken on any thread; requests are answered on the thread of the call, where objects
// and state may be used. Nothing of it throws.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "host/plugins/process/messages.hpp"
#include "sluice/abi.h"

namespace sluice::host {

/// An error: the note is malformed. One whose name is not known is logged and left.
Result<void> take_note(const sluice_host_t* host, const Message& note);

/// The whole reply to a request.
std::string reply_to(const sluice_host_t* host, const Message& request);
/// The same where nobody takes care of the call any more.
std::string reply_not_now(const Message& request);
/// The same where it has too many bytes.
std::string reply_too_long(const Message& request, std::size_t bytes);

}  // namespace sluice::host
