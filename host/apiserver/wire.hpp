// Wire: an accepted socket as plain bytes in and out, whether TLS is in between or not.
//
// Never blocks: what the socket does not take at once is kept and sent by flush(). One thread.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/apiserver/tls.hpp"

namespace sluice::host {

class Wire {
 public:
  enum class Input : std::uint8_t {
    kSome,     ///< appended something; there may be more
    kNothing,  ///< wait until the socket is readable
    kEnded,
    kBroken,
  };

  Wire(boost::asio::ip::tcp::socket socket, std::shared_ptr<const TlsContext> tls);

  /// Reads once into `scratch`; appends what it says to `plain`.
  Input receive(std::string& plain, std::span<char> scratch);
  /// False: the connection is broken.
  bool send(std::string_view plain);
  bool flush();
  /// Bytes that the socket did not take yet.
  std::size_t unsent() const { return out_.size() - sent_; }
  /// Bytes that the socket took since the start.
  std::uint64_t taken() const { return taken_; }
  /// Says farewell: no more is sent after what is queued.
  void finish();
  void close();
  bool secure() const { return tls_ != nullptr; }
  bool handshaking() const { return tls_ != nullptr && !tls_->established(); }
  bool http2() const { return tls_ != nullptr && tls_->http2(); }
  /// As TlsSession::client(); nullopt without TLS.
  std::optional<CertificateSubject> client(const std::shared_ptr<const TlsContext>& present,
                                           std::int64_t now);
  boost::asio::ip::tcp::socket& socket() { return socket_; }
  const boost::asio::ip::tcp::socket& socket() const { return socket_; }

 private:
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsSession> tls_;
  std::string out_;
  std::size_t sent_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace sluice::host
