// Client: a blocking HTTP client that can also misbehave. Reads give up after 20 s, so that a
// server that does not answer fails a test instead of stopping it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tests/host/apiserver/certificates.hpp"

namespace sluice::host::test {

struct Answer {
  int status = 0;                              ///< 0: the connection ended
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

struct ClientTls {
  const Certificate* server_ca = nullptr;  ///< not checked when null
  const Certificate* own = nullptr;
  int most_version = 0;  ///< TLS1_1_VERSION, …
  std::string alpn{};    ///< "h2", "http/1.1"
};

class Client {
 public:
  explicit Client(std::uint16_t port);
  Client(std::uint16_t port, const ClientTls& tls);
  Client(Client&&) noexcept;
  ~Client();

  bool connected() const;        ///< the handshake, if there is one, went well
  std::string protocol() const;  ///< by ALPN
  /// False: the connection is broken.
  bool send(std::string_view bytes);
  /// The next answer, with its whole body (not for streams). `head_only`: it was a HEAD.
  Answer read(bool head_only = false);
  /// Status line and headers only.
  Answer read_head();
  /// The next chunk of a chunked answer; empty at its end (or of the connection).
  std::string read_chunk();
  std::string read_to_end();
  std::string read_some();  ///< what is there, or comes next; empty: the end
  bool closed();            ///< waits: true when the other side closes without another byte
  Answer get(std::string_view path, std::string_view headers = {});
  Answer request(std::string_view method, std::string_view path, std::string_view body,
                 std::string_view headers = "Content-Type: application/json\r\n");
  /// Reads at most so many bytes at a time from the network buffer.
  void shrink_receive_buffer();

 private:
  struct State;
  bool fill();
  std::string line();
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host::test
