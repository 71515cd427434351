// Http1Connection: one client's HTTP/1.1 conversation, request after request.
//
// A state machine on its Worker's thread: it reads a head, asks the HeadCheck, reads the body,
// calls the handler, sends the answer, and begins again. While the handler works nothing is read,
// so a client that sends ahead waits in the kernel's buffers. Each state has a deadline, which the
// Worker's sweep looks at.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/apiserver/connection.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/apiserver/request_head.hpp"
#include "host/apiserver/responder.hpp"
#include "host/apiserver/stream_queue.hpp"

namespace sluice::host {

class Http1Connection final : public Connection, public Responder {
 public:
  Http1Connection(std::shared_ptr<Worker> worker, boost::asio::ip::tcp::socket socket);
  explicit Http1Connection(Connection& before) : Connection(before) {}

  void expire() override;
  void drain() override;

  void answer(Reply reply) override;
  void answer_stream(int status, std::string_view content_type, const Headers& headers,
                     std::shared_ptr<StreamQueue> queue) override;
  void pump() override;
  void give_up() override;

 private:
  enum class State : std::uint8_t {
    kHead,
    kBody,
    kHandling,
    kAnswering,
    kStreaming,
    kLeaving,
    kClosed
  };
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void begin(std::string first) override;
  void readable() override;
  void writable() override { pump(); }
  void go_on() override;
  void closing() override;
  void wait_for_request();  ///< enters kHead
  void process();           ///< parses what was read, as far as it goes
  bool parse_head();
  bool parse_body();
  void head_complete();
  void take_head();
  void note_folds(std::string_view head);
  bool ambiguous_length() const;
  std::optional<Reply> judge();  ///< why the request is refused before its body is read
  bool reads_in_vain() const;
  void refuse(const ApiError& error);  ///< answers, and ends the connection where a body is left
  void refuse(Reply reply);
  void refuse_parse(const boost::system::error_code& error);
  void dispatch();
  void read_next();
  std::string head_text(int status, std::string_view content_type, const Headers& headers);
  void answer_done();
  void leave();

  State state_ = State::kHead;
  bool served_ = false;      // made a request already
  bool processing_ = false;  // process() is on the stack
  bool pumping_ = false;     // pump() is on the stack
  bool keep_alive_ = true;   // after the present answer
  bool http10_ = false;
  bool head_request_ = false;  // HEAD: the answer has no body
  std::string in_;
  std::optional<Parser> parser_;
  std::size_t head_bytes_ = 0;       // of the head that were parsed
  std::size_t body_wire_bytes_ = 0;  // of the body with its framing, that were parsed
  bool folds_ = false;               // a header of the head goes on in the next line
  char last_of_head_ = '\0';
  Request request_;
  std::optional<Reply> refusal_;  // of its head, to be said when its body was read
  ByteHold hold_;
  std::shared_ptr<const std::string> body_;  // being sent
  std::size_t body_sent_ = 0;
  std::shared_ptr<StreamQueue> queue_;
  std::size_t discarded_ = 0;
  std::string user_;  // of the last request
};

}  // namespace sluice::host
