// Connection: one client's HTTP/1.1 conversation, request after request.
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

#include "host/apiserver/exchange.hpp"
#include "host/apiserver/stream_queue.hpp"
#include "host/apiserver/wire.hpp"
#include "host/apiserver/worker.hpp"

namespace sluice::host {

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Worker> worker, boost::asio::ip::tcp::socket socket,
             std::shared_ptr<const TlsContext> tls);
  ~Connection();

  /// Its first request will be answered with 503, whatever it is. Before start().
  void turn_away() { turned_away_ = true; }
  void start();
  SteadyTime deadline() const { return deadline_; }
  void expire();   ///< the deadline passed
  void drain();    ///< ends in order: at once when it waits, after the answer otherwise
  void give_up();  ///< the client is too far behind in its stream
  void close();
  void pump();  ///< sends what is there to send, as far as the client takes it

  // ---- from its exchange, on the worker's thread
  void answer(Reply reply);
  void answer_stream(int status, std::string_view content_type, const Headers& headers,
                     std::shared_ptr<StreamQueue> queue);
  const std::shared_ptr<Worker>& worker() const { return worker_; }

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

  void set_deadline(std::int64_t ms);
  void wait_for_request();  ///< enters kHead
  void leave_queue();
  void watch_input();
  void watch_output();
  void readable();
  void received(Wire::Input input);
  void process();  ///< parses what was read, as far as it goes
  bool parse_head();
  bool parse_body();
  void head_complete();
  void take_head();
  bool ambiguous_length() const;
  std::optional<Reply> judge_head();  ///< why the request is refused before its body is read
  bool hold_body();                   ///< counts the body's bytes; false: there is no room
  void release_body();
  void refuse(ApiError error);  ///< answers, then ends the connection
  void refuse(Reply reply);
  void refuse_parse(const boost::system::error_code& error);
  void dispatch();
  std::string head_text(int status, std::string_view content_type, const Headers& headers);
  void answer_done();
  void leave();

  const std::shared_ptr<Worker> worker_;
  Wire wire_;
  State state_ = State::kHead;
  SteadyTime deadline_;
  bool turned_away_ = false;
  bool served_ = false;      // made a request already
  bool reading_ = false;     // a wait for input is under way
  bool writing_ = false;     // a wait for output is under way
  bool processing_ = false;  // process() is on the stack
  bool pumping_ = false;     // pump() is on the stack
  bool keep_alive_ = true;   // after the present answer
  bool http10_ = false;
  bool head_request_ = false;  // HEAD: the answer has no body
  std::string in_;
  std::optional<Parser> parser_;
  std::size_t head_bytes_ = 0;  // of the head that were parsed
  Request request_;
  std::size_t held_ = 0;                     // bytes of the body that are counted
  std::shared_ptr<const std::string> body_;  // being sent
  std::size_t body_sent_ = 0;
  std::shared_ptr<StreamQueue> queue_;
  std::uint64_t last_taken_ = 0;  // of the wire, when the deadline was set
  std::size_t discarded_ = 0;
  Worker::Queue* waits_in_ = nullptr;
  Worker::Queue::iterator place_;
  std::string peer_;
  std::optional<CertificateSubject> client_;
};

}  // namespace sluice::host
