#include "host/apiserver/http1_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <cctype>
#include <iterator>
#include <utility>

#include "core/base/text.hpp"
#include "host/apiserver/request_head.hpp"

namespace sluice::host {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t kPiece = 64U << 10;         // handed to the wire at a time
constexpr std::size_t kMostAhead = 64U << 10;     // read while a stream runs
constexpr std::size_t kMostDiscarded = 8U << 20;  // read after the last answer
constexpr std::int64_t kLeaveMs = 2'000;
// What frames a body: chunk sizes and their extensions, trailers. A chunk of one byte takes five
// more, so they are counted beside the body's own bytes.
constexpr std::size_t kFramingPerByte = 8;
constexpr std::size_t kHeldAtFirst = 64U << 10;       // of a body without an announced length
constexpr std::uint64_t kMostReadInVain = 16U << 10;  // of the body of a refused request

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

/// The parser reads over a line's end within a quoted chunk extension, where none may be (RFC 9112,
/// section 7.1.1), and another reader takes it for the end of the line.
void refuse_line_ends(std::uint64_t, beast::string_view extensions,
                      boost::system::error_code& error) {
  if (view(extensions).find_first_of("\r\n") != std::string_view::npos)
    error = http::error::bad_chunk_extension;
}

}  // namespace

Http1Connection::Http1Connection(std::shared_ptr<Worker> worker, asio::ip::tcp::socket socket)
    : Connection(std::move(worker), std::move(socket), nullptr) {}

void Http1Connection::begin(std::string first) {
  const SteadyTime deadline = deadline_;
  wait_for_request();
  deadline_ = deadline;
  in_ = std::move(first);
  process();
}

void Http1Connection::wait_for_request() {
  state_ = State::kHead;
  parser_.reset();
  set_deadline(worker_->limits().idle_ms);
  enter_queue(served_ ? worker_->idle : worker_->fresh);
}

void Http1Connection::readable() {
  // While a request is being answered what follows it stays in the kernel's buffers.
  if (state_ == State::kHandling || state_ == State::kAnswering) return;
  const auto self = shared_from_this();
  const bool began = !in_.empty() || parser_.has_value();
  // Asked here, not when the last answer left: many that were let through then would read together.
  if (state_ == State::kHead && served_ && !began && worker_->let_wait(user_, self)) return;
  const auto input = wire_.receive(in_, worker_->scratch());
  // A client that closes only its half after a request would be served by a patient server; the
  // clients of this API close both, and a watch has to notice.
  if (input == Wire::Input::kEnded || input == Wire::Input::kBroken) return close();
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

void Http1Connection::process() {
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

bool Http1Connection::parse_head() {
  const auto& limits = worker_->limits();
  if (!parser_) {
    // Clients may send empty lines between requests.
    const std::size_t begin = std::min(in_.find_first_not_of("\r\n"), in_.size());
    in_.erase(0, begin);
    if (in_.empty()) return false;
    parser_.emplace();
    parser_->on_chunk_header(refuse_line_ends);
    head_bytes_ = body_wire_bytes_ = 0;
    folds_ = false;
    last_of_head_ = '\0';
    parser_->header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    parser_->body_limit(limits.body_bytes);
  }
  boost::system::error_code error;
  const std::size_t used = parser_->put(asio::buffer(in_), error);
  note_folds(std::string_view(in_).substr(0, used));
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

/// A header that goes on in the next line is understood in two ways by two readers, and the parser
/// joins it without a word.
void Http1Connection::note_folds(std::string_view head) {
  for (const char c : head) {
    folds_ = folds_ || (last_of_head_ == '\n' && (c == ' ' || c == '\t'));
    last_of_head_ = c;
  }
}

void Http1Connection::refuse_parse(const boost::system::error_code& error) {
  const auto& limits = worker_->limits();
  if (error == http::error::body_limit) return refuse(body_too_large(limits));
  if (error == http::error::header_limit) return refuse(headers_too_large(limits));
  if (error == http::error::end_of_stream) return close();
  refuse(bad_request("this is no HTTP/1.1 request: " + error.message()));
}

void Http1Connection::take_head() {
  auto& message = parser_->get();
  http10_ = message.version() < 11;
  keep_alive_ = parser_->keep_alive() && !turned_away_ && !worker_->shared().stopping;
  request_ = Request();
  request_.method = std::string(view(message.method_string()));
  head_request_ = request_.method == "HEAD";
  request_.peer = peer_;
  served_ = true;
  request_.certificate = client();
  for (const auto& field : message)
    request_.headers.emplace_back(lower_ascii(view(field.name_string())), view(field.value()));
  read_known_headers(request_);
}

/// Anything about the length of the body that two readers could understand differently.
bool Http1Connection::ambiguous_length() const {
  const auto& message = parser_->get();
  const auto lengths = message.count(http::field::content_length);
  const auto codings = message.count(http::field::transfer_encoding);
  if (lengths + codings > 1 || (codings > 0 && http10_)) return true;
  const auto length = view(message[http::field::content_length]);
  if (length.find_first_not_of("0123456789") != std::string_view::npos) return true;
  return codings > 0 && lower_ascii(view(message[http::field::transfer_encoding])) != "chunked";
}

std::optional<Reply> Http1Connection::judge() {
  if (turned_away_) return too_many_connections();
  if (ambiguous_length()) {
    keep_alive_ = false;
    return error_reply(bad_request("the length of the body is ambiguous"));
  }
  if (folds_) {
    keep_alive_ = false;
    return error_reply(bad_request("a header goes on in the next line (obs-fold)"));
  }
  const auto hosts = parser_->get().count(http::field::host);
  if (hosts > 1 || (hosts == 0 && !http10_)) {
    keep_alive_ = false;
    return error_reply(
        bad_request(fmt::format("the request has {} Host headers, it needs one", hosts)));
  }
  if (auto refused = judge_head(*worker_, view(parser_->get().target()), request_)) return refused;
  if (!parser_->is_done()) {
    const auto announced = parser_->content_length();
    const std::size_t first = std::min(kHeldAtFirst, worker_->limits().body_bytes);
    if (!hold_body(hold_, *worker_, request_.user.user,
                   announced ? static_cast<std::size_t>(*announced) : first))
      return too_many_bodies();
  }
  return judge_expectation(request_);
}

void Http1Connection::head_complete() {
  worker_->shared().requests.fetch_add(1, std::memory_order_relaxed);
  take_head();
  if (auto refused = judge()) {
    if (!reads_in_vain()) return refuse(std::move(*refused));
    refusal_ = std::move(*refused);
  } else {
    leave_queue();  // one that is refused stays among those that may be closed for others
  }
  state_ = State::kBody;
  const std::int64_t body_ms = worker_->limits().body_ms;
  set_deadline(refusal_ ? std::min(kLeaveMs, body_ms) : body_ms);
  parser_->eager(true);
  if (parser_->is_done()) return dispatch();
  const bool waits = request_.header("expect") != nullptr && !http10_ && in_.empty();
  if (waits && !wire_.send("HTTP/1.1 100 Continue\r\n\r\n")) close();
}

/// The body of a request that is refused is read where it is short: so the client's next request
/// needs no other connection, and no handshake. Who asks before it sends is answered at once.
bool Http1Connection::reads_in_vain() const {
  const auto announced = parser_->content_length();
  return keep_alive_ && !parser_->is_done() && announced && *announced <= kMostReadInVain &&
         request_.header("expect") == nullptr;
}

bool Http1Connection::parse_body() {
  boost::system::error_code error;
  const std::size_t used = parser_->put(asio::buffer(in_), error);
  in_.erase(0, used);
  body_wire_bytes_ += used;
  if (error && error != http::error::need_more) {
    refuse_parse(error);
    return false;
  }
  // What waits for its end of line was not parsed yet, and counts as well.
  const std::size_t size = parser_->get().body().size();
  const std::size_t most = worker_->limits().header_bytes + (1 + kFramingPerByte) * size;
  if (body_wire_bytes_ + (parser_->is_done() ? 0 : in_.size()) > most) {
    refuse(framing_too_large(worker_->limits()));
    return false;
  }
  if (!hold_body(hold_, *worker_, request_.user.user, size)) {
    refuse(too_many_bodies());
    return false;
  }
  if (!parser_->is_done()) return !error && used > 0;
  dispatch();
  return true;
}

void Http1Connection::refuse(const ApiError& error) { refuse(error_reply(error)); }

void Http1Connection::refuse(Reply reply) {
  if (refusal_) reply = std::move(*std::exchange(refusal_, std::nullopt));  // it came first
  // Whether the body is read or not decides if another request can follow.
  if (!parser_ || !parser_->is_done()) keep_alive_ = false;
  state_ = State::kHandling;
  hold_ = ByteHold();
  leave_queue();
  answer(std::move(reply));
}

void Http1Connection::dispatch() {
  if (refusal_) return refuse(std::move(*std::exchange(refusal_, std::nullopt)));
  request_.body = std::move(parser_->get().body());
  parser_.reset();
  state_ = State::kHandling;
  deadline_ = SteadyTime::max();
  user_ = request_.user.user;
  carry_out(worker_, std::shared_ptr<Responder>(shared_from_this(), this), std::move(request_),
            std::move(hold_));
}

std::string Http1Connection::head_text(int status, std::string_view content_type,
                                       const Headers& headers) {
  std::string out =
      fmt::format("HTTP/1.{} {} {}\r\n", http10_ ? 0 : 1, status,
                  view(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)))));
  out.append("Date: ").append(worker_->date()).append("\r\n");
  for (const auto& [name, value] : kAnswerHeaders)
    out.append(name).append(": ").append(value).append("\r\n");
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

void Http1Connection::answer(Reply reply) {
  if (state_ != State::kHandling) return;
  if (worker_->shared().stopping) keep_alive_ = false;
  state_ = State::kAnswering;
  set_deadline(worker_->limits().stall_ms);
  if (!head_request_) hold_answer(*worker_, user_, reply);
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

void Http1Connection::answer_stream(int status, std::string_view content_type,
                                    const Headers& headers, std::shared_ptr<StreamQueue> queue) {
  if (state_ != State::kHandling) return queue->client_gone();
  worker_->shared().open_streams.fetch_add(1, std::memory_order_relaxed);
  state_ = State::kStreaming;
  queue_ = std::move(queue);
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

void Http1Connection::pump() {
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
    if (!watching_output() && answers) set_deadline(worker_->limits().stall_ms);
    return watch_output();
  }
  if (state_ == State::kLeaving) return wire_.finish();
  if (state_ == State::kAnswering || (queue_ && queue_->complete())) return answer_done();
  if (state_ == State::kStreaming) {
    deadline_ = SteadyTime::max();
    queue_->call_ready();
  }
}

void Http1Connection::answer_done() {
  if (queue_) {
    worker_->shared().open_streams.fetch_sub(1, std::memory_order_relaxed);
    queue_->client_gone();
    queue_ = nullptr;
  }
  if (!keep_alive_ || worker_->shared().stopping) return leave();
  wait_for_request();
  if (!in_.empty()) set_deadline(worker_->limits().header_ms);
  if (!processing_) read_next();
}

/// Of a user who has much in hand, later; of what is still to be read readable() says so.
void Http1Connection::read_next() {
  if (in_.empty()) return watch_input();
  if (!worker_->let_wait(user_, shared_from_this())) process();
}

void Http1Connection::go_on() {
  if (!in_.empty()) return process();
  readable();
}

void Http1Connection::leave() {
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

void Http1Connection::expire() {
  // A client that takes something now and then is slow, not stalled.
  if ((state_ == State::kAnswering || state_ == State::kStreaming) && wire_.taken() > last_taken_)
    return set_deadline(worker_->limits().stall_ms);
  const bool waits_between = state_ == State::kHead && served_ && !parser_ && in_.empty();
  if (state_ != State::kLeaving && !waits_between)
    worker_->shared().timed_out.fetch_add(1, std::memory_order_relaxed);
  if (state_ == State::kBody || (state_ == State::kHead && parser_)) {
    keep_alive_ = false;
    return refuse(too_slow());
  }
  close();
}

void Http1Connection::give_up() {
  if (state_ != State::kStreaming) return;
  worker_->shared().given_up.fetch_add(1, std::memory_order_relaxed);
  close();
}

void Http1Connection::drain() {
  keep_alive_ = false;
  if (state_ == State::kHead && !parser_ && in_.empty()) return leave();
  if (queue_) queue_->finish();
}

void Http1Connection::closing() {
  state_ = State::kClosed;
  hold_ = ByteHold();
  body_ = nullptr;
  if (!queue_) return;
  worker_->shared().open_streams.fetch_sub(1, std::memory_order_relaxed);
  const auto queue = std::exchange(queue_, nullptr);
  queue->client_gone();
}

}  // namespace sluice::host
