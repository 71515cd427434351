// Http2Stream: one request of an Http2Connection, and its answer.
//
// Begins with the head; ends for the client when the stream is closed, and for us when the handler
// let go of the exchange, too: clients may reset requests faster than they can be carried out. On
// the worker's thread; destroyed on any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "host/apiserver/h2_session.hpp"
#include "host/apiserver/http2_connection.hpp"
#include "host/apiserver/request_head.hpp"
#include "host/apiserver/responder.hpp"
#include "host/apiserver/stream_queue.hpp"

namespace sluice::host {

class Http2Stream final : public Responder, public std::enable_shared_from_this<Http2Stream> {
 public:
  Http2Stream(std::shared_ptr<Http2Connection> connection, std::int32_t id);
  ~Http2Stream() override;

  // ---- from its connection
  void begin(H2Head head, Request request, bool complete, bool turned_away);
  void body(std::string_view piece);
  void complete();
  H2Session::Part read(std::span<char> into);
  void closed();
  void finish();  ///< ends a stream of events in order
  void expire(SteadyTime now);
  SteadyTime deadline() const { return deadline_; }
  void call_ready();

  // ---- from its exchange
  void answer(Reply reply) override;
  void answer_stream(int status, std::string_view content_type, const Headers& headers,
                     std::shared_ptr<StreamQueue> queue) override;
  void pump() override;
  void give_up() override;
  std::shared_ptr<OutputBudget> budget() const override { return connection_->budget(); }

 private:
  enum class State : std::uint8_t { kBody, kHandling, kAnswering, kStreaming, kClosed };

  std::optional<Reply> judge(const H2Head& head, bool complete, bool turned_away);
  void refuse(Reply reply);
  void dispatch();
  void set_deadline(std::int64_t ms);
  void send_head(int status, std::string_view content_type, const Headers& headers,
                 std::optional<std::size_t> length, bool body);

  const std::shared_ptr<Http2Connection> connection_;
  const std::int32_t id_;
  State state_ = State::kBody;
  Request request_;
  std::string user_;  // who asks, once that is known
  ByteHold hold_;
  bool head_request_ = false;
  std::shared_ptr<const std::string> body_;  // being sent
  std::size_t body_sent_ = 0;
  std::size_t counted_ = 0;  // of the answer, in the connection's budget
  std::shared_ptr<StreamQueue> queue_;
  SteadyTime deadline_ = SteadyTime::max();
};

}  // namespace sluice::host
