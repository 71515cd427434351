// H2Peer: the client's side of HTTP/2 in memory, by nghttp2: requests go in, bytes for the server
// come out; bytes of the server go in, answers come out. And frames by hand, which no library would
// send. H2Client: the same over TLS. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/host/apiserver/client.hpp"

namespace sluice::host::test {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Codes of errors: RFC 9113, 7.
inline constexpr std::uint32_t kProtocolError = 1, kRefusedStream = 7, kCancel = 8, kCalm = 11;

/// A frame: RFC 9113, 4.1.
std::string h2_frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                     std::string_view payload = {});

struct H2Answer {
  int status = 0;
  std::map<std::string, std::string> headers;
  std::string body;
  bool ended = false;  ///< the stream is closed
  std::uint32_t code = 0;
  bool complete() const { return ended && status != 0 && code == 0; }
};

using H2Headers = std::vector<std::pair<std::string, std::string>>;

class H2Peer {
 public:
  struct Options {
    std::optional<std::uint32_t> window{};  ///< of each stream
    bool opens_windows = true;              ///< as it takes data
  };
  H2Peer() : H2Peer(Options()) {}
  explicit H2Peer(Options options);
  ~H2Peer();

  /// Returns the number of the stream.
  std::int32_t request(std::string_view method, std::string_view path,
                       const H2Headers& headers = {}, std::optional<std::string> body = {});
  void reset(std::int32_t stream);
  void ping();
  /// Lets the server send so much more on the stream.
  void open_window(std::int32_t stream, std::int32_t bytes);

  std::string output();
  bool input(std::string_view bytes);

  const H2Answer& answer(std::int32_t stream) const;
  std::optional<std::uint32_t> goaway() const;  ///< its code
  /// What the server set, by number.
  std::uint32_t setting(int id) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class H2Client {
 public:
  explicit H2Client(std::uint16_t port, const ClientTls& tls = {.alpn = "h2"},
                    H2Peer::Options options = {});

  H2Peer& peer() { return peer_; }
  Client& wire() { return client_; }
  /// Sends what the peer has, and takes what comes, until `enough`. False: the connection ended.
  bool until(const std::function<bool()>& enough);
  void flush();
  const H2Answer& wait(std::int32_t stream);
  const H2Answer& ask(std::string_view method, std::string_view path, const H2Headers& headers = {},
                      std::optional<std::string> body = {});

 private:
  Client client_;
  H2Peer peer_;
};

}  // namespace sluice::host::test
