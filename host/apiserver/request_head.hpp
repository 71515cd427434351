// What a request goes through on its way to the handler, whichever protocol it came by: its head is
// checked before its body is read, its body is counted in the budget of bodies, and the handler is
// called. Together with Responder this is the seam between framing and the API.
//
// All on the worker's thread, except that a ByteHold may end on any.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/apiserver/exchange.hpp"
#include "host/apiserver/responder.hpp"
#include "host/apiserver/worker.hpp"

namespace sluice::host {

/// An answer that reaches also a client that takes little, and is not counted.
inline constexpr std::size_t kSmallAnswer = 4U << 10;

/// Counts `bytes` of a body in all: what was announced, or what came so far. False: the user or all
/// together have no room, and nothing changed.
bool hold_body(ByteHold& hold, Worker& worker, const std::string& user, std::size_t bytes);

/// Counts an answer, as long as its body is kept, among those that the user's clients have not
/// taken yet, over all connections; where these are too many already it becomes 429.
void hold_answer(Worker& worker, const std::string& user, Reply& reply);

/// An error of no kind of object, such as 404 for a path.
Reply transport_error(int code, std::string reason, std::string text);

// What framing says by itself.
Reply body_too_large(const ListenerLimits& limits);     ///< 413
Reply framing_too_large(const ListenerLimits& limits);  ///< of a body in chunks
Reply headers_too_large(const ListenerLimits& limits);  ///< 431
Reply too_slow();                                       ///< 408
Reply too_many_connections();                           ///< 503
Reply too_many_bodies();                                ///< 503
/// 429; `whose`: `of a user`.
Reply too_much_untaken(std::size_t most, std::string_view whose);
inline constexpr std::string_view kOfConnection = "of a connection";

/// Fills in what handlers ask for often, from the headers.
void read_known_headers(Request& request);

/// Why a request is refused before its body is read. Sets its path, query and user.
std::optional<Reply> judge_head(Worker& worker, std::string_view target, Request& request);

/// Why it does not get what it expects before it sends its body.
std::optional<Reply> judge_expectation(const Request& request);

/// Calls the handler with the complete request, which `responder` answers.
void carry_out(const std::shared_ptr<Worker>& worker, std::shared_ptr<Responder> responder,
               Request request, ByteHold hold);

/// In every answer, besides Date and those of its own.
inline constexpr std::pair<std::string_view, std::string_view> kAnswerHeaders[] = {
    {"Cache-Control", "no-cache, private"}, {"X-Content-Type-Options", "nosniff"}};

}  // namespace sluice::host
