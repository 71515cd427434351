// Tunnel: bytes to a server and back, over TCP, and within TLS where the target says so, as
// coroutines of the thread that runs their executor.
//
// Everything that is read from or written to a server goes through these few functions, so that no
// other source pays for compiling the streams below. Every wait has an end. After an error the
// tunnel is of no more use.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/client/endpoint.hpp"

namespace sluice::host {

class Tunnel {
 public:
  /// `target` must outlive the tunnel.
  Tunnel(const LinkTarget& target, boost::asio::any_io_executor executor);
  ~Tunnel();
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  bool connected() const;
  boost::asio::awaitable<Result<void>> connect();
  /// All of it. `bytes` must stay until then.
  boost::asio::awaitable<boost::system::error_code> write(std::string_view bytes,
                                                          Duration patience);
  /// Some, at least one: `size` says how many. At the end asio's error for it.
  boost::asio::awaitable<boost::system::error_code> read(std::span<char> into, std::size_t& size,
                                                         Duration patience);
  /// While nothing is asked there is nothing to read but an end.
  bool ended_by_peer();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What went wrong with the server of `target`, as a sentence.
Error tunnel_error(const LinkTarget& target, std::string_view what,
                   const boost::system::error_code& problem);

}  // namespace sluice::host
