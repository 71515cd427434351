#include "host/apiserver/request_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/text.hpp"
#include "host/apiserver/http_exchange.hpp"
#include "host/apiserver/url.hpp"

namespace sluice::host {
namespace {

/// A header that says where the request goes or who asks, and is there in two wordings: two readers
/// could take it for two requests.
std::optional<std::string_view> ambiguous_header(const Request& request) {
  for (const std::string_view name : {"host", "authorization", "impersonate-user"}) {
    const std::string* first = request.header(name);
    for (const auto& [each, value] : request.headers)
      if (each == name && value != *first) return name;
  }
  return std::nullopt;
}

bool reads_only(const Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

}  // namespace

Reply transport_error(int code, std::string reason, std::string text) {
  ApiError out;
  out.code = code;
  out.reason = std::move(reason);
  out.text = std::move(text);
  return error_reply(out);
}

bool hold_body(ByteHold& hold, Worker& worker, const std::string& user, std::size_t bytes) {
  if (bytes <= hold.bytes()) return true;
  const auto& limits = worker.limits();
  // In steps: not for each piece that arrives.
  const std::size_t wanted = std::max(bytes, std::min(2 * hold.bytes(), limits.body_bytes));
  return hold.grow(worker.shared().bodies, user, wanted, limits.bodies_bytes,
                   limits.bodies_per_user_bytes);
}

void hold_answer(Worker& worker, const std::string& user, Reply& reply) {
  struct Held {
    std::shared_ptr<const std::string> body;
    ByteHold hold;
  };
  const std::size_t size = reply.body ? reply.body->size() : 0;
  if (size <= kSmallAnswer) return;
  const std::size_t share = worker.limits().answers_per_user_bytes;
  const auto held = std::make_shared<Held>();
  if (!held->hold.grow(worker.shared().answers, user, size, std::numeric_limits<std::size_t>::max(),
                       share)) {
    reply = too_much_untaken(share, "of a user");
    return;
  }
  held->body = std::move(reply.body);
  reply.body = {held, held->body.get()};
}

Reply body_too_large(const ListenerLimits& limits) {
  return transport_error(
      413, "RequestEntityTooLarge",
      fmt::format("the body is larger than the limit of {} bytes", limits.body_bytes));
}

Reply framing_too_large(const ListenerLimits& limits) {
  return transport_error(
      413, "RequestEntityTooLarge",
      fmt::format("the chunk extensions and trailers of the body are larger than the limit of {} "
                  "bytes",
                  limits.header_bytes));
}

Reply headers_too_large(const ListenerLimits& limits) {
  return transport_error(
      431, "RequestHeaderFieldsTooLarge",
      fmt::format("the headers are larger than the limit of {} bytes", limits.header_bytes));
}

Reply too_slow() { return transport_error(408, "Timeout", "the request did not arrive in time"); }

Reply too_many_connections() {
  return error_reply(unavailable("too many connections, please try again later", 1));
}

Reply too_many_bodies() {
  return error_reply(unavailable("too many requests with large bodies, please try again later", 1));
}

Reply too_much_untaken(std::size_t most, std::string_view whose) {
  Reply reply = transport_error(
      429, "TooManyRequests",
      fmt::format("answers wait for the client to take them; the limit {} is {} bytes", whose,
                  most));
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

void read_known_headers(Request& request) {
  const auto take = [&request](std::string_view name, std::string& into) {
    if (const auto* value = request.header(name)) into = *value;
  };
  take("accept", request.accept);
  take("content-type", request.content_type);
  take("user-agent", request.user_agent);
}

std::optional<Reply> judge_head(Worker& worker, std::string_view target, Request& request) {
  const std::size_t longest = worker.limits().target_bytes;
  if (target.size() > longest)
    return transport_error(414, "RequestURITooLong",
                           fmt::format("the request target is longer than {} bytes", longest));
  if (const auto name = ambiguous_header(request))
    return error_reply(bad_request(fmt::format("the request has several {} headers", *name)));
  auto parsed = parse_target(target);
  if (!parsed) return error_reply(bad_request(parsed.error().text));
  request.path = std::move(parsed->path);
  request.query = std::move(parsed->query);
  const auto& shared = worker.shared();
  const ListenerOptions& options = shared.options;
  if (options.read_only && !reads_only(request) && !(options.but && options.but(request))) {
    Reply reply = transport_error(405, "MethodNotAllowed", "only GET and HEAD are served here");
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
  return shared.check ? shared.check(request) : std::nullopt;
}

std::optional<Reply> judge_expectation(const Request& request) {
  const auto* expected = request.header("expect");
  if (expected == nullptr || lower_ascii(*expected) == "100-continue") return std::nullopt;
  return transport_error(417, "ExpectationFailed", "only Expect: 100-continue is known");
}

void carry_out(const std::shared_ptr<Worker>& worker, std::shared_ptr<Responder> responder,
               Request request, ByteHold hold) {
  // The body is not read, and a watch would keep it for an hour.
  if (reads_only(request)) {
    request.body = std::string();
    hold = ByteHold();
  }
  const std::string user = request.user.user;
  const std::shared_ptr<OutputBudget> budget = responder->budget();
  auto exchange = std::make_shared<HttpExchange>(worker, std::move(responder), std::move(request),
                                                 std::move(hold));
  worker->take_turn(user, [own = worker.get(), budget, exchange = std::move(exchange)]() mutable {
    // Answers to those before it may have filled it since its head was judged.
    if (budget && budget->full())
      return exchange->reply(too_much_untaken(budget->most(), kOfConnection));
    own->shared().handler(std::move(exchange));
  });
}

}  // namespace sluice::host
