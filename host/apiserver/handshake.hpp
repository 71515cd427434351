// Handshake: a connection until TLS is set up; then it is known which protocol the client chose,
// and one of that protocol takes its place. On its worker's thread.
#pragma once

#include <memory>
#include <string>

#include "host/apiserver/connection.hpp"

namespace sluice::host {

class Handshake final : public Connection {
 public:
  Handshake(std::shared_ptr<Worker> worker, boost::asio::ip::tcp::socket socket,
            std::shared_ptr<const TlsContext> tls);
  void expire() override;
  void drain() override { close(); }

 private:
  void begin(std::string first) override;
  void readable() override;
  void writable() override {}
  void closing() override {}
};

}  // namespace sluice::host
