// Connection: a client's socket on its Worker: when it is read and written, its deadline, its end.
//
// The protocol is that of the derived class: Handshake until TLS is set up, then Http1Connection or
// Http2Connection, which takes over the socket and the place in the Worker. All of it happens on
// the Worker's thread. Invariant: until close() the Worker holds it, and exactly one Connection
// holds the socket.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/apiserver/wire.hpp"
#include "host/apiserver/worker.hpp"

namespace sluice::host {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  virtual ~Connection();

  /// Its first request will be answered with 503, whatever it is. Before start().
  void turn_away() { turned_away_ = true; }
  void start();
  SteadyTime deadline() const { return deadline_; }
  virtual void expire() = 0;  ///< the deadline passed
  virtual void drain() = 0;   ///< ends in order: at once when it waits, after the answers otherwise
  void close();
  /// Is read again, after Worker::let_wait().
  void resume() {
    if (!closed_) go_on();
  }

 protected:
  Connection(std::shared_ptr<Worker> worker, boost::asio::ip::tcp::socket socket,
             std::shared_ptr<const TlsContext> tls);
  /// Takes over the socket of `before`, which is of no use afterwards but to be dropped.
  explicit Connection(Connection& before);

  /// `first`: what was read already. The deadline is that of the first request.
  virtual void begin(std::string first) = 0;
  virtual void readable() = 0;          ///< after watch_input()
  virtual void writable() = 0;          ///< after watch_output(); what the wire kept is flushed
  virtual void go_on() { readable(); }  ///< after it had to wait; there may be nothing to read
  virtual void closing() = 0;           ///< lets go what it holds; called once

  bool closed() const { return closed_; }
  void set_deadline(std::int64_t ms);
  /// Among those that wait for a request, and are closed first where room is needed.
  void enter_queue(Worker::Queue& queue);
  void leave_queue();
  void watch_input();
  void watch_output();
  /// Who the certificate of the client says it is, as of now; nullopt: nobody.
  std::optional<CertificateSubject> client();
  bool watching_output() const { return writing_; }
  /// Gives its place to `next`, which was made from it.
  void give_place(const std::shared_ptr<Connection>& next, std::string first);

  const std::shared_ptr<Worker> worker_;
  Wire wire_;
  SteadyTime deadline_;
  std::uint64_t last_taken_ = 0;  // of the wire, when the deadline was set
  bool turned_away_ = false;
  std::string peer_;

 private:
  bool closed_ = false;
  bool reading_ = false;  // a wait for input is under way
  bool writing_ = false;  // a wait for output is under way
  Worker::Queue* waits_in_ = nullptr;
  Worker::Queue::iterator place_;
};

}  // namespace sluice::host
