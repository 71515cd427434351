#include "host/apiserver/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <cctype>
#include <exception>
#include <iterator>
#include <utility>

#include "host/apiserver/http_exchange.hpp"
#include "host/apiserver/url.hpp"
#include "host/base/log.hpp"

namespace sluice::host {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t kPiece = 64U << 10;         // handed to the wire at a time
constexpr std::size_t kMostAhead = 64U << 10;     // read while a stream runs
constexpr std::size_t kMostDiscarded = 8U << 20;  // read after the last answer
constexpr std::int64_t kLeaveMs = 2'000;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

ApiError plain_error(int code, std::string reason, std::string text) {
  ApiError out;
  out.code = code;
  out.reason = std::move(reason);
  out.text = std::move(text);
  return out;
}

}  // namespace

Connection::Connection(std::shared_ptr<Worker> worker, asio::ip::tcp::socket socket,
                       std::shared_ptr<const TlsContext> tls)
    : worker_(std::move(worker)), wire_(std::move(socket), std::move(tls)) {}

Connection::~Connection() = default;

void Connection::start() {
  boost::system::error_code error;
  const auto peer = wire_.socket().remote_endpoint(error);
  if (error) return close();
  peer_ = fmt::format("{}:{}", peer.address().to_string(), peer.port());
  worker_->add(shared_from_this());
  wait_for_request();
  set_deadline(worker_->limits().header_ms);
  watch_input();
}

void Connection::set_deadline(std::int64_t ms) {
  deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  last_taken_ = wire_.taken();
}

void Connection::wait_for_request() {
  state_ = State::kHead;
  parser_.reset();
  set_deadline(worker_->limits().idle_ms);
  if (waits_in_ != nullptr) return;
  waits_in_ = served_ ? &worker_->idle : &worker_->fresh;
  place_ = waits_in_->insert(waits_in_->end(), this);
}

void Connection::leave_queue() {
  if (waits_in_ == nullptr) return;
  waits_in_->erase(place_);
  waits_in_ = nullptr;
}

void Connection::watch_input() {
  if (reading_ || state_ == State::kClosed) return;
  reading_ = true;
  wire_.socket().async_wait(asio::ip::tcp::socket::wait_read,
                            [self = shared_from_this()](const boost::system::error_code& error) {
                              self->reading_ = false;
                              if (!error) self->readable();
                            });
}

void Connection::watch_output() {
  if (writing_ || state_ == State::kClosed) return;
  writing_ = true;
  wire_.socket().async_wait(asio::ip::tcp::socket::wait_write,
                            [self = shared_from_this()](const boost::system::error_code& error) {
                              self->writing_ = false;
                              if (error || self->state_ == State::kClosed) return;
                              if (!self->wire_.flush()) return self->close();
                              self->pump();
                            });
}

void Connection::readable() {
  // While a request is being answered what follows it stays in the kernel's buffers.
  if (state_ == State::kClosed || state_ == State::kHandling || state_ == State::kAnswering) return;
  const auto self = shared_from_this();
  const bool began = !in_.empty() || parser_.has_value();
  const auto input = wire_.receive(in_, worker_->scratch());
  if (input == Wire::Input::kEnded || input == Wire::Input::kBroken) return received(input);
  if (wire_.unsent() > 0) watch_output();  // of the handshake
  if (state_ == State::kLeaving) {
    discarded_ += in_.size();
    in_.clear();
    if (discarded_ > kMostDiscarded) return close();
  } else if (state_ == State::kStreaming) {
    if (in_.size() > kMostAhead) return close();
  } else if (state_ == State::kHead || state_ == State::kBody) {
    // The first byte of a request that follows another one: from now on its head has to come.
    if (state_ == State::kHead && served_ && !began && !in_.empty())
      set_deadline(worker_->limits().header_ms);
    return process();
  }
  watch_input();
}

void Connection::received(Wire::Input) {
  // A client that closes only its half after a request would be served by a patient server; the
  // clients of this API close both, and a watch has to notice.
  close();
}

void Connection::process() {
  if (processing_) return;
  processing_ = true;
  while ((state_ == State::kHead || state_ == State::kBody) && !in_.empty()) {
    const bool goes_on = state_ == State::kHead ? parse_head() : parse_body();
    if (!goes_on) break;
  }
  processing_ = false;
  if (in_.empty() && in_.capacity() > kMostAhead) in_ = std::string();
  if (state_ == State::kHead || state_ == State::kBody || state_ == State::kStreaming ||
      state_ == State::kLeaving)
    watch_input();
}

bool Connection::parse_head() {
  const auto& limits = worker_->limits();
  if (!parser_) {
    // Clients may send empty lines between requests.
    const std::size_t begin = std::min(in_.find_first_not_of("\r\n"), in_.size());
    in_.erase(0, begin);
    if (in_.empty()) return false;
    parser_.emplace();
    head_bytes_ = 0;
    parser_->header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    parser_->body_limit(limits.body_bytes);
  }
  boost::system::error_code error;
  const std::size_t used = parser_->put(asio::buffer(in_), error);
  in_.erase(0, used);
  head_bytes_ += used;
  // The parser's own limit is one of what it has not consumed yet.
  const std::size_t size = head_bytes_ + (parser_->is_header_done() ? 0 : in_.size());
  if (size > limits.header_bytes) {
    refuse_parse(http::error::header_limit);
    return false;
  }
  if (error == http::error::need_more) return false;
  if (error) {
    refuse_parse(error);
    return false;
  }
  if (!parser_->is_header_done()) return used > 0;
  head_complete();
  return true;
}

void Connection::refuse_parse(const boost::system::error_code& error) {
  const auto& limits = worker_->limits();
  if (error == http::error::body_limit)
    return refuse(plain_error(
        413, "RequestEntityTooLarge",
        fmt::format("the body is larger than the limit of {} bytes", limits.body_bytes)));
  if (error == http::error::header_limit)
    return refuse(plain_error(
        431, "RequestHeaderFieldsTooLarge",
        fmt::format("the headers are larger than the limit of {} bytes", limits.header_bytes)));
  if (error == http::error::end_of_stream) return close();
  refuse(bad_request("this is no HTTP/1.1 request: " + error.message()));
}

void Connection::take_head() {
  auto& message = parser_->get();
  http10_ = message.version() < 11;
  keep_alive_ = parser_->keep_alive() && !turned_away_ && !worker_->shared().stopping;
  request_ = Request();
  request_.method = std::string(view(message.method_string()));
  head_request_ = request_.method == "HEAD";
  request_.peer = peer_;
  if (!served_) client_ = wire_.client();
  served_ = true;
  request_.certificate = client_;
  for (const auto& field : message)
    request_.headers.emplace_back(lower(view(field.name_string())), view(field.value()));
  const auto take = [this](std::string_view name, std::string& into) {
    if (const auto* value = request_.header(name)) into = *value;
  };
  take("accept", request_.accept);
  take("content-type", request_.content_type);
  take("user-agent", request_.user_agent);
}

/// Anything about the length of the body that two readers could understand differently.
bool Connection::ambiguous_length() const {
  const auto& message = parser_->get();
  const auto lengths = message.count(http::field::content_length);
  const auto codings = message.count(http::field::transfer_encoding);
  if (lengths + codings > 1 || (codings > 0 && http10_)) return true;
  const auto length = view(message[http::field::content_length]);
  if (length.find_first_not_of("0123456789") != std::string_view::npos) return true;
  return codings > 0 && lower(view(message[http::field::transfer_encoding])) != "chunked";
}

std::optional<Reply> Connection::judge_head() {
  auto& shared = worker_->shared();
  if (turned_away_)
    return error_reply(unavailable("too many connections, please try again later", 1));
  if (ambiguous_length()) {
    keep_alive_ = false;
    return error_reply(bad_request("the length of the body is ambiguous"));
  }
  const auto raw = view(parser_->get().target());
  if (raw.size() > worker_->limits().target_bytes)
    return error_reply(plain_error(
        414, "RequestURITooLong",
        fmt::format("the request target is longer than {} bytes", worker_->limits().target_bytes)));
  auto target = parse_target(raw);
  if (!target) return error_reply(bad_request(target.error().text));
  request_.path = std::move(target->path);
  request_.query = std::move(target->query);
  if (shared.options.read_only && request_.method != "GET" && !head_request_) {
    Reply reply =
        error_reply(plain_error(405, "MethodNotAllowed", "only GET and HEAD are served here"));
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
  if (shared.check)
    if (auto refused = shared.check(request_)) return refused;
  if (!hold_body())
    return error_reply(
        unavailable("too many requests with large bodies, please try again later", 1));
  const auto* expected = request_.header("expect");
  if (expected != nullptr && lower(*expected) != "100-continue")
    return error_reply(plain_error(417, "ExpectationFailed", "only Expect: 100-continue is known"));
  return std::nullopt;
}

void Connection::head_complete() {
  worker_->shared().requests.fetch_add(1, std::memory_order_relaxed);
  take_head();
  if (auto refused = judge_head()) return refuse(std::move(*refused));
  leave_queue();
  state_ = State::kBody;
  set_deadline(worker_->limits().body_ms);
  parser_->eager(true);
  if (parser_->is_done()) return dispatch();
  const bool waits = request_.header("expect") != nullptr && !http10_ && in_.empty();
  if (waits && !wire_.send("HTTP/1.1 100 Continue\r\n\r\n")) close();
}

bool Connection::parse_body() {
  boost::system::error_code error;
  const std::size_t used = parser_->put(asio::buffer(in_), error);
  in_.erase(0, used);
  if (error && error != http::error::need_more) {
    refuse_parse(error);
    return false;
  }
  if (!parser_->is_done()) return !error && used > 0;
  dispatch();
  return true;
}

bool Connection::hold_body() {
  const auto& limits = worker_->limits();
  const auto length = parser_->content_length();
  if (parser_->is_done() || (length && *length == 0)) return true;
  held_ = length ? static_cast<std::size_t>(*length) : limits.body_bytes;
  if (worker_->shared().bodies.fetch_add(held_) + held_ <= limits.bodies_bytes) return true;
  release_body();
  return false;
}

void Connection::release_body() {
  worker_->shared().bodies.fetch_sub(held_);
  held_ = 0;
}

void Connection::refuse(ApiError error) { refuse(error_reply(error)); }

void Connection::refuse(Reply reply) {
  // Whether the body is read or not decides if another request can follow.
  if (!parser_ || !parser_->is_done()) keep_alive_ = false;
  state_ = State::kHandling;
  leave_queue();
  answer(std::move(reply));
}

void Connection::dispatch() {
  request_.body = std::move(parser_->get().body());
  parser_.reset();
  state_ = State::kHandling;
  deadline_ = SteadyTime::max();
  auto exchange = std::make_shared<HttpExchange>(shared_from_this(), std::move(request_));
  try {
    worker_->shared().handler(std::move(exchange));
  } catch (const std::exception& error) {
    // Dropped without an answer, the exchange answers 500.
    log(LogLevel::kError, "api", "a request ended in an exception", {{"what", error.what()}});
  }
}

std::string Connection::head_text(int status, std::string_view content_type,
                                  const Headers& headers) {
  std::string out =
      fmt::format("HTTP/1.{} {} {}\r\n", http10_ ? 0 : 1, status,
                  view(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)))));
  out += worker_->date();
  out += "Cache-Control: no-cache, private\r\nX-Content-Type-Options: nosniff\r\n";
  if (!content_type.empty()) out.append("Content-Type: ").append(content_type).append("\r\n");
  for (const auto& [name, value] : headers) {
    // A value may quote what a client sent.
    if (value.find_first_of("\r\n") != std::string::npos) continue;
    out.append(name).append(": ").append(value).append("\r\n");
  }
  if (!keep_alive_) out += "Connection: close\r\n";
  if (keep_alive_ && http10_) out += "Connection: keep-alive\r\n";
  return out;
}

void Connection::answer(Reply reply) {
  if (state_ != State::kHandling) return;
  if (worker_->shared().stopping) keep_alive_ = false;
  state_ = State::kAnswering;
  set_deadline(worker_->limits().stall_ms);
  std::string text = head_text(reply.status, reply.content_type, reply.headers);
  const std::size_t size = reply.body ? reply.body->size() : 0;
  if (reply.status != 204 && reply.status != 304)
    fmt::format_to(std::back_inserter(text), "Content-Length: {}\r\n", size);
  text += "\r\n";
  body_sent_ = 0;
  body_ = head_request_ || size == 0 ? nullptr : std::move(reply.body);
  if (body_ && size <= kPiece) {
    text += *body_;
    body_ = nullptr;
  }
  if (!wire_.send(text)) return close();
  pump();
}

void Connection::answer_stream(int status, std::string_view content_type, const Headers& headers,
                               std::shared_ptr<StreamQueue> queue) {
  if (state_ != State::kHandling) return queue->client_gone();
  worker_->shared().open_streams.fetch_add(1, std::memory_order_relaxed);
  state_ = State::kStreaming;
  queue_ = std::move(queue);
  release_body();
  if (http10_) keep_alive_ = false;
  std::string text = head_text(status, content_type, headers);
  text += http10_ ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n";
  if (!wire_.send(text)) return close();
  if (worker_->shared().stopping || head_request_) {
    keep_alive_ = false;
    queue_->finish();
  }
  if (!processing_) watch_input();
  pump();
}

void Connection::pump() {
  if (pumping_ || state_ == State::kClosed) return;
  const auto self = shared_from_this();
  pumping_ = true;
  bool ok = true;
  while (ok && wire_.unsent() == 0) {
    if (body_) {
      const std::size_t size = std::min(kPiece, body_->size() - body_sent_);
      ok = wire_.send(std::string_view(*body_).substr(body_sent_, size));
      body_sent_ += size;
      if (body_sent_ == body_->size()) body_ = nullptr;
    } else if (queue_) {
      std::string piece;
      queue_->take(piece, kPiece, http10_);
      if (piece.empty()) break;
      if (!head_request_) ok = wire_.send(piece);
    } else {
      break;
    }
  }
  pumping_ = false;
  if (!ok) return close();
  if (queue_) queue_->sent(wire_.unsent());
  const bool sent_all = wire_.unsent() == 0;
  if (!sent_all) {
    const bool answers = state_ == State::kAnswering || state_ == State::kStreaming;
    if (!writing_ && answers) set_deadline(worker_->limits().stall_ms);
    return watch_output();
  }
  if (state_ == State::kLeaving) return wire_.finish();
  if (state_ == State::kAnswering || (queue_ && queue_->complete())) return answer_done();
  if (state_ == State::kStreaming) {
    deadline_ = SteadyTime::max();
    queue_->call_ready();
  }
}

void Connection::answer_done() {
  release_body();
  if (queue_) {
    worker_->shared().open_streams.fetch_sub(1, std::memory_order_relaxed);
    queue_->client_gone();
    queue_ = nullptr;
  }
  if (!keep_alive_ || worker_->shared().stopping) return leave();
  wait_for_request();
  if (!in_.empty()) set_deadline(worker_->limits().header_ms);
  if (processing_) return;
  if (!in_.empty()) return process();
  watch_input();
}

void Connection::leave() {
  // Closing a socket with unread input would destroy the answer on its way: wait for the client to
  // close, for a while.
  state_ = State::kLeaving;
  leave_queue();
  set_deadline(kLeaveMs);
  discarded_ = in_.size();
  in_.clear();
  wire_.finish();
  if (!processing_) watch_input();
}

void Connection::expire() {
  // A client that takes something now and then is slow, not stalled.
  if ((state_ == State::kAnswering || state_ == State::kStreaming) && wire_.taken() > last_taken_)
    return set_deadline(worker_->limits().stall_ms);
  const bool waits_between = state_ == State::kHead && served_ && !parser_ && in_.empty();
  if (state_ != State::kLeaving && !waits_between)
    worker_->shared().timed_out.fetch_add(1, std::memory_order_relaxed);
  if (state_ == State::kBody || (state_ == State::kHead && parser_ && !wire_.handshaking())) {
    keep_alive_ = false;
    return refuse(plain_error(408, "Timeout", "the request did not arrive in time"));
  }
  close();
}

void Connection::give_up() {
  if (state_ != State::kStreaming) return;
  worker_->shared().given_up.fetch_add(1, std::memory_order_relaxed);
  close();
}

void Connection::drain() {
  keep_alive_ = false;
  if (state_ == State::kHead && !parser_ && in_.empty()) return leave();
  if (queue_) queue_->finish();
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  const auto self = shared_from_this();
  state_ = State::kClosed;
  leave_queue();
  release_body();
  body_ = nullptr;
  wire_.close();
  if (queue_) {
    worker_->shared().open_streams.fetch_sub(1, std::memory_order_relaxed);
    const auto queue = std::exchange(queue_, nullptr);
    queue->client_gone();
  }
  worker_->remove(self);
  worker_->shared().connection_closed();
}

}  // namespace sluice::host
