// TLS without sockets: bytes from the network go in, plain text and bytes for the network come out.
//
// A TlsContext is made of certificates in memory and then only read: any thread, shared by all
// sessions that were started with it. A TlsSession belongs to one connection and one thread. TLS
// 1.2 with AEAD ciphers and TLS 1.3; h2 and http/1.1 by ALPN; no renegotiation, no session
// resumption, so that new connections do not use a certificate that was replaced.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/access/authenticator.hpp"

namespace sluice::host {

/// All in PEM.
struct TlsOptions {
  std::string certificate;  ///< of the server, followed by those of its issuers, if any
  std::string key;
  std::string client_ca;  ///< asks clients for a certificate of these issuers; empty: does not
};

class TlsContext {
 public:
  /// An error when certificate and key cannot be read or do not belong together.
  static Result<std::shared_ptr<const TlsContext>> create(const TlsOptions& options);
  ~TlsContext();

 private:
  friend class TlsSession;
  struct State;
  explicit TlsContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class TlsSession {
 public:
  enum class Step : std::uint8_t {
    kGoesOn,  ///< wants more bytes
    kEnded,   ///< the other side closed it in order
    kFailed,  ///< no TLS, or broken
    kIsHttp,  ///< the other side speaks plain HTTP
  };

  explicit TlsSession(std::shared_ptr<const TlsContext> context);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// Takes all of `raw`; appends what it says to `plain` and what has to be sent to `out`.
  Step feed(std::string_view raw, std::string& plain, std::string& out);
  /// Appends `plain`, sealed, to `out`. False: the session is broken.
  bool seal(std::string_view plain, std::string& out);
  /// Appends the farewell to `out`.
  void finish(std::string& out);
  bool established() const;
  /// Both sides want HTTP/2. Once it is established.
  bool http2() const;
  /// Of the client, when its certificate was issued by the client CA of `present` and is valid at
  /// `now` (seconds since 1970). To be asked for each request: a connection may live for longer
  /// than the certificate, and than the client CA of its handshake. The certificate is verified
  /// once for each `present`.
  std::optional<CertificateSubject> client(const std::shared_ptr<const TlsContext>& present,
                                           std::int64_t now);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
