#include "host/apiserver/handshake.hpp"

#include <utility>

#include "host/apiserver/http1_connection.hpp"
#include "host/apiserver/http2_connection.hpp"

namespace sluice::host {

Handshake::Handshake(std::shared_ptr<Worker> worker, boost::asio::ip::tcp::socket socket,
                     std::shared_ptr<const TlsContext> tls)
    : Connection(std::move(worker), std::move(socket), std::move(tls)) {}

void Handshake::begin(std::string) {
  enter_queue(worker_->fresh);
  watch_input();
}

void Handshake::readable() {
  std::string first;
  const auto input = wire_.receive(first, worker_->scratch());
  if (input == Wire::Input::kEnded || input == Wire::Input::kBroken) return close();
  if (wire_.unsent() > 0) watch_output();
  if (wire_.handshaking()) return watch_input();
  if (wire_.http2())
    give_place(std::make_shared<Http2Connection>(*this), std::move(first));
  else
    give_place(std::make_shared<Http1Connection>(*this), std::move(first));
}

void Handshake::expire() {
  worker_->shared().timed_out.fetch_add(1, std::memory_order_relaxed);
  close();
}

}  // namespace sluice::host
