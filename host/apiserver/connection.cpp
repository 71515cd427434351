#include "host/apiserver/connection.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <utility>

namespace sluice::host {

namespace asio = boost::asio;

Connection::Connection(std::shared_ptr<Worker> worker, asio::ip::tcp::socket socket,
                       std::shared_ptr<const TlsContext> tls)
    : worker_(std::move(worker)), wire_(std::move(socket), std::move(tls)) {}

Connection::Connection(Connection& before)
    : std::enable_shared_from_this<Connection>(),
      worker_(before.worker_),
      wire_(std::move(before.wire_)),
      deadline_(before.deadline_),
      last_taken_(before.last_taken_),
      turned_away_(before.turned_away_),
      peer_(std::move(before.peer_)) {}

Connection::~Connection() = default;

std::optional<CertificateSubject> Connection::client() {
  const ListenerShared& shared = worker_->shared();
  const auto clock = shared.options.seconds;
  return wire_.client(std::atomic_load(&shared.tls), clock ? clock() : std::time(nullptr));
}

void Connection::start() {
  boost::system::error_code error;
  const auto peer = wire_.socket().remote_endpoint(error);
  if (error) return close();
  peer_ = fmt::format("{}:{}", peer.address().to_string(), peer.port());
  worker_->add(shared_from_this());
  set_deadline(worker_->limits().header_ms);
  begin({});
}

void Connection::give_place(const std::shared_ptr<Connection>& next, std::string first) {
  const auto self = shared_from_this();
  closed_ = true;
  leave_queue();
  worker_->remove(self);
  worker_->add(next);
  next->begin(std::move(first));
}

void Connection::set_deadline(std::int64_t ms) {
  deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  last_taken_ = wire_.taken();
}

void Connection::enter_queue(Worker::Queue& queue) {
  if (waits_in_ != nullptr) return;
  waits_in_ = &queue;
  place_ = queue.insert(queue.end(), this);
}

void Connection::leave_queue() {
  if (waits_in_ == nullptr) return;
  waits_in_->erase(place_);
  waits_in_ = nullptr;
}

void Connection::watch_input() {
  if (reading_ || closed_) return;
  reading_ = true;
  wire_.socket().async_wait(asio::ip::tcp::socket::wait_read,
                            [self = shared_from_this()](const boost::system::error_code& error) {
                              self->reading_ = false;
                              if (!error && !self->closed_) self->readable();
                            });
}

void Connection::watch_output() {
  if (writing_ || closed_) return;
  writing_ = true;
  wire_.socket().async_wait(asio::ip::tcp::socket::wait_write,
                            [self = shared_from_this()](const boost::system::error_code& error) {
                              self->writing_ = false;
                              if (error || self->closed_) return;
                              if (!self->wire_.flush()) return self->close();
                              self->writable();
                            });
}

void Connection::close() {
  if (closed_) return;
  const auto self = shared_from_this();
  closed_ = true;
  leave_queue();
  closing();
  wire_.close();
  worker_->remove(self);
  worker_->shared().connection_closed();
}

}  // namespace sluice::host
