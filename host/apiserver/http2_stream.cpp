#include "host/apiserver/http2_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice::host {
Http2Stream::Http2Stream(std::shared_ptr<Http2Connection> connection, std::int32_t id)
    : connection_(std::move(connection)), id_(id) {
  connection_->carried().fetch_add(1, std::memory_order_relaxed);
}

Http2Stream::~Http2Stream() { connection_->carried().fetch_sub(1, std::memory_order_relaxed); }

void Http2Stream::set_deadline(std::int64_t ms) {
  deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  connection_->look_at(deadline_);
}

std::optional<Reply> Http2Stream::judge(const H2Head& head, bool complete, bool turned_away) {
  const auto& worker = connection_->worker();
  if (turned_away) return too_many_connections();
  if (head.too_large) return headers_too_large(worker->limits());
  if (connection_->budget()->full())
    return too_much_untaken(connection_->budget()->most(), kOfConnection);
  if (auto refused = judge_head(*worker, head.target, request_)) return refused;
  user_ = request_.user.user;
  if (complete) return std::nullopt;
  if (head.length && *head.length > worker->limits().body_bytes)
    return body_too_large(worker->limits());
  if (head.length && !hold_body(hold_, *worker, user_, *head.length)) return too_many_bodies();
  return judge_expectation(request_);
}

void Http2Stream::begin(H2Head head, Request request, bool complete, bool turned_away) {
  request_ = std::move(request);
  request_.method = std::move(head.method);
  request_.headers = std::move(head.headers);
  head_request_ = request_.method == "HEAD";
  read_known_headers(request_);
  if (auto refused = judge(head, complete, turned_away)) return refuse(std::move(*refused));
  if (complete) return dispatch();
  set_deadline(connection_->worker()->limits().body_ms);
  if (request_.header("expect") != nullptr) connection_->session().go_on(id_);
}

void Http2Stream::body(std::string_view piece) {
  if (state_ != State::kBody) return;  // it is refused already
  const auto& limits = connection_->worker()->limits();
  if (request_.body.size() + piece.size() > limits.body_bytes)
    return refuse(body_too_large(limits));
  // What was not announced is counted as it comes.
  const std::size_t size = request_.body.size() + piece.size();
  if (!hold_body(hold_, *connection_->worker(), user_, size)) return refuse(too_many_bodies());
  request_.body += piece;
}

void Http2Stream::complete() {
  if (state_ == State::kBody) dispatch();
}

void Http2Stream::refuse(Reply reply) {
  state_ = State::kHandling;
  request_ = Request();
  hold_ = ByteHold();
  answer(std::move(reply));
}

void Http2Stream::dispatch() {
  state_ = State::kHandling;
  deadline_ = SteadyTime::max();
  carry_out(connection_->worker(), shared_from_this(), std::move(request_), std::move(hold_));
}

void Http2Stream::send_head(int status, std::string_view content_type, const Headers& headers,
                            std::optional<std::size_t> length, bool body) {
  Headers all{{"date", connection_->worker()->date()}};
  for (const auto& [name, value] : kAnswerHeaders) all.emplace_back(name, value);
  if (!content_type.empty()) all.emplace_back("content-type", content_type);
  if (length) all.emplace_back("content-length", fmt::format("{}", *length));
  all.insert(all.end(), headers.begin(), headers.end());
  connection_->session().answer(id_, status, all, body, queue_ != nullptr);
}

void Http2Stream::answer(Reply reply) {
  if (state_ != State::kHandling) return;
  // A client that does not take its answers loses new ones once the budget is full.
  if (connection_->budget()->full() && reply.body && reply.body->size() > kSmallAnswer)
    return give_up();
  state_ = State::kAnswering;
  if (!head_request_) hold_answer(*connection_->worker(), user_, reply);
  const std::size_t size = reply.body ? reply.body->size() : 0;
  std::optional<std::size_t> length = size;
  if (reply.status == 204 || reply.status == 304) length.reset();
  if (!head_request_ && size > 0) {
    body_ = std::move(reply.body);
    counted_ = size;
    connection_->budget()->add(size);
  }
  set_deadline(connection_->worker()->limits().stall_ms);
  send_head(reply.status, reply.content_type, reply.headers, length, body_ != nullptr);
  connection_->flush_soon();
}

void Http2Stream::answer_stream(int status, std::string_view content_type, const Headers& headers,
                                std::shared_ptr<StreamQueue> queue) {
  if (state_ != State::kHandling) return queue->client_gone();
  auto& shared = connection_->worker()->shared();
  shared.open_streams.fetch_add(1, std::memory_order_relaxed);
  state_ = State::kStreaming;
  queue_ = std::move(queue);
  send_head(status, content_type, headers, std::nullopt, !head_request_);
  if (shared.stopping || head_request_) queue_->finish();
  connection_->flush_soon();
}

H2Session::Part Http2Stream::read(std::span<char> into) {
  H2Session::Part part;
  if (body_) {
    part.size = std::min(into.size(), body_->size() - body_sent_);
    std::memcpy(into.data(), body_->data() + body_sent_, part.size);
    body_sent_ += part.size;
    part.end = body_sent_ == body_->size();
  } else if (queue_) {
    part.size = queue_->read(into);
    part.end = queue_->complete();
    if (!part.end && queue_->backlog() == 0) {
      deadline_ = SteadyTime::max();  // the writer's turn
      if (part.size > 0) connection_->drained(shared_from_this());
      return part;
    }
  }
  // It takes something: slow, not stalled.
  if (part.size > 0) set_deadline(connection_->worker()->limits().stall_ms);
  return part;
}

void Http2Stream::pump() {
  if (state_ != State::kStreaming) return;
  if (deadline_ == SteadyTime::max()) set_deadline(connection_->worker()->limits().stall_ms);
  connection_->session().resume(id_);
  connection_->pump_soon();
}

void Http2Stream::call_ready() {
  if (queue_ && queue_->backlog() == 0) queue_->call_ready();
}

void Http2Stream::finish() {
  if (queue_) queue_->finish();
}

void Http2Stream::give_up() {
  if (state_ == State::kClosed) return;
  connection_->worker()->shared().given_up.fetch_add(1, std::memory_order_relaxed);
  connection_->session().reset(id_, H2Code::kCalm);
  connection_->flush_soon();
}

void Http2Stream::expire(SteadyTime now) {
  if (now < deadline_) return;
  deadline_ = SteadyTime::max();
  connection_->worker()->shared().timed_out.fetch_add(1, std::memory_order_relaxed);
  if (state_ == State::kBody) return refuse(too_slow());
  connection_->session().reset(id_, H2Code::kCancel);
}

void Http2Stream::closed() {
  state_ = State::kClosed;
  deadline_ = SteadyTime::max();
  hold_ = ByteHold();
  request_ = Request();
  body_ = nullptr;
  connection_->budget()->remove(std::exchange(counted_, 0));
  if (!queue_) return;
  connection_->worker()->shared().open_streams.fetch_sub(1, std::memory_order_relaxed);
  std::exchange(queue_, nullptr)->client_gone();
}

}  // namespace sluice::host
