// What a request goes through on its way to the handler, whichever protocol it came by: its head is
// checked before its body is read, its body is counted in the budget of bodies, and the handler is
// called. Together with Responder this is the seam between framing and the API.
//
// All on the worker's thread, except that a BodyHold may end on any.
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

/// Bytes of a body that are counted among those of its user and of all, until it is destroyed.
class BodyHold {
 public:
  BodyHold() = default;
  /// Counts `bytes` in all: what was announced, or what came so far. False: the user or all
  /// together have no room, and nothing changed.
  bool grow(const std::shared_ptr<Worker>& worker, const std::string& user, std::size_t bytes);
  BodyHold(BodyHold&& other) noexcept;
  BodyHold& operator=(BodyHold&& other) noexcept;
  ~BodyHold() { release(); }

 private:
  void release();

  std::shared_ptr<Worker> worker_;
  std::string user_;
  std::size_t bytes_ = 0;
};

/// An error of no kind of object, such as 404 for a path.
Reply transport_error(int code, std::string reason, std::string text);

// What framing says by itself.
Reply body_too_large(const ListenerLimits& limits);     ///< 413
Reply framing_too_large(const ListenerLimits& limits);  ///< of a body in chunks
Reply headers_too_large(const ListenerLimits& limits);  ///< 431
Reply too_slow();                                       ///< 408
Reply too_many_connections();                           ///< 503
Reply too_many_bodies();                                ///< 503
Reply too_much_untaken(const OutputBudget& budget);     ///< 429

/// Fills in what handlers ask for often, from the headers.
void read_known_headers(Request& request);

/// Why a request is refused before its body is read. Sets its path, query and user.
std::optional<Reply> judge_head(Worker& worker, std::string_view target, Request& request);

/// Why it does not get what it expects before it sends its body.
std::optional<Reply> judge_expectation(const Request& request);

/// Calls the handler with the complete request, which `responder` answers.
void carry_out(const std::shared_ptr<Worker>& worker, std::shared_ptr<Responder> responder,
               Request request, BodyHold hold);

/// In every answer, besides Date and those of its own.
inline constexpr std::pair<std::string_view, std::string_view> kAnswerHeaders[] = {
    {"Cache-Control", "no-cache, private"}, {"X-Content-Type-Options", "nosniff"}};

}  // namespace sluice::host
